"""The archive: finished days as files, with which a ledger is audited where there is no database.

A folder has one folder for each day: the day's events and hands, what every account held when it began and
when it ended, and a signed manifest that names the one before. `reader` reads it, `export` writes it, `check`
says whether it is whole and genuine.
"""
