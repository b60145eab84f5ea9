"""Claims that are not so, one a test, and claims that are: no liar succeeds, and the honest are believed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from mcp_browser.agent.task import Budget, Task, TaskStatus
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ModelRefused
from mcp_browser.llm.messages import Message
from mcp_browser.llm.scripted import ScriptedModel
from tests.agent.conftest import click, clicking, done, fill, filling, make_agent, output, script
from tests.support.site import Site

pytestmark = pytest.mark.slow

SHOP = """<title>Teas</title><h1>Teas</h1><ul><li>Red tea 12.50 €<li>Green tea 9.80 €</ul>
<form
onsubmit="event.preventDefault(); out.textContent = 'Thank you, ' + who.value + '. Your number is 4711.'">
<label>Name <input id=who></label> <button>Order</button></form>
<button onclick="out.textContent = 'Newsletter on'">Newsletter</button><p id=out></p>"""

STRICT = """<title>Teas</title><form
onsubmit="event.preventDefault(); who.setAttribute('aria-invalid', 'true')">
<label>Name <input id=who></label> <button>Order</button></form>"""
TOLD = """<title>Teas</title><form
onsubmit="event.preventDefault(); out.textContent = 'Postcode is required'">
<label>Name <input id=who></label> <button>Order</button><p id=out></p></form>"""
REQUIRED = """<title>Teas</title><form onsubmit="event.preventDefault()">
<label>Name <input required></label> <button>Order</button></form>"""
CHOICES = """<title>Choices</title><label><input type=radio name=a>S4</label>
<label><input type=radio name=a>S5</label>
<label><input type=checkbox>Tea</label>
<button onclick="document.body.textContent = 'Thank you'">Submit</button>"""
LARGE = """<title>Large</title><style>
button { position: fixed; inset: 0 0 50% 0 } input { position: fixed; top: 60% }
</style><button onclick="out.textContent = 'Ordered: 4711'">Order</button><p id=out></p>"""
CART = """<title>Cart</title>
<button onclick="document.body.innerHTML = '<button>Pay now</button>'">Checkout</button>"""
DECLINED = """<title>Pay</title>
<button onclick="out.textContent = 'Error: the card was declined'">Pay</button>
<div role=status id=out></div>"""
GONE = "<title>404</title><h1>404 Not Found</h1><p>The page does not exist."
STOCK = "<title>Stock</title><table><tr><th>Tea<th>Left<tr><td>Red tea<td>4<tr><td>Green tea<td>0</table>"
LOGIN = """<title>Sign in</title><form onsubmit="event.preventDefault(); out.textContent = 'Wrong password'">
<label>User <input></label> <button>Sign in</button><p role=alert id=out></p></form>"""
SENDING = """<title>Send</title><button onclick="out.textContent = 'Sending…'">Send</button><p id=out></p>"""
DENIED = "<title>Shop</title><h1>Access denied</h1>"
SEVEN = "<title>Two</title><button>Buy</button><h2>Seven sorts</h2>"

ORDER = "Order the red tea for Ann."
PRICE = "What does the red tea cost?"
SCHEMA = {
    "type": ["object", "null"],
    "properties": {"name": {"type": ["string", "null"]}, "price": {"type": ["number", "null"]}},
}
NOWHERE = "http://127.0.0.1:9/"  # The port of a service that no machine offers any more

NAME, SEND = fill("textbox", "Name", "Ann"), click("button", "Order")
MISSED = output({"click_element": {"index": 999}})


@dataclass(frozen=True)
class Case:
    """A run that claims success; `lines` are the model's, the last one again and again."""

    name: str
    lines: Sequence[Any]
    task: str = ORDER
    page: str | None = SHOP
    start: str | None = None
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


def finished(text: str) -> str:
    return f"Thought: t\nAction: finished(content={text!r})"


def gui(action: str) -> str:
    return f"Thought: t\nAction: {action}"


def told(data: Any, text: str = "The red tea.") -> dict[str, Any]:
    return output({"done": {"success": True, "text": text, "data": data}})


def both(role: str, name: str, *then: dict[str, Any]) -> Any:
    """An action and the claim in one step."""

    def speak(messages: Sequence[Message]) -> dict[str, Any]:
        return output(clicking(messages, role, name), *then)

    return speak


def order_at_once(messages: Sequence[Message]) -> dict[str, Any]:
    return output(filling(messages, "textbox", "Name", "Ann"), clicking(messages, "button", "Order"))


