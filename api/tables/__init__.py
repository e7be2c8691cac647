"""Tables: opened, closed, joined, and the rules they play by."""
