"""Benchmarks that a reader can repeat: each prints what it measured and the machine's floor beside it."""