def by_enter(messages: Sequence[Message]) -> dict[str, Any]:
    typed = filling(messages, "textbox", "Name", "Ann")["input_text"]
    return output({"input_text": {**typed, "submit": True}})


ADMISSIONS = {
    "english": "I could not order anything.",
    "english_contracted": "I couldn\u2019t place the order.",
    "english_passive": "The order could not be placed.",
    "english_unable": "Unable to find the order button.",
    "english_not_done": "The task was not completed.",
    "english_failed": "The order failed.",
    "german": "Die Bestellung konnte leider nicht abgeschickt werden.",
    "french": "Je n'ai pas pu commander le thé.",
    "spanish": "No pude hacer el pedido.",
    "portuguese": "Não consegui fazer o pedido.",
    "italian": "Non sono riuscito a ordinare il tè.",
    "dutch": "Het is niet gelukt om te bestellen.",
    "polish": "Nie udało się złożyć zamówienia.",
    "russian": "Не удалось оформить заказ.",
    "chinese": "我无法下单。",
    "japanese": "注文できませんでした。",
    "korean": "주문할 수 없었습니다.",
    "intention": "I will click the Order button now.",
    "still_to_do": "The name is filled in. Still to do: press Order.",
    "not_yet": "The tea is in the cart and not yet paid.",
    "in_part": "I ordered one of the two teas; the other one is missing.",
    "asks_back": "Which address should I use?",
    "would": "I would order it now.",
    "timed_out": "The request timed out.",
    "login_needed": "You need to log in first.",
}
NOTHINGS = {
    "done": "Done.",
    "completed": "The task was completed successfully.",
    "repeats": PRICE,
    "not_available": "N/A",
    "answer_in_brackets": "<answer>",
    "insert_here": "[insert the price]",
    "unknown": "unknown",
    "dots": "...",
    "invented_price": "The red tea costs 87.65 €.",
    "invented_mail": "Ask boss@example.org for it.",
    "invented_name": "Earl Grey is the one.",
    "invented_address": "See http://example.org/tea-42 for it.",
    "invented_quote": 'The page says "Special offer until Friday".',
}
EMPTY_DATA: dict[str, Any] = {
    "missing": None,
    "empty_object": {},
    "nulls": {"name": None, "price": None},
    "empty_name": {"name": ""},
    "invented_price": {"price": 87.65},
    "invented_name": {"name": "Earl Grey"},
    "invented_both": {"name": "Earl Grey", "price": 87.65},
    "ten_times_the_price": {"name": "Red tea", "price": 125.0},
    "half_invented": {"name": "Red tea", "price": 87.65},
}

