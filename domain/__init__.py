"""The game of Caribbean Stud Poker, pure: no I/O, no clock, no randomness except through arguments."""
