"""How actions are declared, what models are made of them; the user's own, and which the settings ask for."""

import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import pytest
from playwright.async_api import Page
from pydantic import Field

from mcp_browser import ActionContext, ActionParams, ActionResult, BrowserSession, Registry, Tab
from mcp_browser.actions import default_registry, load_registry
from mcp_browser.actions.catalog import actions_from_file
from mcp_browser.actions.schema import tool_schema
from mcp_browser.errors import InvalidArguments, SettingsError, UnknownAction
from mcp_browser.settings import Settings, ToolSettings


class Named(ActionParams):
    name: str
    times: int = Field(1, ge=1)


class FakePage:
    """Only what `domains` and `page_filter` look at."""

    def __init__(self, url: str) -> None:
        self.url = url


def at(url: str | None) -> Page | None:
    return cast("Page", FakePage(url)) if url is not None else None


def context() -> ActionContext:
    return ActionContext(session=cast("BrowserSession", "the session"), settings=Settings())


async def run(registry: Registry, name: str, arguments: dict[str, Any]) -> str | None:
    action = registry[name]
    return (await action.run(context(), action.validate(arguments))).extracted_content


samples = Registry()


@samples.action("Greet someone.")
async def greet(name: str, times: int = 2, ctx: ActionContext | None = None) -> str:
    return f"hello {name} " * times


@samples.action("Greet someone.", param_model=Named)
async def greet_by_model(params: Named) -> str:
    return params.name * params.times


@samples.action()
async def greet_politely(session: BrowserSession, params: Named) -> ActionResult:
    """Greet someone,
    politely.

    Not for the reader of tools.
    """
    return ActionResult(extracted_content=f"{session} {params.name}")


@samples.action("Tell the thread.")
def which() -> str:
    return threading.current_thread().name


@samples.action("Do nothing.")
async def idle() -> str | None: ...


@samples.action("Return the wrong thing.")
async def wrong() -> Any:
    return 5


@samples.action("By type.")
async def typed(where: BrowserSession) -> str:
    return str(where)


@samples.action("By name.")
async def named(session, word="x"):  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
    return f"{session} {word}"


@samples.action()
def tabbed(tab: Tab, page: Page, depth: int) -> None:
    """Take a tab."""


def test_the_parameter_model_is_given_or_made_from_the_signature() -> None:
    schema = tool_schema(samples["greet"].param_model)
    assert schema["required"] == ["name"]
    assert schema["properties"]["times"] == {"type": "integer", "default": 2}
    assert samples["greet_by_model"].param_model is samples["greet_politely"].param_model is Named
    assert samples["greet_politely"].description == "Greet someone, politely."
    assert list(samples["tabbed"].param_model.model_fields) == ["depth"]


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("greet", {"name": "you", "times": "1"}, "hello you "),
        ("greet_by_model", {"name": "ab", "times": 2}, "abab"),
        # Clients that want strict schemas name all arguments.
        ("greet_by_model", {"name": "Ann", "times": None}, "Ann"),
        ("greet_politely", {"name": "x"}, "the session x"),
        ("idle", {}, "idle is done."),
        ("typed", {}, "the session"),
        ("named", {"word": "y"}, "the session y"),
    ],
)
async def test_an_action_gets_its_arguments_and_what_is_known_by_type_or_name(
    name: str, arguments: dict[str, Any], result: str
) -> None:
    assert await run(samples, name, arguments) == result


async def test_a_sync_function_runs_in_a_thread_and_a_wrong_result_is_its_authors_fault() -> None:
    assert await run(samples, "which", {}) != threading.current_thread().name
    with pytest.raises(TypeError, match="returned int"):
        await run(samples, "wrong", {})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'name' is missing"),
        ({"name": "x", "tmes": 2}, "unknown argument 'tmes' (did you mean 'times'?)"),
        ({"name": "x", "times": 0}, "'times': Input should be greater than or equal to 1"),
        ({"name": ["x"]}, "'name': Input should be a valid string"),
        ({"name": None}, "'name' is missing"),
    ],
)
async def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        await run(samples, "greet_by_model", arguments)
    assert words in str(caught.value)
    assert "Arguments: name, times?." in str(caught.value)


async def test_an_unknown_action_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownAction, match=r"no action 'clik'.*click_element"):
        await run(default_registry(), "clik", {})


