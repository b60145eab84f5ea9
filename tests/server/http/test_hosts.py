import itertools

import pytest
from pydantic import SecretStr, ValidationError

from mcp_browser.errors import SettingsError
from mcp_browser.server.http.auth.middleware import check_exposure
from mcp_browser.server.http.middleware import known_names, split_host
from mcp_browser.settings import AccessSettings
from tests.server.http.conftest import Serve, Served

HOSTS = {
    **{"localhost": ("localhost", None), "LOCALHOST.:80": ("localhost", 80), "[::1]:8931": ("::1", 8931)},
    **{"[0:0:0:0:0:0:0:1]": ("::1", None), "127.0.0.1:0": ("127.0.0.1", 0)},
}
NO_HOSTS = """localhost: localhost:8931x localhost:123456 ::1 [::1 [localhost] user@localhost
    localhost#evil.example localhost/ löcalhost"""


@pytest.mark.parametrize("value", [*HOSTS, "", "localhost evil.example", *NO_HOSTS.split()])
def test_a_host_header_is_a_name_or_number_and_a_port(value: str) -> None:
    assert split_host(value) == HOSTS.get(value)


def test_a_name_may_be_allowed_at_one_port_only() -> None:
    allowed = ("Browser.Example.com", "other.example:8443", "[fd00::5]")
    knows = known_names(AccessSettings(allowed_hosts=allowed, public_url="https://b.example/x"))
    known = "browser.example.com browser.example.com:1 other.example:8443 [FD00:0::5]:80 b.example"
    unknown = "other.example other.example:80 x.browser.example.com browser.example.com.evil.example"
    assert all(knows(host, None) for host in known.split())
    assert not any(knows(host, None) for host in unknown.split())


def test_the_number_that_a_connection_arrived_at_is_known() -> None:
    known = known_names(AccessSettings())
    assert known("192.168.1.5:8931", "192.168.1.5")
    assert not known("192.168.1.6:8931", "192.168.1.5")


async def test_a_name_that_anybody_can_point_here_is_refused(served: Served) -> None:
    names = "evil.example localhost.evil.example 127.0.0.1.nip.io 127.1 0x7f.1 2130706433 0.0.0.0"
    for host, path in itertools.product(names.split(), ("/mcp", "/sse", "/healthz")):
        answer = await served.client.get(path, headers={"Host": host})
        assert answer.status_code == 421, host
        assert "--allowed-hosts" in answer.text
        assert host not in answer.text
    assert served.refused == {"host": 21}


async def test_a_request_without_a_host_is_refused(served: Served) -> None:
    assert b" 421 " in (await served.raw(b"GET /mcp HTTP/1.0\r\n\r\n")).partition(b"\r\n")[0]
    assert b" 400 " in (await served.raw(b"GET /mcp HTTP/1.1\r\n\r\n")).partition(b"\r\n")[0]


async def test_a_page_from_elsewhere_is_refused(serve: Serve) -> None:
    origins = """https://evil.example null file:// http://localhost.evil.example
        http://localhost@evil.example https://app.example.com.evil.example https://app.example.com:8443
        http://app.example.com chrome-extension://abcdefgh http:// localhost http://[""".split()
    async with serve(allowed_origins="https://app.example.com") as served:
        for origin, method in itertools.product(origins, ("GET", "POST", "OPTIONS", "DELETE")):
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            answer = await served.client.request(method, "/mcp", headers=headers)
            assert answer.status_code == 403, origin
            assert "access-control-allow-origin" not in answer.headers
        assert served.refused == {"origin": 4 * len(origins)}


async def test_names_and_pages_of_this_machine_are_let_in_but_may_not_read_across_origins(
    served: Served,
) -> None:
    port = served.port
    for host in ("localhost", f"LocalHost:{port}", f"localhost.:{port}", f"127.0.0.1:{port}", "[::1]:1"):
        assert await served.status(Host=host) == 200, host
    for origin in ("http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:3000"):
        answer = await served.client.post("/mcp", headers={"Origin": origin})
        assert answer.status_code == 200, origin
        assert "access-control-allow-origin" not in answer.headers


