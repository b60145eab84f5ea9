"""Statements of Playwright, and how they are written in Python and in TypeScript."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

from mcp_browser.dom.locators import ElementLocator, json_quoted, quoted

PLACEHOLDER = re.compile(r"<secret>\s*([\w.-]+)\s*</secret>")
"""Where a secret stands in the text of an argument, by its name."""

LONGEST_LINE = 100  # An expression that is longer is put on several lines, characters
_CAPITAL = re.compile(r"_([a-z])")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression."""

    source: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the page that a variable stands for; `locators` find it, the best one first."""

    page: str
    locators: tuple[ElementLocator, ...]


Target = str | Element  # A variable, such as `page` or `page.keyboard`, or an element


@dataclass(frozen=True, slots=True)
class Call:
    """A method of Playwright's, named as in Python: `options` are given by name."""

    target: Target
    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Expect(Call):
    """An assertion about the target; the method is that of Playwright's `expect`."""


@dataclass(frozen=True, slots=True)
class NewPage:
    """A new tab of the same context, in a variable, at an address."""

    variable: str
    page: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class During:
    """Statements during which something comes: a download, another page (in `variable`), a file chooser."""

    event: Literal["download", "page", "filechooser"]
    page: str
    body: "tuple[Statement, ...]"
    variable: str = ""
    files: Any = None


@dataclass(frozen=True, slots=True)
class Dialogs:
    """The next dialogs of a page are answered in this order: a text or True accepts, False dismisses."""

    page: str
    answers: tuple[str | bool, ...]


@dataclass(frozen=True, slots=True)
class Impossible:
    """What nothing in a script does."""

    why: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A line for the reader; an empty one stands for an empty line."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Print:
    """A text that is written out."""

    text: str


Statement = Call | NewPage | During | Dialogs | Impossible | Comment | Print


class Language(Protocol):
    """How statements are written."""

    def lines(self, statement: Statement) -> list[str]:
        """The lines of a statement."""
        ...


def secrets_in(value: object) -> list[str]:
    """The names of the secrets whose places are anywhere in a value."""
    return sorted(set(PLACEHOLDER.findall(str(value))))


def variable_of(secret: str) -> str:
    """The environment variable that a script takes a secret from."""
    return re.sub(r"\W", "_", secret).upper()


class Python:
    """Python with Playwright's synchronous API.

    With `resilient`, an element is looked for by all its locators (`the(…)`); else by the first.
    """

    def __init__(self, *, resilient: bool = False) -> None:
        self._resilient = resilient

    def lines(self, statement: Statement) -> list[str]:
        """The lines of a statement."""
        match statement:
            case Comment(text):
                written = [f"# {text}" if text else ""]
            case Print(text):
                written = [f"print({self.value(text)})"]
            case Impossible(why):
                written = [f"raise NotImplementedError({quoted(why)})"]
            case Dialogs(page, answers):
                written = [f"answer_dialogs({page}, {', '.join(map(self.value, answers))})"]
            case NewPage(variable, page, url):
                opened = [f"{variable} = {page}.context.new_page()"]
                written = [*opened, f"{variable}.goto({self.value(url)})"] if url else opened
            case During():
                written = self._during(statement)
            case Call(target, method, arguments, options):
                given = [*map(self.value, arguments)]
                given += [f"{name}={self.value(value)}" for name, value in options.items()]
                told = self._target(target)
                if isinstance(statement, Expect):
                    told = f"expect({told})"
                written = f"{told}.{method}({', '.join(given)})".split("\n")
        return written

    def value(self, value: Any) -> str:
        """A value as an expression, with secrets taken from the environment."""
        match value:
            case str():
                parts = PLACEHOLDER.split(value)
                # What was split at are the names, at every other place.
                told = [
                    f"secret({quoted(part)})" if at % 2 else quoted(part) for at, part in enumerate(parts)
                ]
                written = " + ".join(part for part in told if part != '""') or '""'
            case Element():
                written = self._target(value)
            case Pattern(source):
                written = f"re.compile({quoted(source)})"
            case [*parts]:
                written = f"[{', '.join(map(self.value, parts))}]"
            case {**named}:
                parts = cast("dict[str, Any]", named).items()
                written = f"{{{', '.join(f'{quoted(name)}: {self.value(part)}' for name, part in parts)}}}"
            case float():
                written = repr(int(value) if value.is_integer() else value)
            case _:
                written = repr(value)
        return written

    def _during(self, during: During) -> list[str]:
        body = [f"    {line}" for statement in during.body for line in self.lines(statement)]
        match during.event:
            case "download":
                return [
                    f"with {during.page}.expect_download() as download:",
                    *body,
                    "download.value.save_as(download.value.suggested_filename)",
                ]
            case "page":
                return [
                    f"with {during.page}.context.expect_page() as opened:",
                    *body,
                    f"{during.variable} = opened.value",
                ]
            case "filechooser":
                return [
                    f"with {during.page}.expect_file_chooser() as chooser:",
                    *body,
                    f"chooser.value.set_files({self.value(during.files)})",
                ]

    def _target(self, target: Target) -> str:
        if isinstance(target, str):
            return target
        told = [locator.python(target.page) for locator in target.locators]
        if not self._resilient:
            return told[0]
        line = f"the({', '.join(told)})"
        return (
            line if len(line) <= LONGEST_LINE else "\n".join(["the(", *(f"    {one}," for one in told), ")"])
        )


