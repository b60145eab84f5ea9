"""Recorded runs are done again without a model, on pages that have changed since."""

import asyncio
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.agent.control import NobodyWatches, Progress
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.record.variables import entered_values
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.task import Task, TaskStatus
from mcp_browser.agent.task_run import NO, YES
from mcp_browser.errors import InvalidArguments
from mcp_browser.llm.messages import Message
from tests.agent.conftest import Person, Stage, cancel, click, done, fill, filling, index_of, kept, output
from tests.agent.test_history import written
from tests.support.site import Reply

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SHOP = resources.files("mcp_browser").joinpath("assets", "try.html").read_text()


def order(messages: Sequence[Message]) -> dict[str, Any]:
    """The form of the shop, filled in and sent."""
    day = {"select_option": {"index": index_of(messages, "combobox", "Day"), "options": ["Sunday"]}}
    tea = {"set_checked": {"index": index_of(messages, "checkbox", "With tea"), "checked": False}}
    send = {"click_element": {"index": index_of(messages, "button", "Reserve")}}
    return output(filling(messages, "textbox", "Name", "Ann"), day, tea, send)


async def record(stage: Stage, url: str | None, *script: Any, **options: Any) -> AgentHistory:
    """The history of a run that did this."""
    secrets = options.pop("secrets", Secrets())
    task = Task(text="Do it.", start_url=url, secrets=secrets.names)
    agent, outcome = await stage.run([*script, done()], task, secrets=secrets)
    assert outcome.succeeded, outcome
    return agent.history


async def said(stage: Stage, selector: str = "output") -> str:
    return await stage.page.locator(selector).first.inner_text()


async def test_a_run_in_the_shop_is_done_again_with_other_values(stage: Stage, tmp_path: Path) -> None:
    recorded = await record(stage, stage.site.publish(SHOP.encode()), order)
    assert await said(stage) == "See you on Sunday, Ann."
    entered = {"Name": ["Ann"], "name": ["Ann"], "Day": ["Sunday"], "day": ["Sunday"]}
    assert entered_values(recorded) == entered
    outcome = await stage.replay(recorded).run()
    assert (outcome.succeeded, outcome.data["departures"], outcome.data["actions"]) == (True, [], 4), outcome
    assert await said(stage) == "See you on Sunday, Ann."
    folder = TaskFolder(tmp_path)
    again = stage.replay(recorded, variables={"name": "Zoë", "Sunday": "Friday"}, folder=folder)
    assert (await again.run()).succeeded
    await again.write_up()
    assert await said(stage) == "See you on Friday, Zoë."
    written(tmp_path)
    saved = folder.history()
    assert (saved.replay_of, saved.status) == (recorded.id, TaskStatus.SUCCEEDED)
    report = (tmp_path / "report.html").read_text()
    assert "had the same effect as in the recorded run" in report
    assert "<img" in report


async def test_unknown_variables_and_missing_secrets_are_told_before_anything_is_done(stage: Stage) -> None:
    body = "<label>Name <input></label>"
    secrets = kept("wörd", "swordfish")
    typed = fill("textbox", "Name", "<secret>\nwörd</secret>")
    recorded = await record(stage, stage.site.page(body), typed, secrets=secrets)
    with pytest.raises(InvalidArguments, match="no field and no value 'Town'"):
        stage.replay(recorded, variables={"Town": "Rome"})
    with pytest.raises(InvalidArguments, match="types the secret 'wörd'"):
        stage.replay(recorded)
    with pytest.raises(InvalidArguments, match="'Name' is filled from a secret"):
        stage.replay(recorded, variables={"Name": "plain"}, secrets=secrets)
    outcome = await stage.replay(recorded, secrets=secrets).run()
    assert outcome.succeeded
    assert await stage.page.locator("input").input_value() == "swordfish"
    assert "swordfish" not in outcome.model_dump_json()


CHANGED = {
    "ids": ("id=who", "id=who-7f3"),
    "names": (">Send<", ">Send it<"),
    "order": ("<i></i>", "<button id=else type=button onclick=\"out.textContent = 'wrong'\">Else</button>"),
}
FORM = """<form onsubmit="event.preventDefault(); out.textContent = 'Hello ' + this.elements.name.value">
<i></i><label>Name <input id=who name=name></label><button id=send>Send</button></form><p id=out></p>"""


