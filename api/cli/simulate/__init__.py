"""Simulated rounds: guests who play by a seeded plan, through the same commands as everybody."""