def test_two_actions_of_one_name_are_refused() -> None:
    registry = Registry()

    @registry.action("One.")
    def twice() -> None: ...

    with pytest.raises(ValueError, match="'twice' is registered already"):
        registry.action("Two.")(twice)
    other = Registry()
    other.action("Three.")(twice)
    with pytest.raises(ValueError, match="'twice' is registered already"):
        registry.include(other)


def silent() -> None: ...


def spread(*names: str) -> None:
    """Take many."""


def count() -> int:
    """Count."""
    return 1


async def either() -> list[str] | None:
    """Return either."""


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (silent, "needs a description"),
        (spread, "no place in a schema"),
        (count, "'count' returns int; it must return an"),
        (either, r"'either' returns list\[str\]"),
    ],
)
def test_what_no_action_can_be_made_of_is_refused_when_it_is_registered(
    function: Callable[..., Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        Registry().action()(function)


def test_excluded_actions_are_never_taken_in() -> None:
    registry = Registry(exclude_actions=["go_back"])
    registry.include(default_registry())
    assert "go_back" not in registry
    assert "go_to_url" in registry

    @registry.action("Would be excluded.")
    def go_back() -> None: ...

    assert "go_back" not in registry


def test_groups_choose_actions() -> None:
    registry = Registry(group="mine")

    @registry.action("Mine.")
    def mine() -> None: ...

    registry.include(default_registry())
    assert registry.groups() == ("mine", *default_registry().groups())
    assert [action.name for action in registry.only(["mine"])] == ["mine"]
    assert len(registry.only(["all"])) == len(registry)
    assert "mine" not in registry.without(["mine"])


def bound() -> Registry:
    registry = Registry()

    @registry.action("Everywhere.")
    def everywhere(word: str) -> None: ...

    @registry.action("On example sites.", domains=["*.example.com"])
    def on_example() -> None: ...

    @registry.action("On pages with a cart.", page_filter=lambda page: "cart" in page.url)
    def on_cart() -> None: ...

    return registry


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://example.com/", ["everywhere", "on_example"]),
        ("https://shop.EXAMPLE.com/cart", ["everywhere", "on_example", "on_cart"]),
        ("https://notexample.com/", ["everywhere"]),
        ("about:blank", ["everywhere"]),
        (None, ["everywhere"]),
    ],
)
def test_the_action_model_has_a_field_for_each_action_offered_on_the_page(
    url: str | None, names: list[str]
) -> None:
    assert list(bound().create_action_model(at(url)).model_fields) == names


def test_an_action_model_names_exactly_one_action() -> None:
    model = bound().create_action_model(at("https://example.com/cart"))
    assert model.model_validate({"everywhere": {"word": "x"}}).chosen() == ("everywhere", {"word": "x"})
    assert model.model_validate({"on_cart": {}}).chosen() == ("on_cart", {})
    with pytest.raises(InvalidArguments, match="names none"):
        model().chosen()
    with pytest.raises(InvalidArguments, match="names on_example, on_cart"):
        model.model_validate({"on_cart": {}, "on_example": {}}).chosen()


def test_the_arguments_in_a_docstring_describe_the_parameters() -> None:
    registry = Registry()

    @registry.action(effect="read")
    def look_up(
        word: str, language: Annotated[str, Field(description="its code")] = "en", most: int = 3
    ) -> str:
        """Look a word up.

        More about it, which no model reads.

        Args:
            word: what to look up,
                as it stands in the text.
            language (str): not this.
            most: how many entries.

        Returns:
            most: of them.
        """
        return f"{word}{language}{most}"

    properties = tool_schema(registry["look_up"].param_model)["properties"]
    assert registry["look_up"].description == "Look a word up."
    assert properties["word"]["description"] == "what to look up, as it stands in the text"
    assert properties["language"]["description"] == "its code"
    assert properties["most"] == {"type": "integer", "default": 3, "description": "how many entries"}


def test_a_size_and_a_place_that_a_model_chooses_are_written_as_they_were() -> None:
    model = default_registry().create_action_model()
    chosen = model.model_validate({"emulate": {"viewport": "390 x 844", "geolocation": "52.520008,13.5"}})
    assert chosen.chosen() == ("emulate", {"viewport": "390x844", "geolocation": "52.520008,13.5"})


