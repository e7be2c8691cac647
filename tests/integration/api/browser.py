"""A browser without JavaScript, as far as the page needs one: it parses HTML and fills in forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Field:
    """One input: what it sends when nobody changes it, or None where it then sends nothing."""

    name: str
    kind: str
    value: str
    checked: bool


@dataclass
class Form:
    """A form: where it goes, its inputs, and its buttons as (name, value, words)."""

    action: str
    method: str
    fields: list[Field] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)

    def offers(self, name: str) -> bool:
        """Whether the form has an input of that name."""
        return any(f.name == name for f in self.fields)

    def sent(self, button: str, **filled: str | None) -> dict[str, str]:
        """Return what is sent when the button of value `button` is pressed and `filled` was typed."""
        data: dict[str, str] = {}
        for each in self.fields:
            name = each.name.replace("-", "_")
            if name in filled:
                value = filled[name]
                if value is not None and (each.kind != "radio" or each.value == value):
                    data[each.name] = value
            elif each.kind not in ("checkbox", "radio") or each.checked:
                data[each.name] = each.value
        pressed = next(b for b in self.buttons if b[1] == button)
        if pressed[0]:
            data[pressed[0]] = pressed[1]
        return data


class Page(HTMLParser):
    """A parsed page: `forms`, `links`, `text` (what is read), `tags` (every tag's name and attributes)."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self.response = response
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._words: list[str] = []
        self._open: list[str] = []
        self._button: tuple[str, str] | None = None
        self.feed(response.text)
        self.close()
        assert not self._open, f"tags are not closed: {self._open}"

    @property
    def text(self) -> str:
        """Everything that is read, with single spaces."""
        return " ".join(" ".join(self._words).split())

    def form(self, ending: str) -> Form:
        """Return the form whose address ends so."""
        return next(form for form in self.forms if form.action.endswith(ending))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        values = {name: value or "" for name, value in attrs}
        self.tags.append((tag, values))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif tag == "form":
            self.forms.append(Form(values["action"], values["method"]))
        elif tag == "input":
            kind = values.get("type", "text")
            value = values.get("value", "")
            self.forms[-1].fields.append(Field(values["name"], kind, value, "checked" in values))
        elif tag == "button":
            self._button = (values.get("name", ""), values.get("value", ""))
            self.forms[-1].buttons.append((*self._button, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that closes itself, as in drawings."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Tags close in the order in which they were opened."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag
        if tag == "button":
            self._button = None

    def handle_data(self, data: str) -> None:
        """Note what is read."""
        self._words.append(data)
        if self._button is not None:
            name, value, words = self.forms[-1].buttons[-1]
            self.forms[-1].buttons[-1] = (name, value, words + data)


class Browser:
    """Loads pages and presses buttons."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.headers = {"Sec-Fetch-Site": "same-origin"}

    def load(self, path: str) -> Page:
        """Load a page, through redirects."""
        return Page(self.client.get(path, headers={"Sec-Fetch-Site": "none"}, follow_redirects=True))

    def post(self, form: Form, data: dict[str, str], **more: Any) -> httpx.Response:
        """Send a form; the answer itself."""
        return self.client.post(form.action, data=data, headers={**self.headers, **more})

    def press(self, page: Page, ending: str, button: str, **filled: str | None) -> Page:
        """Press a button of the form whose address ends so, and go where it leads."""
        form = page.form(ending)
        response = self.post(form, form.sent(button, **filled))
        if response.status_code == 303:
            return self.load(response.headers["location"].partition("#")[0])
        return Page(response)
