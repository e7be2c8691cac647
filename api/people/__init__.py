"""The people who approve: registered by an administrator, known by a credential that only they hold."""
