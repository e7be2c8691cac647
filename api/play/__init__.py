"""Playing: rounds from their opening to their replay."""
