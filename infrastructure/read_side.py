"""The SQL schema of what is derived from the events: made beside the ledger's own, and checked like it.

The application's role may make tables there, and nowhere else: a projection is rebuilt by making its tables
anew. The schema itself is the owner's; the auditor reads the views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from infrastructure.projections import tables
from infrastructure.projections.catalogue import PROJECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping


def make(connection: psycopg.Connection, schema: str, names: Mapping[str, sql.Identifier]) -> None:
    """Make the read side's schema where it is missing, in the open transaction of an administrator.

    `names` has the identifiers of the roles. Raises psycopg.Error.
    """
    name = sql.Identifier(tables.read_schema(schema))
    connection.execute("RESET ROLE")
    row = connection.execute(
        """SELECT to_regnamespace(%s) IS NULL, rolsuper, current_user
        FROM pg_roles WHERE rolname = current_user""",
        [tables.read_schema(schema)],
    ).fetchone()
    missing, superuser, user = row or (True, False, "")
    if missing:
        connection.execute(sql.SQL("CREATE SCHEMA {} AUTHORIZATION {owner}").format(name, **names))
    if not superuser:  # who is not a superuser has to be in the application's role to act as it
        connection.execute(sql.SQL("GRANT {app} TO {}").format(sql.Identifier(user), **names))
    connection.execute(sql.SQL("SET LOCAL ROLE {owner}").format(**names))
    connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA {} TO {app}").format(name, **names))
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {auditor}").format(name, **names))
    connection.execute(sql.SQL("SET LOCAL ROLE {app}").format(**names))
    tables.ensure(connection, schema, PROJECTIONS)
    connection.execute("RESET ROLE")


def what_is_wrong(connection: psycopg.Connection, schema: str) -> str | None:
    """Return in one sentence what is in the way of deriving, or lets others meddle; None where nothing is.

    Any login of the ledger may ask. Raises psycopg.Error.
    """
    name = tables.read_schema(schema)
    app, auditor = f"{schema}_app", f"{schema}_auditor"
    row = connection.execute(
        """SELECT has_schema_privilege(%s, oid, 'USAGE') AND has_schema_privilege(%s, oid, 'CREATE'),
            has_schema_privilege(%s, oid, 'CREATE'),
            EXISTS (SELECT FROM aclexplode(nspacl) WHERE grantee = 0)
        FROM pg_namespace WHERE nspname = %s""",
        [app, app, auditor, name],
    ).fetchone()
    if row is None or not row[0]:
        return f"there is no schema {name} in which {app} may make tables: run serve --init-db"
    if row[1] or row[2]:
        return f"others may make tables in schema {name}: take that right from {auditor} and PUBLIC"
    missing = connection.execute(
        """SELECT wanted FROM unnest(%s::text[]) AS wanted
        WHERE NOT EXISTS (SELECT FROM pg_class WHERE relname = wanted AND relnamespace = to_regnamespace(%s)
            AND relowner = to_regrole(%s))""",
        [list(tables.OTHER_TABLES), name, app],
    ).fetchone()
    if missing is not None:
        return f"{name}.{missing[0]} is not there, or is not {app}'s: run serve --init-db"
    foreign = connection.execute(
        """SELECT relname FROM pg_class
        WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'v')
            AND has_table_privilege(%s, oid, 'INSERT, UPDATE, DELETE, TRUNCATE') LIMIT 1""",
        [name, auditor],
    ).fetchone()
    if foreign is not None:
        return f"the auditor could change {name}.{foreign[0]}: take that right away"
    return None
