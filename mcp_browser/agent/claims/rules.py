"""The rules by which a claim of success is doubted, from the run's own record."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.forms import fill_form, input_text, select_option, set_checked, upload_file
from mcp_browser.actions.keyboard import send_keys
from mcp_browser.actions.mouse import hotkey, type_text
from mcp_browser.agent.claims.seen import Seen, is_empty, values_in
from mcp_browser.agent.claims.wording import (
    ASKS_BACK,
    ASKS_OF_FAILURE,
    ASKS_TO_ACT,
    ASKS_TO_SEND,
    ASKS_TO_TELL,
    COUNTS,
    IS_ERROR_PAGE,
    PLACEHOLDER_ANSWER,
    SAYS_IT_FAILED,
    SAYS_NOT_YET,
    SHOWS_ERROR,
    TELLS_NOTHING,
    as_written,
    names_told,
    still_to_press,
    targets,
    values_told,
)
from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.task import Task
from mcp_browser.browser.observation import Effect
from mcp_browser.text import one_line, quoted

LONGEST_ERROR_PAGE = 1500  # Pages longer than this have more to say than that there is an error, characters
LONGEST_QUOTE = 160  # How much of an error or an answer a reason repeats, characters
_TYPING = {
    one.__name__ for one in (input_text, select_option, set_checked, fill_form, type_text, upload_file)
}
_BY_KEYS = {one.__name__ for one in (send_keys, hotkey, type_text)}
_INVALID = re.compile(r'^\s*\*?\[\d+\] [\w ]+ "((?:[^"\\]|\\.)*)".*\binvalid\b', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a claim may not hold. A `certain` one ends it; of others a judge may think better."""

    reason: str
    certain: bool = True


@dataclass(frozen=True, kw_only=True)
class SuccessClaim:
    """A claim of success, and what there is to hold it against.

    `actions` are all that the run has tried, in order; `effect` returns what kind an action is: one that only
    moves the view is a look, `read`. `pages` are the
    addresses of pages that could be seen, `page` is the text of the last one, settled, None before it is
    known. `start_problem` is why the task's first page could not be opened. `pictured` says that the model
    had pictures, too: what stands in them need not be in `seen`.
    """

    task: Task
    instructions: Sequence[str] = ()
    answer: str
    data: Any = None
    actions: Sequence[ActionRecord]
    effect: Callable[[str], Effect]
    pages: Sequence[str]
    page: str | None
    seen: Seen
    start_problem: str | None = None
    pictured: bool = False

    @property
    def asked(self) -> str:
        return "\n".join((self.task.text, *self.instructions))

    @property
    def tried(self) -> list[ActionRecord]:
        """What was tried on pages."""
        return [action for action in self.actions if action.call.name not in (DONE, CALL_USER)]

    @property
    def acted(self) -> list[ActionRecord]:
        """What was carried out and is more than looking or going elsewhere."""
        return [one for one in self.tried if not one.error and self.kind(one) == "input"]

    def kind(self, action: ActionRecord) -> Effect:
        """What kind an action is."""
        return self.effect(action.call.name)

    @property
    def helped(self) -> bool:
        """Whether a person was asked, who may have done a part."""
        return any(action.call.name == CALL_USER and not action.error for action in self.actions)


def doubts(claim: SuccessClaim) -> list[Doubt]:
    """Why the claim may not hold, by the record and, where it is known, the last page; certain ones first."""
    rules = (*_OF_THE_RECORD, *_OF_THE_PAGE) if claim.page is not None else _OF_THE_RECORD
    found = [doubt for rule in rules if (doubt := rule(claim)) is not None]
    return sorted(found, key=lambda doubt: not doubt.certain)


def _says_nothing(claim: SuccessClaim) -> Doubt | None:
    answer = claim.answer.strip()
    if claim.data is not None and not is_empty(claim.data):
        return None
    if not answer:
        return Doubt("the answer is empty.")
    if PLACEHOLDER_ANSWER.fullmatch(answer):
        return Doubt(f"the answer is a placeholder: {_short(answer)}.")
    if ASKS_TO_TELL.search(claim.task.text):
        if TELLS_NOTHING.fullmatch(answer):
            return Doubt(f"the task asks for an answer, and this tells nothing: {_short(answer)}.")
        if _plain(answer) == _plain(claim.task.text):
            return Doubt("the answer only repeats the task.")
    return None


