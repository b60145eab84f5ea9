"""Passwords and tokens in addresses are redacted in results, and restored where an address is given back."""

import json
import re

import pytest

from mcp_browser.errors import NavigationError
from mcp_browser.privacy.hiding import SessionAddresses, redact_addresses
from tests.actions.hand import Hand
from tests.support.site import Reply, Site

pytestmark = pytest.mark.fresh

TOKEN = "tok3n-of-ann"
WORD = "hunter2pass"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Opened https://ann:hunter2@x.io/a.", "Opened https://ann:[redacted]@x.io/a."),
        ("https://a:p@ss@x.io/", "https://a:[redacted]@x.io/"),
        ("https://ghp_0123456789@x.io/", "https://[redacted]@x.io/"),
        (f"https://{'t' * 40}:x-oauth-basic@x.io/", "https://[redacted]@x.io/"),
        ("https://ann:hunt…", "https://ann:[redacted]…"),
        ("ssh://git@x.io/a", "ssh://git@x.io/a"),
        ("postgres://ann:hunter2@db/x", "postgres://ann:[redacted]@db/x"),
        ("→ /reset?access_token=abc&page=2#part", "→ /reset?access_token=[redacted]&page=2#part"),
        ('<a href="/a?b=1&amp;token=abc">', '<a href="/a?b=1&amp;token=[redacted]">'),
        ('{"url": "/a?b=1\\u0026token=abc"}', '{"url": "/a?b=1\\u0026token=[redacted]"}'),
        ("(see /a?token=abc), then", "(see /a?token=[redacted]), then"),
        ("/cb#id_token=abc&x=1", "/cb#id_token=[redacted]&x=1"),
        ("/a;jsessionid=AB12?x=1", "/a;jsessionid=[redacted]?x=1"),
        ("/login?next=%2Fa%3Ftoken%3Dabc%26x%3D1", "/login?next=%2Fa%3Ftoken%3D[redacted]%26x%3D1"),
        ("/go?to=https%3A%2F%2Fann%3Aab%40x.io", "/go?to=https%3A%2F%2Fann:[redacted]%40x.io"),
        ("/a?user%5Bpassword%5D=abc", "/a?user%5Bpassword%5D=[redacted]"),
        ("/a?token=[redacted]&x=1", "/a?token=[redacted]&x=1"),
    ],
)
def test_a_secret_in_an_address_is_redacted(text: str, shown: str) -> None:
    assert redact_addresses(text) == shown
    assert redact_addresses(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://x.io/a?page=2&code=7&key=k&session=3&sig=abc&pin=12&max_tokens=5&state=x",
        "https://x.io/@ann/notes?author=bo&passenger=2&keyword=token",
        "mail ann@x.io, price = 3, token=abc in a sentence, https://x.io:8080/a",
    ],
)
def test_other_parameters_and_texts_stay(text: str) -> None:
    assert redact_addresses(text) == text


@pytest.mark.parametrize(
    "piece", ["?", "//", "://a", "?a%", "&token=", "%3A%2F%2F", "://a:b", ")", "https://", "?token=))))"]
)
def test_a_long_text_is_redacted_in_linear_time(piece: str) -> None:
    redact_addresses(f"=@{piece * 50_000}")


def test_an_original_is_restored_only_for_the_same_whole_address() -> None:
    addresses = SessionAddresses()
    addresses.redact("See https://x.io/a?token=one and https://x.io/b?token=two.")
    assert addresses.restore("https://x.io/a?token=[redacted]") == "https://x.io/a?token=one"
    assert addresses.restore("https://x.io/b?token=[redacted]") == "https://x.io/b?token=two"
    for other in ("https://y.io/a", "http://x.io/a", "https://x.io:8443/a", "https://x.io/c"):
        with pytest.raises(NavigationError, match="this session has not shown it"):
            addresses.restore(f"{other}?token=[redacted]")
    addresses.redact("https://x.io/a?token=three")
    with pytest.raises(NavigationError, match="several addresses look like it"):
        addresses.restore("https://x.io/a?token=[redacted]")


def test_an_address_that_hosts_are_read_from_differently_is_not_restored() -> None:
    addresses = SessionAddresses()
    for original in (r"https://good.io\@evil.io/?token=abc", "https://good.io/?token=cut…"):
        addresses.redact(original)
        with pytest.raises(NavigationError):
            addresses.restore(redact_addresses(original))


def test_originals_are_kept_up_to_a_bound_and_may_be_shown() -> None:
    assert SessionAddresses(show=True).redact("https://x.io/?token=abc") == "https://x.io/?token=abc"
    addresses = SessionAddresses()
    for number in range(3_000):
        addresses.redact(f"https://x.io/{number}?token=abc")
    assert addresses.restore("https://x.io/2999?token=[redacted]")
    with pytest.raises(NavigationError):
        addresses.restore("https://x.io/0?token=[redacted]")


async def secret_page(hand: Hand, site: Site) -> str:
    """A page whose address has user information and a token, and that repeats it in all places."""
    site.publish(
        f"""<title>at {site.url}/kept?access_token={TOKEN}</title>
        <a href="/next?token={TOKEN}&page=2">Next</a>
        <a href="http://ann:{WORD}@localhost:{site.port}/far?x=1">Far</a>
        <a href="/long?{"y=1&" * 40}access_token={TOKEN}">Long</a>
        <iframe src="/in?password={WORD}" title=Frame width=200 height=100></iframe>
        <p>{site.url}/text?api_key={TOKEN}</p>
        <input aria-label=Link value="{site.url}/value?token={TOKEN}">
        <button onclick="alert('{site.url}/said?token={TOKEN}')">Ask</button>
        <button onclick="console.error('{site.url}/log?token={TOKEN}')">Log</button>
        <a href="/file?token={TOKEN}" download=bill.txt>File</a>""".encode(),
        path="/kept",
    )
    site.publish(b"<p>Inside", path="/in")
    site.publish(b"bill", path="/file", content_type="application/octet-stream")
    return f"http://ann:{WORD}@127.0.0.1:{site.port}/kept?access_token={TOKEN}"