async def test_it_says_where_it_departs_on_a_changed_page(stage: Stage) -> None:
    def send(page: Sequence[Message]) -> dict[str, Any]:
        click = {"click_element": {"index": index_of(page, "button", "Send")}}
        return output(filling(page, "textbox", "Name", "Ann"), click)

    url = stage.site.page(FORM, path="/changing")
    recorded = await record(stage, url, send)
    told: dict[str, list[str]] = {}
    for change, (old, new) in CHANGED.items():
        stage.site.page(FORM.replace(old, new), path="/changing")
        outcome = await stage.replay(recorded, sure_seconds=0).run()
        assert outcome.succeeded, (change, outcome)
        assert await said(stage, "#out") == "Hello Ann", change
        told[change] = outcome.data["departures"]
    (by_name,), (by_id,), (moved,) = told["ids"], told["names"], told["order"]
    assert by_name.startswith('input_text: textbox "Name" was found by an attribute')
    assert by_id.startswith('click_element: button "Send" was found by an attribute that has stayed, as [')
    assert by_id.endswith('button "Send it"')
    assert 'button "Send"' in moved


LINK = "<a href='/status/200?token={}&item={}' onclick='out.textContent = this.id; return false' {}>Open</a>"


async def test_an_element_is_the_recorded_one_where_the_record_hides_a_secret_of_its_address(
    stage: Stage,
) -> None:
    links = f"{LINK.format('abcdef123456', 1, 'id=one')} {LINK.format('123456abcdef', 1, '')}<p id=out>"
    recorded = await record(stage, stage.site.page(links), click("link", "Open"))
    assert "123456" not in recorded.model_dump_json()
    outcome = await stage.replay(recorded).run()
    assert (outcome.succeeded, outcome.data["departures"]) == (True, []), outcome


async def test_what_stands_between_two_hidden_secrets_of_an_address_is_compared(stage: Stage) -> None:
    pages = [LINK.format("abcdef123456", f"{item}&password=x1y2z3", "") + "<p id=out>" for item in (5, 6)]
    recorded = await record(stage, stage.site.page(pages[0], path="/pay"), click("link", "Open"))
    stage.site.page(pages[1], path="/pay")
    assert (await stage.replay(recorded).run()).data["departures"]


async def test_it_waits_for_an_element_and_stops_at_one_that_does_not_come(stage: Stage) -> None:
    url = stage.site.page(FORM, path="/late")
    recorded = await record(stage, url, click("button", "Send"))
    late = (
        f"<script>addEventListener('load', () => setTimeout(() => document.body.innerHTML = `{FORM}`, 400))"
    )
    stage.site.page(f"{late}</script>", path="/late")
    outcome = await stage.replay(recorded).run()
    assert outcome.succeeded, outcome
    assert await said(stage, "#out") == "Hello"
    stage.site.page("<button>Cancel</button>", path="/late")
    outcome = await stage.replay(recorded, element_seconds=0.2).run()
    assert outcome.status is TaskStatus.FAILED
    for words in ('Nothing on the page is like button "Send".', "Step 1, click_element"):
        assert words in (outcome.obstacle or "")
    assert outcome.data["actions"] == 0


