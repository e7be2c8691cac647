"""The game of Caribbean Stud Poker as pure functions and frozen values: no I/O, no clock, no hidden randomness."""
