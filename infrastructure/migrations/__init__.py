"""The numbered steps that make the ledger's schema; `infrastructure.bootstrap` applies them in order."""
