"""Jackpots: opened, read, and watched as their meters grow."""
