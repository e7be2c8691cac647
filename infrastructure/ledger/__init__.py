"""The ledger itself: one order of events, written by one writer a process, stored once for ever."""
