"""What touches the world for the ledger: PostgreSQL, keys, clock, files. Knows `domain`, not `api`."""
