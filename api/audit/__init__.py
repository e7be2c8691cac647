"""Audits by replay: started, watched, and their reports read, over HTTP and as a page."""
