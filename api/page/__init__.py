"""The front page: a hand played in the browser, without a script, on a demonstration's tables."""

from api.page.routes import router

__all__ = ["router"]
