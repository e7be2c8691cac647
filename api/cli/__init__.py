"""The code behind the launchers in `scripts/`. Each module has a `main() -> int`, the exit status."""
