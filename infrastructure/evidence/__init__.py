"""The evidence log: every event is a leaf of a Merkle log that anybody can check with tools we did not write.

The formats are C2SP's tlog-tiles, tlog-checkpoint, signed-note, tlog-cosignature and tlog-proof; the tree is
that of RFC 6962 with SHA-256. Leaf bytes are an event's stored bytes, the leaf's index is its position - 1.
"""
