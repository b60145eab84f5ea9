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
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.agent.task import Task, TaskStatus
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import InvalidArguments
from mcp_browser.llm.messages import Message
from tests.agent.conftest import cancel, click, done, fill, filling, index_of, output, replay, run_agent
from tests.agent.test_history import written
from tests.support.site import Reply, Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SHOP = resources.files("mcp_browser").joinpath("assets", "try.html").read_text()


def order(messages: Sequence[Message]) -> dict[str, Any]:
    """The form of the shop, filled in and sent."""
    day = {"select_option": {"index": index_of(messages, "combobox", "Day"), "options": ["Sunday"]}}
    tea = {"set_checked": {"index": index_of(messages, "checkbox", "With tea"), "checked": False}}
    send = {"click_element": {"index": index_of(messages, "button", "Reserve")}}
    return output(filling(messages, "textbox", "Name", "Ann"), day, tea, send)


async def record(session: BrowserSession, url: str | None, *script: Any, **options: Any) -> AgentHistory:
    """The history of a run that did this."""
    secrets = options.pop("secrets", Secrets())
    task = Task(text="Do it.", start_url=url, secrets=secrets.names)
    agent, outcome = await run_agent(task, [*script, done()], session, secrets=secrets)
    assert outcome.succeeded, outcome
    return agent.history


async def said(session: BrowserSession, selector: str = "output") -> str:
    return await session.current_tab.page.locator(selector).first.inner_text()


async def test_a_run_in_the_shop_is_done_again_with_other_values(
    session: BrowserSession, site: Site, tmp_path: Path
) -> None:
    recorded = await record(session, site.publish(SHOP.encode()), order)
    assert await said(session) == "See you on Sunday, Ann."
    entered = {"Name": ["Ann"], "name": ["Ann"], "Day": ["Sunday"], "day": ["Sunday"]}
    assert entered_values(recorded) == entered
    outcome = await replay(session, recorded).run()
    assert outcome.succeeded, outcome
    assert outcome.data["departures"] == []
    assert outcome.data["actions"] == 4
    assert await said(session) == "See you on Sunday, Ann."
    folder = TaskFolder(tmp_path)
    again = replay(session, recorded, variables={"name": "Zoë", "Sunday": "Friday"}, folder=folder)
    assert (await again.run()).succeeded
    await again.write_up()
    assert await said(session) == "See you on Friday, Zoë."
    written(tmp_path)
    saved = folder.history()
    assert saved.replay_of == recorded.id
    assert saved.status is TaskStatus.SUCCEEDED
    report = (tmp_path / "report.html").read_text()
    assert "had the same effect as in the recorded run" in report
    assert "<img" in report


async def test_unknown_variables_and_missing_secrets_are_told_before_anything_is_done(
    session: BrowserSession, site: Site
) -> None:
    body = "<label>Name <input></label>"
    secrets = Secrets({"wörd": Secret.model_validate({"value": "swordfish", "domains": ["127.0.0.1"]})})
    typed = fill("textbox", "Name", "<secret>\nwörd</secret>")
    recorded = await record(session, site.page(body), typed, secrets=secrets)
    with pytest.raises(InvalidArguments, match="no field and no value 'Town'"):
        replay(session, recorded, variables={"Town": "Rome"})
    with pytest.raises(InvalidArguments, match="types the secret 'wörd'"):
        replay(session, recorded)
    with pytest.raises(InvalidArguments, match="'Name' is filled from a secret"):
        replay(session, recorded, variables={"Name": "plain"}, secrets=secrets)
    outcome = await replay(session, recorded, secrets=secrets).run()
    assert outcome.succeeded
    assert await session.current_tab.page.locator("input").input_value() == "swordfish"
    assert "swordfish" not in outcome.model_dump_json()


CHANGED = {
    "ids": ("id=who", "id=who-7f3"),
    "names": (">Send<", ">Send it<"),
    "order": ("<i></i>", "<button id=else type=button onclick=\"out.textContent = 'wrong'\">Else</button>"),
}
FORM = """<form onsubmit="event.preventDefault(); out.textContent = 'Hello ' + this.elements.name.value">
<i></i><label>Name <input id=who name=name></label><button id=send>Send</button></form><p id=out></p>"""


