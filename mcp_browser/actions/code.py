"""Recorded actions as Playwright code in Python or TypeScript; each action's `code=` adds its lines."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from mcp_browser.dom.identities import (
    ElementLocator,
    ElementRecord,
    Kind,
    json_quoted,
    locators,
    py_quoted,
)
from mcp_browser.errors import ActionError
from mcp_browser.text import one_line

PLACEHOLDER = re.compile(r"<secret>\s*([\w.-]+)\s*</secret>")
"""Where a secret stands in the text of an argument, by its name."""


def secrets_named(value: object) -> Iterator[str]:
    """The names of the secrets in the texts of a JSON value, keys included."""
    match value:
        case str():
            yield from PLACEHOLDER.findall(value)
        case Mapping():
            for item in cast("Mapping[object, object]", value).items():
                yield from secrets_named(item)
        case list() | tuple():
            for part in cast("Sequence[object]", value):
                yield from secrets_named(part)
        case _:
            pass


LONGEST_LINE = 100  # An expression that is longer is put on several lines, characters

CodeLanguage = Literal["python", "typescript"]


class NoEquivalent(ActionError):
    """Nothing in a script does what an action did; the message says why."""


class Expression(str):
    """Code, such as `page.get_by_text("Tea")`, that is not quoted; other texts are."""

    __slots__ = ()


class _Python:
    """How statements are written: as formats, several lines around those that stand for `{body}`."""

    quote: Callable[[str], str] = staticmethod(py_quoted)
    constant: Callable[[object], str] = staticmethod(repr)
    comment = "# {}"
    printing = "print({})"
    failing = "raise NotImplementedError({})"
    statement = "{}"
    option = "{}={}"
    options = "{}"
    mapping = "{{{}}}"
    pattern = "re.compile({})"
    new_page = "{} = {}.context.new_page()"
    dialogs = "answer_dialogs({}, {})"
    download: tuple[str, ...] = (
        "with {page}.expect_download() as download:",
        "    {body}",
        "download.value.save_as(download.value.suggested_filename)",
    )
    popup: tuple[str, ...] = (
        "with {page}.context.expect_page() as opened:",
        "    {body}",
        "{new} = opened.value",
    )
    chooser: tuple[str, ...] = (
        "with {page}.expect_file_chooser() as chooser:",
        "    {body}",
        "chooser.value.set_files({new})",
    )

    @staticmethod
    def named(name: str) -> str:
        """The name of a method or an option, from that in Python."""
        return name


class _TypeScript(_Python):
    quote: Callable[[str], str] = staticmethod(json_quoted)
    constant: Callable[[object], str] = staticmethod(json.dumps)
    comment = "// {}"
    printing = "console.log({});"
    failing = "throw new Error({});"
    statement = "await {};"
    option = "{}: {}"
    options = "{{ {} }}"
    mapping = "{{ {} }}"
    pattern = "new RegExp({})"
    new_page = "const {} = await {}.context().newPage();"
    dialogs = "answerDialogs({}, {});"
    # In blocks, since names may come again.
    download = (
        "{{",
        '  const download = {page}.waitForEvent("download");',
        "  {body}",
        "  await (await download).saveAs((await download).suggestedFilename());",
        "}}",
    )
    popup = (
        'const {new}Opened = {page}.context().waitForEvent("page");',
        "{body}",
        "const {new} = await {new}Opened;",
    )
    chooser = (
        "{{",
        '  const chooser = {page}.waitForEvent("filechooser");',
        "  {body}",
        "  await (await chooser).setFiles({new});",
        "}}",
    )

    @staticmethod
    def named(name: str) -> str:
        return re.sub("_([a-z])", lambda found: found[1].upper(), name.replace("_url", "URL"))


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """An action that was carried out, as it can be written as code.

    `params` are its arguments, None if they do not fit the action; `code` adds its lines. `elements` are
    those that its arguments meant, before the action; `locators` find each alone, by argument, None if none
    does. `tab` is the number of its tab, `opened` are those of the tabs it opened, `downloads` the names of
    files it began to download; `url` is the page afterwards. `snapshot` is the region of an assertion, as
    Playwright's Aria snapshot.
    """

    name: str
    params: Any = None
    code: "Callable[[Code, Any], object] | None" = None
    elements: tuple[ElementRecord, ...] = ()
    locators: Mapping[str, ElementLocator | None] = field(default_factory=dict[str, ElementLocator | None])
    url: str = ""
    tab: int | None = None
    opened: tuple[int, ...] = ()
    downloads: tuple[str, ...] = ()
    snapshot: str | None = None


class Script:
    """The lines of a run; each tab gets a variable, the first one `page`.

    With `resilient`, an element is found by any of its locators that matches it alone (`the(…)`). `used` are
    the helpers that the lines need, `secrets` the names of the secrets in them.
    """

    def __init__(
        self, language: CodeLanguage, start: str = "", *, resilient: bool = False, lenient: bool = False
    ) -> None:
        """Begin at an address, or where the first action goes; `lenient` comments what has no equivalent."""
        self.language: type[_Python] = _Python if language == "python" else _TypeScript
        self.suffix = "py" if language == "python" else "ts"
        self.tabs: dict[int, str] = {}
        self.secrets: set[str] = set()
        self.used: set[str] = set()
        self._resilient = resilient
        self._lenient = lenient
        self._parts: list[Code | list[str]] = []
        self._last: Code | None = None
        if start and start != "about:blank":
            self._parts.append(self.statement(self.call("page", "goto", start)))

    def comment(self, text: str = "") -> None:
        """Add a line for the reader, or an empty one."""
        self._parts.append([self.language.comment.format(text) if text else ""])

    def add(self, action: RecordedAction) -> None:
        """Add the lines of an action, or one that says why there are none."""
        code = Code(self, action, self._last)
        try:
            if action.code is None:
                raise NoEquivalent("Playwright has nothing like it")
            if action.params is None:
                raise NoEquivalent("its arguments are not those of the action")
            action.code(code, action.params)
        except ActionError as problem:
            why = f"{action.name}: {problem}"
            if self._lenient:
                self.comment(one_line(why))
                return
            code.body = [self.language.failing.format(self.language.quote(why))]
        if code.body:
            self._parts.append(code)
            self._last = code

    def lines(self) -> list[str]:
        """All lines so far."""
        return [line for part in self._parts for line in (part.lines() if isinstance(part, Code) else part)]

    def render(self, template: str, **values: Any) -> str:
        """The script as a file, by a template of actions/templates."""
        # Imported late: most sessions write no script.
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

        # What is put in are statements that were quoted as such.
        environment = Environment(
            loader=PackageLoader("mcp_browser.actions"),
            autoescape=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        lines = self.lines()
        variables = {name: re.sub(r"\W", "_", name).upper() for name in sorted(self.secrets)}
        text = environment.get_template(template).render(
            lines=lines, variables=variables, used=self.used, **values
        )
        return f"{text.rstrip()}\n"

    def statement(self, expression: str) -> list[str]:
        """An expression as the lines of a statement."""
        return self.language.statement.format(expression).split("\n")

    def call(self, target: str, method: str, *arguments: Any, **options: Any) -> str:
        """A call of a method, named as in Python, with options by name."""
        given, language = [*map(self.value, arguments)], self.language
        if options:
            named = [
                language.option.format(language.named(name), self.value(options[name])) for name in options
            ]
            given.append(language.options.format(", ".join(named)))
        return f"{target}.{language.named(method)}({', '.join(given)})"

    def value(self, value: Any) -> str:
        """A value as an expression, with secrets taken from the environment."""
        language = self.language
        match value:
            case Expression():
                written = value
            case str():
                # What is split at are the names, at every other place.
                parts = PLACEHOLDER.split(value)
                self.secrets.update(parts[1::2])
                quoted_parts = [*map(language.quote, parts)]
                quoted_parts[1::2] = [f"secret({name})" for name in quoted_parts[1::2]]
                written = " + ".join(part for part in quoted_parts if part != '""') or '""'
            case re.Pattern():
                self.used.add("re")
                written = language.pattern.format(language.quote(cast("re.Pattern[str]", value).pattern))
            case [*parts]:
                written = f"[{', '.join(map(self.value, parts))}]"
            case {**named}:
                items = cast("dict[str, Any]", named).items()
                entries = [f"{language.quote(name)}: {self.value(part)}" for name, part in items]
                written = language.mapping.format(", ".join(entries))
            case float() if value.is_integer():
                written = str(int(value))
            case _:
                written = language.constant(value)
        return written

    def element(self, page: str, found: Sequence[ElementLocator]) -> Expression:
        """An element of a page by its locators, the best one first."""
        candidates = [self._locator(page, locator) for locator in found]
        if not self._resilient:
            return Expression(candidates[0])
        self.used.add("the")
        line = f"the({', '.join(candidates)})"
        longer = "\n".join(["the(", *(f"    {one}," for one in candidates), ")"])
        return Expression(line if len(line) <= LONGEST_LINE else longer)

    def _locator(self, page: str, locator: ElementLocator) -> str:
        def literal(value: Any) -> Any:
            # A page's words are no places of secrets.
            return Expression(self.language.quote(value)) if isinstance(value, str) else value

        target = page
        for method, arguments, options in locator.calls:
            named = {name: literal(value) for name, value in options.items()}
            target = self.call(target, method, *map(literal, arguments), **named)
        return target


class Code:
    """The lines of one recorded action; the function of its `code=` gets it with the parameters."""

    def __init__(self, script: Script, action: RecordedAction, previous: "Code | None") -> None:
        self.action = action
        self.body: list[str] = []
        self._script = script
        self._previous = previous
        self._answers: list[str | bool] = []
        self._downloads = bool(action.downloads)
        tabs = script.tabs
        self.page = "page"
        if action.tab is not None:
            self.page = tabs.setdefault(action.tab, f"page_{action.tab}" if tabs else "page")
        opened = [tabs.setdefault(tab, f"page_{tab}") for tab in action.opened]
        self._opened = opened[0] if opened else None

    def record(self, argument: str = "index") -> ElementRecord:
        """The element that an argument means, as it was recorded; raises NoEquivalent."""
        for record in self.action.elements:
            if record.argument == argument:
                return record
        raise NoEquivalent("its element was not recorded")

    def element(self, argument: str = "index") -> Expression:
        """That element, as code finds it; raises NoEquivalent."""
        record = self.record(argument)
        known = self.action.locators
        found = [*filter(None, (known[argument],))] if argument in known else locators(record)
        if not found:
            raise NoEquivalent(f"no locator of Playwright's finds {record}")
        return self._script.element(self.page, found)

    def find(self, by: Kind, value: str, name: str | None = None, *, nth: int | None = 0) -> Expression:
        """The elements of a locator: the `nth`, or all if that is None."""
        return self._script.element(self.page, [ElementLocator(by, value, name, nth=nth)])

    def position(self, argument: str) -> dict[str, int]:
        """The place of a point within its element, as an option of Playwright's."""
        record = self.record(argument)
        x, y = record.point or (0.5, 0.5)
        return {"x": round(x * record.width), "y": round(y * record.height)}

    def tab(self, number: int) -> str:
        """The variable of a tab. Raises NoEquivalent: the tab was there before."""
        if number not in self._script.tabs:
            raise NoEquivalent("its tab was open before")
        return self._script.tabs[number]

    def call(self, target: str, method: str, *arguments: Any, **options: Any) -> None:
        """Add a call of a method of Playwright's, named as in Python, with its options by name."""
        self.body += self._script.statement(self._script.call(target, method, *arguments, **options))

    def expect(self, target: str, method: str, *arguments: Any, **options: Any) -> None:
        """Add an assertion about a target, by a method of Playwright's `expect`."""
        self._script.used.add("expect")
        self.call(f"expect({target})", method, *arguments, **options)

    def print(self, text: str) -> None:
        """Add a line that writes a text out."""
        self.body.append(self._script.language.printing.format(self._script.value(text)))

    def new_page(self, url: str | None) -> None:
        """Add a new tab of the same context, at an address."""
        variable, self._opened = self._opened or "new_page", None
        self.body.append(self._script.language.new_page.format(variable, self.page))
        if url is not None:
            self.call(variable, "goto", url)

    def choose_files(self, target: str, files: Sequence[str]) -> None:
        """Add a click on what asks for files, and give them."""
        self.call(target, "click")
        self.body = [*self._around(self._script.language.chooser, new=self._script.value(files))]

    def answer_dialog(self, answer: str | bool) -> None:
        """Answer the dialog that the previous action opens: a text or True accepts it."""
        if self._previous is not None:
            self._previous._answers.append(answer)

    def await_download(self) -> None:
        """Wait for the download of the previous action, unless an earlier one has one."""
        before = self._previous
        while before is not None and not before._downloads:
            before = before._previous
        if self._previous is not None and before is None:
            self._previous._downloads = True

    def lines(self) -> list[str]:
        """The lines, with what dialogs, downloads and new tabs need around them."""
        script, lines = self._script, self.body
        if self._downloads:
            lines = [*self._around(script.language.download)]
        elif self._opened is not None:
            lines = [*self._around(script.language.popup, new=self._opened)]
        if not self._answers:
            return lines
        script.used.add("dialogs")
        return [
            script.language.dialogs.format(self.page, ", ".join(map(script.value, self._answers))),
            *lines,
        ]

    def _around(self, written: Sequence[str], *, new: str = "") -> Iterator[str]:
        for line in written:
            if "{body}" in line:
                yield from (line.replace("{body}", inner) for inner in self.body)
            else:
                yield line.format(page=self.page, new=new)


WriteCode = Callable[[Code, Any], object]
"""What `code=` of an action takes: it adds lines to the `Code`, by the action's parameters."""