def _says_it_failed(claim: SuccessClaim) -> Doubt | None:
    if found := SAYS_IT_FAILED.search(as_written(claim.answer)):
        if (
            ASKS_TO_TELL.search(claim.asked)
            and not ASKS_TO_ACT.search(claim.asked)
            and claim.seen.has(found[0])
        ):
            # What a page says is told.
            return None
        # "Tell whether the login works" is well answered by "The login failed".
        certain = not ASKS_OF_FAILURE.search(claim.asked)
        return Doubt(f"the answer itself says that it failed: {_around(claim.answer, found)}.", certain)
    if found := SAYS_NOT_YET.search(as_written(claim.answer)):
        return Doubt(f"the answer tells what is still to be done: {_around(claim.answer, found)}.")
    if ASKS_BACK.search(claim.answer):
        return Doubt(f"the answer asks something: {_short(claim.answer)}.", certain=False)
    return None


def _data_is_missing(claim: SuccessClaim) -> Doubt | None:
    if claim.task.output_schema is None:
        return None
    if claim.data is None:
        return Doubt("the data that the task requires is missing.")
    if is_empty(claim.data):
        return Doubt("the data that the task requires is empty.", certain=isinstance(claim.data, str))
    return None


def _start_never_opened(claim: SuccessClaim) -> Doubt | None:
    if claim.start_problem is not None and not claim.pages:
        return Doubt(f"the start page never opened: {_short(claim.start_problem)}")
    wants = ASKS_TO_ACT.search(claim.asked) or ASKS_TO_TELL.search(claim.asked)
    if wants and not claim.pages and not claim.acted and not claim.helped:
        return Doubt("no page was ever seen.")
    if claim.start_problem is not None:
        return Doubt(f"the start page could not be opened: {_short(claim.start_problem)}", certain=False)
    return None


def _did_nothing(claim: SuccessClaim) -> Doubt | None:
    if claim.acted or claim.helped or not ASKS_TO_ACT.search(claim.asked):
        return None
    tried = [one for one in claim.tried if claim.kind(one) == "input"]
    told = "no action was carried out" if not claim.tried else "nothing was done on a page"
    if tried:
        told = f"no action on a page succeeded (the last one: {_short(tried[-1].error or '')})"
    return Doubt(f"the task asks for something to be done, and {told}.")


def _last_action_failed(claim: SuccessClaim) -> Doubt | None:
    weighty = [one for one in claim.tried if claim.kind(one) != "read"]
    last = claim.tried[-1] if claim.tried else None
    # What a task asks to be told may be read from another place than the one that failed.
    found = last is not None and not last.error and not ASKS_TO_ACT.search(claim.asked)
    if weighty and weighty[-1].error and not found:
        last = weighty[-1]
    if last is None or not last.error:
        return None
    if claim.acted and claim.kind(last) == "read":
        # A look that found nothing is no failure of what was done before it.
        return None
    return Doubt(f"the last action failed, and none followed: {last.call.name}: {_short(last.error)}")


def _target_untouched(claim: SuccessClaim) -> Doubt | None:
    acted = claim.acted
    for name in targets(claim.task.text):
        if any(_is_on(action, name) for action in acted):
            continue
        if any(action.call.name in _BY_KEYS for action in acted):
            return None
        # What lies under a point is not always known.
        blind = any(not action.elements for action in acted)
        return Doubt(f"the task says to click {quoted(name)}, and that was not clicked.", certain=not blind)
    return None


def _not_sent(claim: SuccessClaim) -> Doubt | None:
    acted = claim.acted
    if not acted or not ASKS_TO_SEND.search(claim.asked):
        return None
    last = acted[-1]
    if last.call.name not in _TYPING or last.call.arguments.get("submit"):
        return None
    if str(last.call.arguments.get("text", "")).endswith("\n"):
        return None
    return Doubt(f"the form was filled in ({last.call.name}) and not sent.", certain=not claim.helped)