async def test_a_named_origin_may_ask_before_and_read_after(serve: Serve) -> None:
    origin = "https://app.example.com"
    async with serve(allowed_origins=origin, token="a-token-0123456789") as served:
        asking = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, mcp-param-session",
        }
        asked = await served.client.options("/mcp", headers=asking)
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == origin
        assert "mcp-param-session" in asked.headers["access-control-allow-headers"]
        refused = await served.client.post("/mcp", headers={"Origin": origin})
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == origin
        headers = {"Origin": origin, "Authorization": "Bearer a-token-0123456789"}
        answer = await served.client.post("/mcp", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "Mcp-Session-Id" in answer.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answer.headers
        assert "Origin" in answer.headers["vary"]


HTTPS = {"X-Forwarded-Proto": "https"}


@pytest.mark.parametrize(
    ("options", "forwarded", "own"),
    [
        ({"public_url": "https://b.example"}, {}, "https://b.example"),
        ({"public_url": "https://b.example:443/x"}, {"X-Forwarded-Proto": "http"}, "https://b.example"),
        ({"allowed_hosts": "b.example"}, {}, "http://b.example"),
        ({"allowed_hosts": "b.example"}, HTTPS, "http://b.example"),
        ({"allowed_hosts": "b.example", "trusted_proxies": "127.0.0.1"}, HTTPS, "https://b.example"),
    ],
)
async def test_a_page_of_the_same_name_by_another_scheme_or_port_is_refused(
    serve: Serve, options: dict[str, str], forwarded: dict[str, str], own: str
) -> None:
    async with serve(**options) as served:
        other = own.replace("https", "http") if own.startswith("https") else own.replace("http", "https")
        asked = {**dict.fromkeys((other, f"{own}:1", f"{other}:443", f"{other}:80"), 403), own: 200}
        asked[f"{own}:{443 if own.startswith('https') else 80}"] = 200
        for origin, status in asked.items():
            headers = {"Host": "b.example", "Origin": origin, **forwarded}
            answer = await served.client.post("/mcp", headers=headers)
            assert answer.status_code == status, origin
            assert status == 200 or "--public-url" in answer.text


async def test_a_token_in_the_address_is_refused_with_a_hint(served: Served) -> None:
    for query in ("token=abc", "x=1&access_token=abc", "ACCESS_TOKEN=abc", "api%5Fkey=", "a=1&" * 100):
        answer = await served.client.get(f"/mcp?{query}")
        assert answer.status_code == 400, query
        assert "Authorization: Bearer" in answer.text
        assert "abc" not in answer.text
    assert await served.status("/mcp?session_id=5") == 200


async def test_headers_that_two_servers_could_read_differently_are_refused(served: Served) -> None:
    hostile = [
        "Host: localhost\r\n",
        "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        "Origin: http://localhost\r\nOrigin: https://evil.example\r\n",
        "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "\tFolded: yes\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +5\r\n",
        "Bad\x00Name: 1\r\n",
    ]
    for headers in hostile:
        request = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n0\r\n\r\n"
        answer = await served.raw(f"{request}GET /mcp HTTP/1.1\r\n\r\n".encode("latin-1"))
        assert answer.split(b" ", 2)[1] in {b"400", b"421", b"501"}, headers
        assert answer.count(b"HTTP/1.1 ") == 1, "what follows must not be taken for another request"


REFUSED = {
    "allowed_origins": "* null https://*.example.com app.example.com https://app.example.com/",
    "allowed_hosts": "* https://browser.example.com",
    "trusted_proxies": "* proxy.example.com",
    "public_url": "browser.example.com https://browser.example.com?x=1",
    "oauth_issuer": "http://issuer.example.com",
}


@pytest.mark.parametrize("option", REFUSED)
def test_settings_that_would_let_in_anybody_are_refused(option: str) -> None:
    for value in REFUSED[option].split():
        with pytest.raises(ValidationError):
            AccessSettings.model_validate({option: value})


FORWARDED = {"X-Forwarded-For": "203.0.113.9", **HTTPS}


@pytest.mark.parametrize(
    ("trusted", "headers", "seen"),
    [
        ("192.0.2.1", {}, ("127.0.0.1", "http")),
        ("127.0.0.0/8", {}, ("203.0.113.9", "https")),
        (
            "127.0.0.0/8",
            {"X-Forwarded-For": "198.51.100.1, 203.0.113.9, 127.0.0.2"},
            ("203.0.113.9", "https"),
        ),
    ],
)
async def test_only_a_proxy_that_is_named_tells_whom_it_stands_for(
    serve: Serve, trusted: str, headers: dict[str, str], seen: tuple[str, str]
) -> None:
    async with serve(trusted_proxies=trusted) as served:
        answer = (await served.client.get("/mcp", headers=FORWARDED | headers)).json()
        assert (answer["client"], answer["scheme"]) == seen


@pytest.mark.parametrize(
    ("trusted", "statuses"), [("127.0.0.1", [200, 421, 421, 421]), ("192.0.2.1", [200, 200, 200, 421])]
)
async def test_the_forwarded_host_of_a_trusted_proxy_counts_in_addition_to_the_host(
    serve: Serve, trusted: str, statuses: list[int]
) -> None:
    async with serve(trusted_proxies=trusted, allowed_hosts="browser.example.com") as served:
        forwarded = ("browser.example.com", "evil.example", "browser.example.com, evil.example")
        found = [await served.status(X_Forwarded_Host=host) for host in forwarded]
        assert [*found, await served.status(X_Forwarded_Host="localhost", Host="evil.example")] == statuses


BEYOND = ["0.0.0.0", "::", "192.168.1.5", "browser.example.com", "", "localhost.evil.example"]
HERE = ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"]


@pytest.mark.parametrize("host", [*BEYOND, *HERE])
def test_beyond_this_machine_somebody_must_ask_who_calls(host: str) -> None:
    if host in HERE:
        check_exposure(AccessSettings(), host)
        return
    with pytest.raises(SettingsError, match="--tokens FILE") as caught:
        check_exposure(AccessSettings(), host)
    assert "--insecure" in str(caught.value)
    check_exposure(AccessSettings(insecure=True), host)
    check_exposure(AccessSettings(token=SecretStr("a-token-0123456789")), host)
    check_exposure(AccessSettings(oauth_issuer="https://issuer.example", oauth_audience=("x",)), host)


def test_an_issuer_without_an_audience_would_let_in_tokens_for_others() -> None:
    with pytest.raises(SettingsError, match="oauth-issuer needs oauth-audience"):
        check_exposure(AccessSettings(oauth_issuer="https://issuer.example"), "localhost")
    with pytest.raises(SettingsError, match="need oauth-issuer"):
        check_exposure(AccessSettings(oauth_scopes=("browse",)), "localhost")
