"""The houses' rules, as they were published."""