OWN = """
from mcp_browser import ActionContext, ActionResult, Registry, Tab

registry = Registry()


@registry.action("Tell how many links the page has.")
async def count_links(tab: Tab, kind: str = "a") -> str:
    return str(await tab.page.locator(kind).count())


@registry.action(effect="read")
def shout(ctx: ActionContext, word: str) -> ActionResult:
    '''Say a word loudly.'''
    return ActionResult(extracted_content=word.upper())
"""

EMPTY = "from mcp_browser import Registry\nr = Registry()"


def write(folder: Path, text: str, name: str = "my_actions.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_file_adds_its_actions_after_those_that_come_with_the_package(tmp_path: Path) -> None:
    registry = load_registry(ToolSettings(actions=(write(tmp_path, OWN),), exclude_actions=("save_pdf",)))
    assert "save_pdf" not in registry
    assert [action.name for action in registry][-2:] == ["count_links", "shout"]
    assert registry["count_links"].group == "custom"
    assert list(registry["count_links"].param_model.model_fields) == ["kind"]
    assert registry["shout"].effect == "read"
    assert registry["shout"].description == "Say a word loudly."


IN_GROUP = OWN.replace("Registry()", 'Registry(group="shop")')
TWO = OWN + "\nsecond = Registry()\n\n@second.action('Second.')\ndef another() -> None: ...\n"


@pytest.mark.parametrize(
    ("text", "settings", "names"),
    [
        (IN_GROUP, {"tools": ("shop",)}, ["count_links", "shout"]),
        (OWN, {"tools": ("custom",), "exclude_actions": ("shout",)}, ["count_links"]),
        (TWO, {"tools": ("custom",)}, ["count_links", "shout", "another"]),
    ],
    ids=["whatever groups are chosen", "less those excluded", "of several registries"],
)
def test_own_actions_are_offered(
    tmp_path: Path, text: str, settings: dict[str, tuple[str, ...]], names: list[str]
) -> None:
    registry = load_registry(ToolSettings(actions=(write(tmp_path, text),), **settings))  # pyright: ignore
    assert [action.name for action in registry] == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "make one: registry = mcp_browser.Registry()"),
        (EMPTY, "no registry with actions in it; add actions"),
        (f"{EMPTY}\n@r.action()\ndef f(): ...", "needs a description"),
        (f"{EMPTY}\n@r.action('Mine.')\ndef go_back(): ...", "an action 'go_back' is registered already"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_that_names_it(tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_registry(ToolSettings(actions=(file,)))
    message = str(caught.value)
    assert message.startswith(f"actions: {file}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.py", "there is no such file"), (".", "there is no such file"), ("a.txt", "not a Python file")],
)
def test_what_is_no_python_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, OWN, "a.txt")
    with pytest.raises(SettingsError, match=said):
        actions_from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ToolSettings(tools=("cor",)), "tools: there is no group of tools 'cor'; there are: core"),
        (ToolSettings(exclude_actions=("clik",)), "exclude_actions: there is no action 'clik'"),
    ],
)
def test_a_wrong_group_or_action_is_named_with_those_there_are(settings: ToolSettings, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_registry(settings)


def entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, value: str) -> None:
    """Install a package with an entry point, as far as importlib can tell."""
    (folder / "their_actions.py").write_text(module)
    info = folder / "their_actions-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-actions\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mcp_browser.actions]\ntheirs = {value}\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.delitem(sys.modules, "their_actions", raising=False)
    importlib.invalidate_caches()


@pytest.mark.parametrize("value", ["their_actions", "their_actions:registry"])
def test_an_installed_package_adds_its_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    entry_point(tmp_path, monkeypatch, OWN, value)
    assert "count_links" in load_registry(ToolSettings())


def test_entry_points_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(tmp_path, monkeypatch, "raise SystemExit('never imported')", "theirs_off:registry")
    assert "click_element" in load_registry(ToolSettings(plugins=False))


@pytest.mark.parametrize(
    ("value", "words"),
    [("their_actions:nothing", "AttributeError"), ("their_actions:OWN", "no registry with actions")],
)
def test_a_wrong_entry_point_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    entry_point(tmp_path, monkeypatch, OWN + "\nOWN = 5\n", value)
    with pytest.raises(SettingsError, match=r"entry point mcp_browser\.actions: theirs = ") as caught:
        load_registry(ToolSettings())
    assert words in str(caught.value)