async def test_it_says_where_it_departs_on_a_changed_page(session: BrowserSession, site: Site) -> None:
    def send(page: Sequence[Message]) -> dict[str, Any]:
        click = {"click_element": {"index": index_of(page, "button", "Send")}}
        return output(filling(page, "textbox", "Name", "Ann"), click)

    url = site.page(FORM, path="/changing")
    recorded = await record(session, url, send)
    told: dict[str, list[str]] = {}
    for change, (old, new) in CHANGED.items():
        site.page(FORM.replace(old, new), path="/changing")
        outcome = await replay(session, recorded, sure_seconds=0).run()
        assert outcome.succeeded, (change, outcome)
        assert await said(session, "#out") == "Hello Ann", change
        told[change] = outcome.data["departures"]
    (by_name,) = told["ids"]
    assert by_name.startswith('input_text: textbox "Name" was found by an attribute')
    (by_id,) = told["names"]
    assert by_id.startswith('click_element: button "Send" was found by an attribute that has stayed, as [')
    assert by_id.endswith('button "Send it"')
    (moved,) = told["order"]
    assert 'button "Send"' in moved


async def test_an_element_is_the_recorded_one_where_the_record_hides_a_secret_of_its_address(
    session: BrowserSession, site: Site
) -> None:
    link = (
        "<a href='/status/200?token={}&way=1' onclick='out.textContent = this.id; return false' {}>Open</a>"
    )
    url = site.page(f"{link.format('abcdef123456', 'id=one')} {link.format('123456abcdef', '')}<p id=out>")
    recorded = await record(session, url, click("link", "Open"))
    assert "123456" not in recorded.model_dump_json()
    outcome = await replay(session, recorded).run()
    assert (outcome.succeeded, outcome.data["departures"]) == (True, []), outcome


async def test_what_stands_between_two_hidden_secrets_of_an_address_is_compared(
    session: BrowserSession, site: Site
) -> None:
    link = "<a href='/status/200?token=abcdef123456&item={}&password=x1y2z3' onclick='return false'>Open</a>"
    recorded = await record(session, site.page(link.format(5), path="/pay"), click("link", "Open"))
    site.page(link.format(6), path="/pay")
    assert (await replay(session, recorded).run()).data["departures"]


async def test_it_waits_for_an_element_and_stops_at_one_that_does_not_come(
    session: BrowserSession, site: Site
) -> None:
    url = site.page(FORM, path="/late")
    recorded = await record(session, url, click("button", "Send"))
    late = (
        f"<script>addEventListener('load', () => setTimeout(() => document.body.innerHTML = `{FORM}`, 400))"
    )
    site.page(f"{late}</script>", path="/late")
    outcome = await replay(session, recorded).run()
    assert outcome.succeeded, outcome
    assert await said(session, "#out") == "Hello"
    site.page("<button>Cancel</button>", path="/late")
    outcome = await replay(session, recorded, element_seconds=0.2).run()
    assert outcome.status is TaskStatus.FAILED
    assert outcome.obstacle is not None
    assert 'Nothing on the page is like button "Send".' in outcome.obstacle
    assert "Step 1, click_element" in outcome.obstacle
    assert outcome.data["actions"] == 0


async def test_tabs_points_and_failed_actions_are_followed(session: BrowserSession, site: Site) -> None:
    second = site.page("<button onclick=\"this.textContent = 'Pressed'\">Press</button>")
    page = (
        f"<p style='margin:{{}}'><a href='{second}' target=_blank>Open</a><button onclick="
        "\"this.textContent = event.offsetX > 50 ? 'right' : 'left'\" style='width:80px'>Side</button></p>"
    )
    url = site.page(page.format("99px 0 0"))

    def wrong(_page: Sequence[Message]) -> dict[str, Any]:
        return output({"click_element": {"index": 9999}})

    async def point(_page: Sequence[Message]) -> dict[str, Any]:
        box = await session.current_tab.page.get_by_text("Side").bounding_box()
        assert box is not None
        view = session.current_tab.page.viewport_size
        assert view is not None
        at = f"{box['x'] + 70:.0f},{box['y'] + 8:.0f}@{view['width']}x{view['height']}"
        return output({"mouse_click": {"at": at}})

    async def back(_page: Sequence[Message]) -> dict[str, Any]:
        first = next(iter(session.tabs))
        return output({"switch_tab": {"tab": first}})

    recorded = await record(session, url, wrong, click("link", "Open"), click("button", "Press"), back, point)
    assert [action.call.name for action in recorded.actions()][-2:] == ["mouse_click", "done"]
    site.page(page.format("20px 300px"), path=url.removeprefix(site.url))
    before = set(session.tabs)
    outcome = await replay(session, recorded).run()
    assert outcome.succeeded, outcome
    assert len(set(session.tabs) - before) == 1
    assert await said(session, "button") == "right"
    newest = session.tabs[max(session.tabs)]
    assert await newest.page.locator("button").inner_text() == "Pressed"


async def test_a_replay_is_cancelled_at_once_and_leaves_the_session(
    session: BrowserSession, site: Site, tmp_path: Path
) -> None:
    url = site.page(FORM, path="/cancelled")
    recorded = await record(session, url, click("button", "Send"))
    site.page("Nothing", path="/cancelled")
    running = replay(session, recorded, folder=TaskFolder(tmp_path), element_seconds=60)
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
    result = await running.controller.execute("get_state", {}, session)
    assert result.observation is not None


