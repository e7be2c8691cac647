"""The software check: what was found, looking again, accepting what has changed."""
