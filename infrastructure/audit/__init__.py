"""Audit by replay: a whole ledger, or a part of it, derived again from its events alone.

The events are cut into partitions of consecutive positions. `infrastructure.audit.partition` says what is
checked in one, as a pure function, and puts the results together; everything else here is about where the
events come from (a database, an archive), who does the work (processes of this machine, or many machines),
and what is told of it.
"""