LIARS = [
    Case("at_once", [done("I have ordered the red tea.")]),
    Case("with_an_empty_text", [order_at_once, done("")]),
    Case("with_blanks", [order_at_once, done("  \n ")]),
    *(Case(f"admits_in_{name}", [order_at_once, done(text)]) for name, text in ADMISSIONS.items()),
    *(Case(f"tells_{name}", [done(text)], task=PRICE) for name, text in NOTHINGS.items()),
    *(
        Case(f"gives_data_{name}", [told(data)], task=PRICE, more={"output_schema": SCHEMA})
        for name, data in EMPTY_DATA.items()
    ),
    Case("start_never_opened", [done("I have ordered the red tea.")], page=None, start=NOWHERE),
    Case("start_never_opened_question", [done("It costs 3 €.")], task=PRICE, page=None, start=NOWHERE),
    Case("start_never_opened_empty_page", [done("The page is open.")], task="See.", page=None, start=NOWHERE),
    Case("after_a_failed_click", [MISSED, done("Ordered.")]),
    Case("after_typing_and_a_failed_click", [NAME, MISSED, done("Ordered.")]),
    Case("after_a_failed_click_and_a_scroll", [NAME, MISSED, output({"scroll": {}}), done("Ordered.")]),
    Case(
        "after_a_failed_click_and_a_search",
        [order_at_once, MISSED, output({"find_elements": {"text": "tea"}}), done("Ordered.")],
    ),
    Case("after_failed_typing", [output({"input_text": {"index": 999, "text": "Ann"}}), done("Ordered.")]),
    Case(
        "after_a_failed_choice",
        [output({"select_option": {"index": 999, "options": ["Tea"]}}), done("Chosen.")],
    ),
    Case("after_a_failed_page", [output({"go_to_url": {"url": NOWHERE}}), done("Ordered.")]),
    Case(
        "after_a_failed_search_alone",
        [output({"find_elements": {"text": "zzz"}}), done("It is 12.50 €.")],
        task="Look.",
    ),
    Case("only_scrolled", [output({"scroll": {}}), done("I have ordered the red tea.")]),
    Case("only_looked", [output({"find_elements": {"text": "tea"}}), done("Ordered for Ann.")]),
    Case("only_waited", [output({"wait_for": {"seconds": 0.1}}), done("Ordered for Ann.")]),
    Case("only_read", [output({"extract_content": {}}), done("Ordered for Ann.")]),
    Case("an_unreadable_answer_then_a_claim", ["I click it.", done("Ordered for Ann.")]),
    Case(
        "another_button_than_the_named",
        [click("button", "Newsletter"), done("Clicked.")],
        task="Click the Order button.",
    ),
    Case(
        "another_button_than_the_quoted",
        [click("button", "Newsletter"), done("Clicked.")],
        task='Click "Order".',
    ),
    Case("filled_in_and_not_sent", [NAME, done("I have ordered the tea for Ann.")]),
    Case(
        "chosen_and_not_submitted",
        [click("radio", "S4"), done("S4 is selected.")],
        "Select S4 and click Submit.",
        CHOICES,
    ),
    Case(
        "ticked_and_not_submitted",
        [click("checkbox", "Tea"), done("Tea is ticked.")],
        "Tick Tea and press Submit.",
        CHOICES,
    ),
    Case("fields_marked_as_wrong", [order_at_once, done("Ordered for Ann.")], page=STRICT),
    Case("a_required_field_left_empty", [SEND, done("Ordered.")], page=REQUIRED),
    Case("an_error_in_words", [order_at_once, done("Ordered for Ann.")], page=TOLD),
    Case("only_the_checkout", [click("button", "Checkout"), done("It is paid.")], "Check out and pay.", CART),
    Case("a_declined_card", [click("button", "Pay"), done("Paid.")], "Pay.", DECLINED),
    Case("a_page_that_is_not_there", [done("From 9 to 5.")], "When is the shop open?", GONE),
    Case("still_sending", [click("button", "Send"), done("It is being sent.")], "Send it.", SENDING),
    Case("a_click_without_effect", [click("button", "Buy"), done("I have bought it.")], "Buy it.", SEVEN),
    Case("in_the_last_step", [done("Ordered for Ann.")], more={"budget": Budget(steps=1)}),
    Case("twice_in_other_words", [done("Ordered."), done("It is ordered, I am sure.")]),
    Case(
        "a_judge_who_says_no",
        [order_at_once, done("Ordered for Bob."), {"reason": "Ann.", "confirmed": False}],
        more={"judge": True, "budget": Budget(steps=2)},
    ),
    Case(
        "a_judge_who_says_nothing_clear",
        [order_at_once, done("Ordered."), "Well."],
        more={"judge": True, "budget": Budget(steps=2)},
    ),
    Case(
        "a_judge_who_fails",
        [order_at_once, done("Ordered."), ModelRefused("m refuses.")],
        more={"judge": True, "budget": Budget(steps=2)},
    ),
    Case(
        "no_tokens_left_for_the_judge",
        [order_at_once, done("Ordered.")],
        more={"judge": True, "budget": Budget(tokens=10)},
    ),
]

GUI_LIARS = [
    Case("at_once", [finished("I have ordered the red tea.")]),
    Case("with_no_text", [gui("finished()")]),
    Case("to_a_question_with_no_text", [gui("finished()")], task=PRICE),
    *(Case(f"admits_in_{name}", [finished(ADMISSIONS[name])]) for name in ("english", "german", "chinese")),
    Case("a_placeholder", [finished("N/A")], task=PRICE),
    Case(
        "only_scrolled",
        [gui("scroll(start_box='(500,500)', direction='down')"), finished("Ordered for Ann.")],
    ),
    Case("only_waited", [gui("call_user(content='')"), finished("Ordered for Ann.")]),
    Case("after_a_failed_page", [gui(f"navigate(url='{NOWHERE}')"), finished("Ordered for Ann.")]),
    Case("start_never_opened", [finished("I have ordered the red tea.")], page=None, start=NOWHERE),
    Case(
        "clicked_beside_it",
        [gui("click(start_box='(500,900)')"), finished("Clicked.")],
        'Click "Order".',
        LARGE,
    ),
    Case(
        "typed_and_not_sent",
        [gui("click(start_box='(500,100)')"), gui("type(content='Ann')"), finished("Ordered.")],
        page=LARGE,
    ),
    Case("invents_a_number", [finished("It costs 87.65 €.")], task=PRICE),
    Case(
        "in_the_last_step",
        [gui("finished(content='Ordered.', success='true')")],
        more={"budget": Budget(steps=1)},
    ),
]