async def test_no_result_shows_a_secret_of_an_address(hand: Hand, site: Site) -> None:
    url = await secret_page(hand, site)
    opened = await hand.do("go_to_url", url=url)
    assert f'url="http://ann:[redacted]@127.0.0.1:{site.port}/kept?access_token=[redacted]"' in opened
    assert "→ /next?token=[redacted]&page=2" in opened
    assert f"→ http://ann:[redacted]@localhost:{site.port}/far?x=1" in opened
    assert re.search(r'link "Long" → /long\?y=1.*….*token=\[redacted\]', opened)
    assert "→ /in?password=[redacted]" in opened
    results = [hand.result.model_dump_json()]

    async def do(action: str, **arguments: object) -> None:
        await hand.do(action, **arguments)
        results.append(hand.result.model_dump_json())

    await do("open_tab", url=f"{site.url}/kept?access_token={TOKEN}")
    await do("switch_tab", tab=1)
    await do("get_state")
    await do("find_elements", text="Next")
    await do("get_html")
    await do("extract_content")
    await do("evaluate_script", script="[location.href, {url: location.href}]")
    await do("click_element", index=hand.index("Log"))
    await do("get_console_messages")
    await do("get_network_requests")
    await do("click_element", index=hand.index("File"))
    await do("list_files")
    await do("click_element", index=hand.index("Ask"))
    await do("handle_dialog", accept=True)
    results.append(await hand.fails("wait_for", text="never", timeout=0.2))
    results.append(await hand.fails("go_to_url", url=f"http://ann:{WORD}@127.0.0.1:1/?token={TOKEN}"))
    told = "\n".join((hand.told, *results))
    assert TOKEN not in told
    assert WORD not in told
    for place in ("text?api_key", "value?token", "said?token", "log?token", "file?token"):
        assert f"{place}=[redacted]" in told


@pytest.mark.parametrize("action", ["go_to_url", "open_tab"])
async def test_a_redacted_address_opens_the_original(hand: Hand, site: Site, action: str) -> None:
    asked: list[dict[str, list[str]]] = []
    site.route("/next", lambda request: (asked.append(request.query), Reply(b"<h1>Came"))[1])
    await hand.do("go_to_url", url=await secret_page(hand, site))
    await hand.do(action, url="/next?token=[redacted]&page=2")
    assert asked.pop() == {"token": [TOKEN], "page": ["2"]}
    assert TOKEN not in hand.told
    kept = f"http://ann:[redacted]@127.0.0.1:{site.port}/kept?access_token=[redacted]"
    assert "Next" in await hand.do(action, url=kept)
    await hand.do(action, url=f"{site.url}/next?token=%5Bredacted%5D&page=2")
    assert asked.pop() == {"token": [TOKEN], "page": ["2"]}


async def test_an_address_of_the_request_list_opens_the_original(hand: Hand, site: Site) -> None:
    asked: list[dict[str, list[str]]] = []
    site.route("/called", lambda request: (asked.append(request.query), Reply(b"<h1>Came"))[1])
    await hand.do("get_network_requests")
    await hand.open(f"<script>fetch('/called?session_key={TOKEN}&code=12345678&x=1')</script>")
    await hand.do("wait_for_response", url="/called")
    listed = await hand.do("get_network_requests", url="/called")
    shown = "/called?session_key=[redacted]&code=[redacted]&x=1"
    assert shown in listed
    await hand.do("go_to_url", url=shown)
    assert asked == [{"session_key": [TOKEN], "code": ["12345678"], "x": ["1"]}] * 2
    assert TOKEN not in hand.told


async def test_a_redacted_address_is_opened_at_no_other_origin(hand: Hand, site: Site) -> None:
    asked: list[dict[str, list[str]]] = []
    site.route("/next", lambda request: (asked.append(request.query), Reply(b"<h1>Came"))[1])
    site.page(f'<a href="/next?token={TOKEN}">Inner</a>', path="/framed")
    await hand.open(f'<iframe src="{site.other}/framed" title=Other width=300 height=200></iframe>')
    assert "→ /next?token=[redacted]" in hand.told
    for url in ("/next?token=[redacted]", f"{site.url}/next?token=[redacted]"):
        assert "cannot be restored" in await hand.fails("go_to_url", NavigationError, url=url)
    assert not asked
    await hand.do("go_to_url", url=f"{site.other}/next?token=[redacted]")
    assert asked == [{"token": [TOKEN]}]


async def test_an_exported_script_takes_the_secret_from_the_environment(hand: Hand, site: Site) -> None:
    await hand.do("go_to_url", url=f"{site.page('<h1>Here')}?token={TOKEN}")
    text = await hand.do("export_script")
    data = json.dumps(hand.result.data) + text
    files = [file.path for file in hand.session.artifacts.files() if file.name.endswith(".py")]
    script = "".join(path.read_text() for path in files) + data
    assert TOKEN not in script
    assert "secret(" in script
