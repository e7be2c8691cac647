"""What is derived from the events in batches, each with its checkpoint in the transaction of its rows."""