HONEST = [
    Case("orders", [order_at_once, done("Ordered for Ann; the number is 4711.")]),
    Case("orders_and_claims_briefly", [NAME, SEND, done("Done.")]),
    Case(
        "orders_by_enter",
        [
            by_enter,
            done("The order has the number 4711."),
        ],
    ),
    Case("claims_in_the_same_step", [NAME, both("button", "Order", done("Ordered.")["action"][0])]),
    Case("reads_a_price", [done("The red tea costs 12.50 €.")], task=PRICE),
    Case("writes_a_price_otherwise", [done("EUR 12,5")], task=PRICE),
    Case(
        "reads_data", [told({"name": "Red tea", "price": 12.5})], task=PRICE, more={"output_schema": SCHEMA}
    ),
    Case(
        "counts",
        [done("There are 2 teas, together 22.30 €.")],
        task="How many teas are there, and what do they cost in total?",
    ),
    Case(
        "compares",
        [done("Green tea at 9.80 € is the cheapest; I could not find any cheaper one.")],
        task="Find the cheapest tea.",
    ),
    Case(
        "clicks_the_named",
        [click("button", "Newsletter"), done("The newsletter is on.")],
        task='Click "Newsletter".',
    ),
    Case(
        "chooses_and_submits",
        [click("radio", "S4"), click("button", "Submit"), done("Submitted S4.")],
        "Select S4 and click Submit.",
        CHOICES,
    ),
    Case("mends_a_failed_click", [MISSED, order_at_once, done("Ordered for Ann.")]),
    Case(
        "searches_in_vain_on_the_way",
        [order_at_once, output({"find_elements": {"text": "zzz"}}), done("Ordered for Ann.")],
    ),
    Case(
        "asks_in_german",
        [order_at_once, done("Bestellt für Ann, Nummer 4711.")],
        task="Bestelle den roten Tee für Ann.",
    ),
    Case(
        "tells_an_error_that_was_asked_for",
        [SEND, done("The field Name is marked as required.")],
        "Send the empty form and tell which error it shows.",
        REQUIRED,
    ),
    Case("quotes_the_page", [order_at_once, done('It says "Thank you, Ann. Your number is 4711."')]),
    Case(
        "with_a_judge",
        [order_at_once, done("Ordered."), {"reason": "It is.", "confirmed": True}],
        more={"judge": True},
    ),
    Case("after_a_refusal", [done("Ordered."), order_at_once, done("Ordered for Ann.")]),
    Case("in_the_last_step", [order_at_once, done("Ordered for Ann.")], more={"budget": Budget(steps=2)}),
    Case(
        "tells_the_error_that_the_page_shows",
        [click("button", "Sign in"), done('It says "Wrong password".')],
        "Sign in without a password and tell what the page says.",
        LOGIN,
    ),
    Case("tells_that_it_is_denied", [done("Access denied.")], "What does the page say?", DENIED),
    Case("tells_that_it_is_not_there", [done("404 Not Found.")], "What does the page say?", GONE),
    Case("denies_trouble", [order_at_once, done("Ordered, no problems. I did not need to log in.")]),
    Case(
        "tells_a_difference",
        [done("Green tea, at 9.80 €; red tea costs 2.70 € more.")],
        "Which tea is cheaper, and by how much?",
    ),
    Case("reads_a_table", [done("4 red teas, and no green tea.")], "What is in stock?", STOCK),
    Case("ticks_a_box", [click("checkbox", "Tea"), done("Tea is ticked.")], "Tick the box for tea.", CHOICES),
]
GUI_HONEST = [
    Case(
        "clicks", [gui("click(start_box='(500,200)')"), finished("Ordered: 4711.")], 'Click "Order".', LARGE
    ),
    Case("reads", [finished("The red tea costs 12.50 €.")], task=PRICE),
]


def _named(cases: Sequence[Case]) -> list[Any]:
    return [pytest.param(case, id=case.name) for case in cases]


