"""The pages on which people give what is secret."""

import base64
import hashlib
from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest_asyncio
from pydantic import SecretStr
from starlette.applications import Starlette

from mcp_browser.server.elicitation import SecretForm, SecretForms
from mcp_browser.server.http.middleware import middleware_stack
from mcp_browser.server.http.secret_pages import LONGEST_ANSWER, STYLE, secret_route
from mcp_browser.server.principals import SettingsOf
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

BASE = "http://127.0.0.1:8585"
OWN = {"Origin": BASE}


class Place:
    """A server that asks everybody else for a token, and one form of it."""

    def __init__(self, forms: SecretForms, form: SecretForm) -> None:
        settings = Settings(
            server=ServerSettings(http=True, path_prefix="/browser"),
            access=AccessSettings(token=SecretStr("t" * 32)),
        )
        self.forms, self.form = forms, form
        self.path = form.url.removeprefix(BASE)
        self.refusals: list[str] = []
        app = Starlette(
            routes=[secret_route(self.forms, prefix="/browser")],
            middleware=middleware_stack(SettingsOf(settings), self.refusals.append),
        )
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=BASE)


@pytest_asyncio.fixture(loop_scope="session")
async def place() -> AsyncIterator[Place]:
    forms = SecretForms()
    asked = ('Your "password" for <shop>?', "shop.example", "Buy <tea>.")
    async with forms.asking(f"{BASE}/browser", *asked) as form:
        place = Place(forms, form)
        async with place.client:
            yield place


async def test_a_form_is_for_whoever_has_its_address_and_for_one_answer(place: Place) -> None:
    assert (await place.client.get("/browser/mcp")).status_code == 401
    shown = await place.client.get(place.path)
    assert shown.status_code == 200
    assert (await place.client.get(place.path)).status_code == 200, "looking at it does not use it up"
    assert "Your &quot;password&quot; for &lt;shop&gt;?" in shown.text
    assert "shop.example" in shown.text
    assert "Buy &lt;tea&gt;." in shown.text
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    assert f"<style>{STYLE}</style>" in shown.text
    assert f"style-src 'sha256-{digest}'" in shown.headers["content-security-policy"]
    assert shown.headers["cache-control"] == "no-store"
    assert "form-action 'self'" in shown.headers["content-security-policy"]
    answer = "Größe & more=1 +%"
    given = await place.client.post(place.path, data={"answer": answer}, headers=OWN)
    assert given.status_code == 200
    assert answer not in given.text
    assert (await place.form.answer).get_secret_value() == answer
    for again in (place.client.get(place.path), place.client.post(place.path, data={"answer": "x"})):
        assert (await again).status_code == 410


async def test_what_is_no_answer_or_too_long_is_asked_for_again(place: Place) -> None:
    long = b"answer=" + b"x" * LONGEST_ANSWER
    for body in (b"", b"answer=", b"other=x", b"answer=%ff", b"answer=\xff", b"a&" * 9, long):
        answered = await place.client.post(place.path, content=body, headers=OWN)
        assert answered.status_code == 400
        assert "<form" in answered.text
        assert not place.form.answer.done()


async def test_another_site_cannot_fill_a_form_in(place: Place) -> None:
    headers = {"Origin": "https://evil.example"}
    assert (await place.client.post(place.path, data={"answer": "x"}, headers=headers)).status_code == 403
    assert place.refusals == ["origin"]
    assert not place.form.answer.done()


async def test_a_form_ends_with_its_time_and_with_its_question(place: Place) -> None:
    place.form.expires = 0
    assert (await place.client.get(place.path)).status_code == 410
    async with place.forms.asking(f"{BASE}/browser", "Code?", "shop.example", "Buy tea.") as other:
        assert other.token != place.form.token
    assert (await place.client.get(other.url)).status_code == 410
    assert other.answer.cancelled()


async def test_an_address_begins_with_the_name_of_its_replica() -> None:
    """A proxy before several servers routes by it."""
    forms = SecretForms("b")
    async with forms.asking(BASE, "Code?", "shop.example", "Buy tea.") as form:
        assert form.token.startswith("b.")
        assert forms.find(form.token) is form