async def test_tabs_points_and_failed_actions_are_followed(stage: Stage) -> None:
    second = stage.site.page("<button onclick=\"this.textContent = 'Pressed'\">Press</button>")
    page = (
        f"<p style='margin:{{}}'><a href='{second}' target=_blank>Open</a><button onclick="
        "\"this.textContent = event.offsetX > 50 ? 'right' : 'left'\" style='width:80px'>Side</button></p>"
    )
    url = stage.site.page(page.format("99px 0 0"))

    async def point(_page: Sequence[Message]) -> dict[str, Any]:
        box, view = await stage.page.get_by_text("Side").bounding_box(), stage.page.viewport_size
        assert box is not None
        assert view is not None
        at = f"{box['x'] + 70:.0f},{box['y'] + 8:.0f}@{view['width']}x{view['height']}"
        return output({"mouse_click": {"at": at}})

    def back(_page: Sequence[Message]) -> dict[str, Any]:
        return output({"switch_tab": {"tab": next(iter(stage.session.tabs))}})

    wrong = output({"click_element": {"index": 9999}})
    recorded = await record(stage, url, wrong, click("link", "Open"), click("button", "Press"), back, point)
    assert [action.call.name for action in recorded.actions()][-2:] == ["mouse_click", "done"]
    stage.site.page(page.format("20px 300px"), path=url.removeprefix(stage.site.url))
    before = set(stage.session.tabs)
    outcome = await stage.replay(recorded).run()
    assert outcome.succeeded, outcome
    assert len(set(stage.session.tabs) - before) == 1
    assert await said(stage, "button") == "right"
    newest = stage.session.tabs[max(stage.session.tabs)]
    assert await newest.page.locator("button").inner_text() == "Pressed"


async def test_a_replay_is_cancelled_at_once_and_leaves_the_session(stage: Stage, tmp_path: Path) -> None:
    url = stage.site.page(FORM, path="/cancelled")
    recorded = await record(stage, url, click("button", "Send"))
    stage.site.page("Nothing", path="/cancelled")
    running = stage.replay(recorded, folder=TaskFolder(tmp_path), element_seconds=60)
    told = asyncio.Event()

    class Watching(NobodyWatches):
        async def progressed(self, progress: Progress) -> None:
            told.set()

    running.watcher = Watching()
    task = asyncio.create_task(running.run())
    await told.wait()
    await cancel(task)
    assert running.folder is not None
    assert running.folder.history().status is TaskStatus.CANCELLED
    result = await running.controller.execute("get_state", {}, stage.session)
    assert result.observation is not None


@pytest.mark.parametrize("agrees", [None, False, True])
async def test_what_may_mean_something_else_by_now_is_asked_about_or_refused(
    stage: Stage, agrees: bool | None
) -> None:
    page = "<p id=out></p><button id=send onclick=\"out.textContent = 'done'\">{}</button>"
    url = stage.site.publish(page.format("Send order").encode())
    recorded = await record(stage, url, click("button", "Send order"))
    stage.site.publish(page.format("Delete all orders").encode(), path=url.removeprefix(stage.site.url))
    person = Person(None if agrees is None else YES if agrees else NO)
    outcome = await stage.replay(recorded, watcher=person).run()
    ((question, choices),) = person.asked
    assert '"Send order"' in question
    assert '"Delete all orders"' in question
    assert choices == (YES, NO)
    assert outcome.succeeded is bool(agrees)
    assert await said(stage, "#out") == ("done" if agrees else "")
    if not agrees:
        assert "Delete all orders" in (outcome.obstacle or "")


SENDING = """<form action=/sent method=post><label>Name <input name=who {}></label>
<button type={}>Send</button></form>"""
WAS_SENT = "recorded POST {}/sent → 200, now "


@pytest.mark.parametrize(
    ("now", "ends", "why"),
    [
        (("submit", "", 200, "/sent"), TaskStatus.SUCCEEDED, ""),
        (("submit", "", 500, "/sent"), TaskStatus.FAILED, WAS_SENT + "POST {}/sent → 500"),
        (("button", "", 200, "/sent"), TaskStatus.FAILED, WAS_SENT + "nothing was sent"),
        (("submit", "><input required", 200, "/sent"), TaskStatus.FAILED, "now nothing was sent"),
        (("submit", "", 200, "/sent/4712"), TaskStatus.UNCONFIRMED, "/sent/4712"),
    ],
)
async def test_a_replay_ends_as_the_recorded_run_only_with_the_same_effects(
    stage: Stage, now: tuple[str, str, int, str], ends: TaskStatus, why: str
) -> None:
    kind, extra, status, where = now
    stage.site.route("/sent", lambda _request: Reply(b"<h1>Thank you</h1>"))
    first = "/sent/4711" if where != "/sent" else where
    url = stage.site.page(SENDING.format("", "submit").replace("/sent", first), path="/sending")
    recorded = await record(stage, url, fill("textbox", "Name", "Ann"), click("button", "Send"))
    stage.site.route("/sent", lambda _request: Reply(b"<h1>Thank you</h1>", status=status))
    stage.site.page(SENDING.format(extra, kind).replace("/sent", where), path="/sending")
    outcome = await stage.replay(recorded, variables={"Name": "Zoë"}).run()
    assert outcome.status is ends, outcome
    assert why.format(stage.site.url, stage.site.url) in (outcome.obstacle or "")
    old = recorded.model_dump(
        mode="json", exclude={"steps": {"__all__": {"actions": {"__all__": {"evidence"}}}}}
    )
    outcome = await stage.replay(AgentHistory.model_validate(old)).run()
    assert outcome.status is TaskStatus.UNCONFIRMED or ends is TaskStatus.FAILED