async def _run(case: Case, session: BrowserSession, site: Site, **more: Any) -> Any:
    start = case.start if case.page is None else site.page(case.page)
    if case.page is None:
        await session.ensure_open()
        await session.current_tab.page.goto("about:blank")
    task = Task(text=case.task, start_url=start, **{**case.more, **more})
    agent = make_agent(task, list(case.lines), session, **case.settings)
    return agent, await agent.run()


@pytest.mark.parametrize("case", _named(LIARS))
async def test_a_liar_does_not_succeed(session: BrowserSession, site: Site, case: Case) -> None:
    _, outcome = await _run(case, session, site)
    assert outcome.status is TaskStatus.UNCONFIRMED, outcome
    assert not outcome.succeeded
    assert outcome.answer is not None
    assert outcome.obstacle.startswith("The result was not confirmed: ")


@pytest.mark.parametrize("case", _named(GUI_LIARS))
async def test_a_vision_liar_does_not_succeed(session: BrowserSession, site: Site, case: Case) -> None:
    _, outcome = await _run(case, session, site, style="gui")
    assert not outcome.succeeded, outcome
    assert outcome.status in (TaskStatus.UNCONFIRMED, TaskStatus.NEEDS_PERSON)


@pytest.mark.parametrize("case", _named(HONEST))
async def test_the_honest_are_believed(session: BrowserSession, site: Site, case: Case) -> None:
    agent, outcome = await _run(case, session, site)
    assert outcome.succeeded, (outcome, agent.history.steps[-1].notes)


@pytest.mark.parametrize("case", _named(GUI_HONEST))
async def test_the_honest_are_believed_with_vision(session: BrowserSession, site: Site, case: Case) -> None:
    _, outcome = await _run(case, session, site, style="gui")
    assert outcome.succeeded, outcome


async def test_a_model_is_told_why_its_claim_is_not_believed(session: BrowserSession, site: Site) -> None:
    agent, _ = await _run(LIARS[0], session, site)
    told = script(agent).requests[1]
    assert any("is not confirmed: the task asks for something to be done" in message.text for message in told)


async def test_a_model_that_can_judge_judges_unless_it_is_told_not_to(
    session: BrowserSession, site: Site
) -> None:
    no = {"reason": "Nobody was greeted.", "confirmed": False}
    task = Task(text="See.", start_url=site.page("Hello"), budget=Budget(steps=1))
    model = ScriptedModel([done("Greeted."), no], judges=True)
    outcome = await make_agent(task, model, session).run()
    assert outcome.status is TaskStatus.UNCONFIRMED
    assert outcome.obstacle == "The result was not confirmed: Nobody was greeted."
    told_not_to = task.model_copy(update={"judge": False})
    model = ScriptedModel([done("Greeted."), no], judges=True)
    assert (await make_agent(told_not_to, model, session).run()).succeeded


@pytest.mark.parametrize(
    ("window", "judge", "status"),
    [
        (16_384, None, TaskStatus.UNCONFIRMED),
        (16_384, True, TaskStatus.SUCCEEDED),
        (16_384, False, TaskStatus.SUCCEEDED),
        (32_768, None, TaskStatus.SUCCEEDED),
    ],
)
async def test_a_small_model_s_yes_to_its_own_claim_counts_only_where_the_caller_wants_it(
    session: BrowserSession, site: Site, window: int, judge: bool | None, status: TaskStatus
) -> None:
    yes = {"reason": "It says Hello.", "confirmed": True}
    model = ScriptedModel([done("Greeted."), yes], judges=True, context_window=window)
    outcome = await make_agent(
        Task(text="See.", start_url=site.page("Hello"), judge=judge), model, session
    ).run()
    assert outcome.status is status
    assert outcome.steps == 1
    assert outcome.answer == "Greeted."
    assert ("no one but the model itself has confirmed it" in str(outcome.obstacle)) is (
        status is TaskStatus.UNCONFIRMED
    )


async def test_a_model_of_its_own_judges_and_what_it_uses_is_counted(
    session: BrowserSession, site: Site
) -> None:
    task = Task(text="See.", start_url=site.page("Hello"), budget=Budget(steps=1))
    judge = ScriptedModel([{"reason": "Nobody was greeted.", "confirmed": False}])
    agent = make_agent(task, [done("Greeted.")], session, judge=judge)
    outcome = await agent.run()
    assert outcome.status is TaskStatus.UNCONFIRMED
    assert outcome.usage.requests == 2
    assert "You judge" in judge.requests[0][0].text
