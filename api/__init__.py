"""The service: HTTP routes, the page, and the command lines. It composes `domain` and `infrastructure`."""
