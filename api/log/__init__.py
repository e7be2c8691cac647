"""The evidence log: how it starts, what is asked of it, and the proposals that change who signs it."""
