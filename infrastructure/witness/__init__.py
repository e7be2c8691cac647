"""A witness of evidence logs: it signs a tree that it is shown where that continues the last one it signed.

It is meant to run where the ledger's operator has no say: on the regulator's machine, with a key of its own.
Of the project it needs nothing but the Merkle tree and the signed notes of `infrastructure.evidence`.
"""