def _errors_still_shown(claim: SuccessClaim) -> Doubt | None:
    assert claim.page is not None
    if not claim.acted or not ASKS_TO_ACT.search(claim.asked) or ASKS_OF_FAILURE.search(claim.asked):
        return None
    if found := _INVALID.search(claim.page):
        return Doubt(f"the form still shows an error: {quoted(found[1])} is invalid.")
    if found := SHOWS_ERROR.search(as_written(claim.page)):
        if ASKS_TO_TELL.search(claim.asked) and _plain(found[0]) in _plain(claim.answer):
            # That is what the task wants to be told.
            return None
        return Doubt(f"the page shows an error: {_around(claim.page, found)}.", certain=False)
    return None


def _is_an_error_page(claim: SuccessClaim) -> Doubt | None:
    assert claim.page is not None
    found = IS_ERROR_PAGE.search(as_written(claim.page))
    if found is None or len(claim.page) > LONGEST_ERROR_PAGE or ASKS_OF_FAILURE.search(claim.asked):
        return None
    if _plain(found[0]) in _plain(claim.answer) or IS_ERROR_PAGE.search(claim.answer):
        return None
    return Doubt(f"the page is an error: {_around(claim.page, found)}.", certain=False)


def _still_offered(claim: SuccessClaim) -> Doubt | None:
    """A task that ends with "and pay", where "Pay now" is there and was not pressed."""
    assert claim.page is not None
    acted = claim.acted
    if not acted or claim.helped or any(_sends(action) for action in acted):
        return None
    for verb in still_to_press(claim.asked):
        button = re.search(
            rf'^\s*\*?\[\d+\] button "({verb}\b[^"]*)"(?!.*\bdisabled\b)', claim.page, re.I | re.M
        )
        if button and not any(_is_on(action, verb) for action in acted):
            return Doubt(
                f"the page still offers {quoted(button[1])}, and that was not clicked.", certain=False
            )
    return None


def _sends(action: ActionRecord) -> bool:
    return action.call.name in _BY_KEYS or bool(action.call.arguments.get("submit")) or not action.elements


def _nothing_changed(claim: SuccessClaim) -> Doubt | None:
    acted = claim.acted
    if acted and all(action.changed is False for action in acted) and ASKS_TO_ACT.search(claim.asked):
        return Doubt("nothing that was done has changed the page.", certain=False)
    return None


def _values_unseen(claim: SuccessClaim) -> Doubt | None:
    known = Seen(words=set(claim.seen.words))
    known.add("\n".join((claim.asked, claim.task.context or "", *claim.pages)))
    values = [*values_in(claim.data), *values_told(claim.answer)]
    if COUNTS.search(claim.asked):
        values = [value for value in values if any(letter.isalpha() for letter in value)]
    if ASKS_TO_TELL.search(claim.asked):
        values += [name for name in names_told(claim.answer) if not any(map(known.has, name.split()))]
    unseen = [value for value in values if not known.has(value)]
    if not unseen:
        return None
    told = ", ".join(quoted(value) for value in unseen[:3])
    certain = len(unseen) == len(values) and not claim.pictured
    return Doubt(f"what the answer gives stands on no page that was seen: {told}.", certain)


_Rule = Callable[[SuccessClaim], Doubt | None]

_OF_THE_RECORD: tuple[_Rule, ...] = (
    _start_never_opened,
    _says_nothing,
    _says_it_failed,
    _did_nothing,
    _last_action_failed,
    _target_untouched,
    _not_sent,
    _data_is_missing,
    _nothing_changed,
)
_OF_THE_PAGE: tuple[_Rule, ...] = (_errors_still_shown, _is_an_error_page, _still_offered, _values_unseen)


def _is_on(action: ActionRecord, name: str) -> bool:
    wanted = _plain(name)
    return any(
        wanted in _plain(text)
        for element in action.elements
        for text in _texts(element.name, element.text, element.attributes.values())
    )


def _texts(name: str, text: str, attributes: Iterable[str]) -> tuple[str, ...]:
    return (name, text, *attributes)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _short(text: str) -> str:
    return one_line(text, LONGEST_QUOTE)


def _around(text: str, found: re.Match[str]) -> str:
    start, end = max(0, found.start() - 40), found.end() + 60
    return quoted(_short(text[start:end]))
