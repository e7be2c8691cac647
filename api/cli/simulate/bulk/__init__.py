"""Filling a ledger fast: real decisions on books in memory, written by the chunk.

`fill` gives out chunks of positions to a few processes; each decides rounds among guests, tables and jackpots
of its own (`games`), by the domain's own handlers and no other way, and writes what comes of it with
`infrastructure.ledger.bulk`.
"""