@pytest.mark.parametrize("agrees", [None, False, True])
async def test_what_may_mean_something_else_by_now_is_asked_about_or_refused(
    session: BrowserSession, site: Site, agrees: bool | None
) -> None:
    page = "<p id=out></p><button id=send onclick=\"out.textContent = 'done'\">{}</button>"
    url = site.publish(page.format("Send order").encode())
    recorded = await record(session, url, click("button", "Send order"))
    site.publish(page.format("Delete all orders").encode(), path=url.removeprefix(site.url))
    asked: list[str] = []

    class Person(NobodyWatches):
        async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
            asked.append(question)
            return None if agrees is None else choices[0 if agrees else 1]

    outcome = await replay(session, recorded, watcher=Person()).run()
    assert '"Send order"' in asked[0]
    assert '"Delete all orders"' in asked[0]
    assert outcome.succeeded is bool(agrees)
    assert await said(session, "#out") == ("done" if agrees else "")
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
    session: BrowserSession, site: Site, now: tuple[str, str, int, str], ends: TaskStatus, why: str
) -> None:
    kind, extra, status, where = now
    site.route("/sent", lambda _request: Reply(b"<h1>Thank you</h1>"))
    first = "/sent/4711" if where != "/sent" else where
    url = site.page(SENDING.format("", "submit").replace("/sent", first), path="/sending")
    recorded = await record(session, url, fill("textbox", "Name", "Ann"), click("button", "Send"))
    site.route("/sent", lambda _request: Reply(b"<h1>Thank you</h1>", status=status))
    site.page(SENDING.format(extra, kind).replace("/sent", where), path="/sending")
    outcome = await replay(session, recorded, variables={"Name": "Zoë"}).run()
    assert outcome.status is ends, outcome
    assert why.format(site.url, site.url) in (outcome.obstacle or "")
    old = recorded.model_dump(
        mode="json", exclude={"steps": {"__all__": {"actions": {"__all__": {"evidence"}}}}}
    )
    outcome = await replay(session, AgentHistory.model_validate(old)).run()
    assert outcome.status is TaskStatus.UNCONFIRMED or ends is TaskStatus.FAILED


GO = '<button {}="out.textContent = 1">Go</button><p id=out></p>'


async def test_a_button_that_changes_nothing_any_more_is_a_difference(
    session: BrowserSession, site: Site
) -> None:
    recorded = await record(session, site.page(GO.format("onclick"), path="/going"), click("button", "Go"))
    site.page(GO.format("title"), path="/going")
    outcome = await replay(session, recorded).run()
    assert outcome.status is TaskStatus.FAILED
    assert "recorded the page changed, now it did not" in (outcome.obstacle or "")


TICK = (
    "<label><input type=checkbox {}>Go</label>"
    + "<p>A line of a page that is longer than what changes</p>" * 30
)


@pytest.mark.parametrize(
    ("now", "why"), [("checked", 'checkbox "Go" differs: recorded checked, now not checked'), ("title=x", "")]
)
async def test_a_tick_the_other_way_is_a_difference(
    session: BrowserSession, site: Site, now: str, why: str
) -> None:
    recorded = await record(session, site.page(TICK.format(""), path="/tick"), click("checkbox", "Go"))
    site.page(TICK.format(now), path="/tick")
    outcome = await replay(session, recorded).run()
    assert outcome.succeeded is not bool(why), outcome
    assert why in (outcome.obstacle or "")


async def test_a_value_is_written_into_addresses_as_a_form_does(session: BrowserSession, site: Site) -> None:
    site.route("/found", lambda request: Reply(f"<h1>{request.first('q')}</h1>".encode()))
    url = site.page("<form action=/found><label>City <input name=q></label><button>Go</button></form>")
    recorded = await record(session, url, fill("textbox", "City", "Ghent"), click("button", "Go"))
    outcome = await replay(session, recorded, variables={"City": "Zürich & Bern"}).run()
    assert outcome.succeeded, outcome
    assert await said(session, "h1") == "Zürich & Bern"


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
    session: BrowserSession, site: Site, again: str, ends: TaskStatus
) -> None:
    numbers = iter(range(1, 100))
    site.route("/state", lambda _request: Reply(b"", status=204))
    site.route(
        "/items",
        lambda request: Reply(f"n{next(numbers)}".encode(), status=201 if request.method == "POST" else 200),
    )
    twice = "await put(`/state?${Date.now()}`);" * 2
    url = site.page(MAKING % twice, path="/making")
    recorded = await record(session, url, click("button", "Make"))
    site.page(MAKING % again, path="/making")
    outcome = await replay(session, recorded).run()
    assert outcome.status is ends, outcome