class TypeScript:
    """TypeScript with @playwright/test."""

    def lines(self, statement: Statement) -> list[str]:
        """The lines of a statement."""
        match statement:
            case Comment(text):
                written = [f"// {text}" if text else ""]
            case Print(text):
                written = [f"console.log({self.value(text)});"]
            case Impossible(why):
                written = [f"throw new Error({json_quoted(f'Not implemented: {why}')});"]
            case Dialogs(page, answers):
                written = [f"answerDialogs({page}, {', '.join(map(self.value, answers))});"]
            case NewPage(variable, page, url):
                opened = [f"const {variable} = await {page}.context().newPage();"]
                written = [*opened, f"await {variable}.goto({self.value(url)});"] if url else opened
            case During():
                written = self._during(statement)
            case Call(target, method, arguments, options):
                given = [*map(self.value, arguments)]
                if options:
                    named = [f"{_camel(name)}: {self.value(value)}" for name, value in options.items()]
                    given.append(f"{{ {', '.join(named)} }}")
                told = target if isinstance(target, str) else self.value(target)
                if isinstance(statement, Expect):
                    told = f"expect({told})"
                written = [f"await {told}.{_camel(method)}({', '.join(given)});"]
        return written

    def value(self, value: Any) -> str:
        """A value as an expression, with secrets taken from the environment."""
        match value:
            case str():
                parts = PLACEHOLDER.split(value)
                told = [
                    f"secret({json_quoted(part)})" if at % 2 else json_quoted(part)
                    for at, part in enumerate(parts)
                ]
                written = " + ".join(part for part in told if part != '""') or '""'
            case Element(page, found):
                written = found[0].typescript(page)
            case Pattern(source):
                written = f"new RegExp({json_quoted(source)})"
            case [*parts]:
                written = f"[{', '.join(map(self.value, parts))}]"
            case {**named}:
                parts = cast("dict[str, Any]", named).items()
                told = [f"{json_quoted(name)}: {self.value(part)}" for name, part in parts]
                written = f"{{ {', '.join(told)} }}"
            case None:
                written = "undefined"
            case _:
                written = json.dumps(value)
        return written

    def _during(self, during: During) -> list[str]:
        body = [line for statement in during.body for line in self.lines(statement)]
        match during.event:
            case "download":
                name = "download"
                rest = [f"await (await {name}).saveAs((await {name}).suggestedFilename());"]
                awaited = f'{during.page}.waitForEvent("download")'
            case "page":
                name = f"{during.variable}Opened"
                rest = []
                awaited = f'{during.page}.context().waitForEvent("page")'
            case "filechooser":
                name = "chooser"
                rest = [f"await (await {name}).setFiles({self.value(during.files)});"]
                awaited = f'{during.page}.waitForEvent("filechooser")'
        if during.event == "page":
            return [f"const {name} = {awaited};", *body, f"const {during.variable} = await {name};"]
        # Names may come again.
        return ["{", *(f"  {line}" for line in (f"const {name} = {awaited};", *body, *rest)), "}"]


def _camel(name: str) -> str:
    return _CAPITAL.sub(lambda found: found[1].upper(), name.replace("_url", "URL"))


def all_lines(statements: Sequence[Statement], language: Language) -> list[str]:
    """The lines of several statements."""
    return [line for statement in statements for line in language.lines(statement)]
