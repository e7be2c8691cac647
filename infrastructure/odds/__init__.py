"""Exact odds beside the ledger: computed once, kept on disk and in the database, given to who asks."""