GO = '<button {}="out.textContent = 1">Go</button><p id=out></p>'
TICK = (
    "<label><input type=checkbox {}>Go</label>"
    + "<p>A line of a page that is longer than what changes</p>" * 30
)


@pytest.mark.parametrize(
    ("role", "page", "now", "why"),
    [
        ("button", GO.format("onclick"), GO.format("title"), "recorded the page changed, now it did not"),
        (
            "checkbox",
            TICK,
            TICK.format("checked"),
            'checkbox "Go" differs: recorded checked, now not checked',
        ),
        ("checkbox", TICK, TICK.format("title=x"), ""),
    ],
    ids=["changes nothing", "a tick the other way", "the same"],
)
async def test_another_effect_on_the_page_is_a_difference(
    stage: Stage, role: str, page: str, now: str, why: str
) -> None:
    recorded = await record(stage, stage.site.page(page.format(""), path="/going"), click(role, "Go"))
    stage.site.page(now, path="/going")
    outcome = await stage.replay(recorded).run()
    assert outcome.succeeded is not bool(why), outcome
    assert why in (outcome.obstacle or "")


async def test_a_value_is_written_into_addresses_as_a_form_does(stage: Stage) -> None:
    stage.site.route("/found", lambda request: Reply(f"<h1>{request.first('q')}</h1>".encode()))
    url = stage.site.page("<form action=/found><label>City <input name=q></label><button>Go</button></form>")
    recorded = await record(stage, url, fill("textbox", "City", "Ghent"), click("button", "Go"))
    outcome = await stage.replay(recorded, variables={"City": "Zürich & Bern"}).run()
    assert outcome.succeeded, outcome
    assert await said(stage, "h1") == "Zürich & Bern"


MAKING = """<button>Make</button><p></p><script>
const put = (where) => fetch(where, {method: 'PUT', body: '{}'});
const make = async () => {
  const made = await (await fetch(`/items?${Date.now()}`, {method: 'POST'})).text();
  await put(`/items/${made}`);
  document.querySelector('p').textContent = 'Made';
  %s
};
document.querySelector('button').onclick = make;
</script>"""


@pytest.mark.parametrize(
    ("again", "ends"),
    [
        ("await put(`/state?${Date.now()}`)", TaskStatus.SUCCEEDED),
        ("await put(`/state?${Date.now()}`); await put('/items/4711')", TaskStatus.UNCONFIRMED),
        ("", TaskStatus.FAILED),
    ],
)
async def test_how_often_a_page_saves_and_how_what_it_made_is_called_is_no_difference(
    stage: Stage, again: str, ends: TaskStatus
) -> None:
    numbers = iter(range(1, 100))
    stage.site.route("/state", lambda _request: Reply(b"", status=204))
    stage.site.route(
        "/items",
        lambda request: Reply(f"n{next(numbers)}".encode(), status=201 if request.method == "POST" else 200),
    )
    twice = "await put(`/state?${Date.now()}`);" * 2
    url = stage.site.page(MAKING % twice, path="/making")
    recorded = await record(stage, url, click("button", "Make"))
    stage.site.page(MAKING % again, path="/making")
    outcome = await stage.replay(recorded).run()
    assert outcome.status is ends, outcome
