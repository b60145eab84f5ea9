import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import httpx2
import pytest

from mcp_browser.server.http.auth import oauth
from tests.server.http.conftest import Serve, Served, free_listener
from tests.server.http.issuer import AUDIENCE, OPENID, Issuer

pytestmark = pytest.mark.slow

NAMED = "a-named-token-0123456789"


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    issuer = Issuer(free_listener())
    async with issuer.running():
        yield issuer


def options(issuer: Issuer, **more: object) -> dict[str, object]:
    return {"oauth_issuer": issuer.url, "oauth_audience": AUDIENCE, "oauth_scopes": "browse", **more}


@pytest.fixture
async def served(serve: Serve, issuer: Issuer) -> AsyncGenerator[Served]:
    """A server that takes the issuer's tokens."""
    async with serve(**options(issuer)) as served:
        yield served


async def call(served: Served, token: str) -> httpx2.Response:
    return await served.client.post("/mcp", headers={"Authorization": f"Bearer {token}"})


async def status(served: Served, token: str) -> int:
    return (await call(served, token)).status_code


def challenge(answer: httpx2.Response) -> str:
    return answer.headers["www-authenticate"]


async def test_a_token_of_the_issuer_is_let_in_as_its_subject(served: Served, issuer: Issuer) -> None:
    answer = await call(served, issuer.token())
    assert answer.status_code == 200
    assert (answer.json()["principal"], answer.json()["subject"]) == ("alice", "alice")
    other_client = (await call(served, issuer.token(client_id="another"))).json()
    renewed = (await call(served, issuer.token(jti="2"))).json()
    assert answer.json()["id"] == renewed["id"] != other_client["id"]


async def test_scopes_may_stand_elsewhere_audiences_be_several_and_clocks_differ_a_little(
    served: Served, issuer: Issuer
) -> None:
    now = int(time.time())
    scopes: list[dict[str, Any]] = [{"scope": None, "scp": scp} for scp in (["browse"], "x browse")]
    audiences = [{"aud": [AUDIENCE, "else"]}, {"aud": [AUDIENCE]}]
    for claims in (*scopes, *audiences, {"exp": now - 10}, {"nbf": now + 10}):
        assert await status(served, issuer.token(**claims)) == 200, claims


@pytest.mark.parametrize("kind", ["EC", "OKP"])
async def test_keys_on_curves_count_too(served: Served, issuer: Issuer, kind: str) -> None:
    issuer.rotate("curve", kind)
    assert await status(served, issuer.token()) == 200


async def test_a_lacking_scope_is_forbidden_and_named(served: Served, issuer: Issuer) -> None:
    answer = await call(served, issuer.token(scope="browsed other"))
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in challenge(answer)
    assert 'scope="browse"' in challenge(answer)
    assert served.refused == {"insufficient_scope": 1}


async def test_tokens_that_do_not_count_are_refused(served: Served, issuer: Issuer) -> None:
    now = int(time.time())
    stranger = Issuer(free_listener())
    stranger.url = issuer.url
    stranger.listener.close()
    good = issuer.token()
    head, body, signature = good.split(".")
    wrong = {
        "expired": issuer.token(exp=now - 60),
        "not yet": issuer.token(nbf=now + 60),
        "from the future": issuer.token(iat=now + 600),
        "never ends": issuer.token(exp=None),
        "another audience": issuer.token(aud="https://elsewhere.example"),
        "no audience": issuer.token(aud=None),
        "longer audience": issuer.token(aud=f"{AUDIENCE}/more"),
        "another issuer": issuer.token(iss="https://elsewhere.example"),
        "no issuer": issuer.token(iss=None),
        "issuer with a slash": issuer.token(iss=f"{issuer.url}/"),
        "nobody": issuer.token(sub=None, client_id=None),
        "subject is no text": issuer.token(sub="", client_id=5),
        "another key of that name": stranger.token(),
        "alg none": issuer.unsigned_token(),
        "HS256 with the public key": issuer.confused_token(),
        "an ID token's kind": issuer.token(header={"typ": "dpop+jwt"}),
        "without signature": f"{head}.{body}.",
        "changed claims": f"{head}.{body[:-4]}AAAA.{signature}",
        "not base64": "a.b.c",
        "not a token": "eyJ",
        "empty parts": "..",
        "much too long": f"{head}.{'A' * 20_000}.{signature}",
        "kid is a path": issuer.token(header={"kid": "../../etc/passwd"}),
    }
    assert await status(served, good) == 200
    for name, token in wrong.items():
        answer = await call(served, token)
        assert answer.status_code == 401, name
        assert 'error="invalid_token"' in challenge(answer), name
        assert token not in answer.text
    assert await status(served, good) == 200


async def test_keys_are_kept_and_a_new_one_is_fetched_once(
    served: Served, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = issuer.token()
    for _ in range(3):
        assert await status(served, old) == 200
    assert issuer.requests.count("/jwks") == 1
    # A moment later they would be fetched again at most once in the pause, whatever tokens say.
    issuer.rotate("second")
    assert await status(served, issuer.token()) == 401
    assert issuer.requests.count("/jwks") == 1
    monkeypatch.setattr(oauth, "FETCH_PAUSE_SECONDS", 0)
    assert await status(served, issuer.token()) == 200
    assert await status(served, old) == 401
    monkeypatch.setattr(oauth, "FETCH_PAUSE_SECONDS", 10)
    before = issuer.requests.count("/jwks")
    for number in range(20):
        assert await status(served, issuer.token(header={"kid": f"made up {number}"})) in {401, 429}
    assert issuer.requests.count("/jwks") == before


async def test_keys_that_are_old_are_fetched_again(
    served: Served, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "FETCH_PAUSE_SECONDS", 0)
    monkeypatch.setattr(oauth, "KEYS_FRESH_SECONDS", 0)
    old = issuer.token()
    assert await status(served, old) == 200
    issuer.rotate("second")
    with anyio.fail_after(10):
        while await status(served, old) == 200:  # noqa: ASYNC110 (it is fetched unseen)
            await anyio.sleep(0.01)
    assert await status(served, old) == 401


async def test_an_issuer_that_hangs_holds_up_nobody_whose_key_is_known(
    served: Served, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "FETCH_PAUSE_SECONDS", 0)
    assert await status(served, issuer.token()) == 200
    monkeypatch.setattr(oauth, "KEYS_FRESH_SECONDS", 0)
    issuer.hangs = True
    before = len(issuer.requests)
    with anyio.fail_after(20):  # each that waits for a fetch takes 10
        for _ in range(4):
            assert await status(served, issuer.token()) == 200
    assert len(issuer.requests) - before == 1


async def test_calls_with_an_unknown_key_wait_for_one_fetch_together(
    served: Served, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "_FETCH_SECONDS", 1)
    issuer.hangs = True
    assert await asyncio.gather(*(status(served, issuer.token()) for _ in range(4))) == [503] * 4
    assert len(issuer.requests) == 1


async def test_an_issuer_that_is_down_does_not_shut_out_known_keys(
    serve: Serve, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(oauth, "FETCH_PAUSE_SECONDS", 0)
    async with serve(**options(issuer)) as served:
        issuer.status = 500
        answer = await call(served, issuer.token())
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "10"
        assert "authorization server" in answer.text
        assert served.refused == {"issuer_unreachable": 1}
        assert "Cannot get the keys" in caplog.text
        issuer.status = 200
        assert await status(served, issuer.token()) == 200
        issuer.status = 500
        monkeypatch.setattr(oauth, "KEYS_FRESH_SECONDS", 0)
        assert await status(served, issuer.token()) == 200
        monkeypatch.setattr(oauth, "KEYS_USABLE_SECONDS", 0)
        assert await status(served, issuer.token()) == 503
    unreachable = Issuer(free_listener())
    unreachable.listener.close()
    async with serve(**options(unreachable)) as served:
        assert await status(served, unreachable.token()) == 503


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"issuer": "https://elsewhere.example"}, "another issuer's"),
        ({"jwks_uri": "file:///etc/passwd"}, "names no jwks_uri"),
        ({"jwks_uri": None}, "names no jwks_uri"),
        ({"padding": "x" * 600_000}, "is too long"),
    ],
)
async def test_metadata_that_cannot_be_right_is_not_followed(
    served: Served, issuer: Issuer, change: dict[str, object], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    issuer.metadata |= change
    assert await status(served, issuer.token()) == 503
    assert told in caplog.text
    assert "/jwks" not in issuer.requests


async def test_openid_metadata_serves_as_well(served: Served, issuer: Issuer) -> None:
    issuer.served_at = OPENID
    assert await status(served, issuer.token()) == 200


async def test_keys_of_other_kinds_are_left_out(served: Served, issuer: Issuer) -> None:
    secret = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAx", "kid": "secret", "alg": "HS256"}
    broken, unknown = {"kty": "RSA", "kid": "broken"}, {"kty": "EC", "crv": "secp256k1"}
    issuer.more_keys = [secret, broken, "nonsense", unknown]
    assert await status(served, issuer.token()) == 200
    assert await status(served, issuer.token(header={"kid": "secret"})) == 401


async def test_named_tokens_count_beside_the_issuers(serve: Serve, issuer: Issuer) -> None:
    async with serve(**options(issuer, token=f"robot:{NAMED}")) as served:
        assert (await call(served, NAMED)).json()["principal"] == "robot"
        assert (await call(served, issuer.token())).json()["principal"] == "alice"


async def test_a_client_without_a_token_finds_the_issuer(served: Served, issuer: Issuer) -> None:
    for endpoint in ("/mcp", "/sse"):
        refused = await served.client.post(endpoint)
        assert refused.status_code == 401
        assert "error=" not in challenge(refused)
        address = challenge(refused).partition('resource_metadata="')[2].rstrip('"')
        assert address == f"{served.url}/.well-known/oauth-protected-resource{endpoint}"
        found = await served.client.get(address)
        assert found.status_code == 200
        assert found.json() == {
            "resource": f"{served.url}{endpoint}",
            "authorization_servers": [issuer.url],
            "scopes_supported": ["browse"],
            "bearer_methods_supported": ["header"],
            "resource_name": "mcp-browser",
        }

    found = await served.client.get("/.well-known/oauth-protected-resource")
    assert found.json()["resource"] == served.url
    assert (await served.client.head("/.well-known/oauth-protected-resource/mcp")).status_code == 200


async def test_behind_a_proxy_the_metadata_tells_the_public_address(serve: Serve, issuer: Issuer) -> None:
    public = "https://browser.example.com/team"
    async with serve(**options(issuer, public_url=public)) as served:
        refused = await served.client.post("/mcp")
        address = "https://browser.example.com/.well-known/oauth-protected-resource/team/mcp"
        assert f'resource_metadata="{address}"' in challenge(refused)
        found = await served.client.get("/.well-known/oauth-protected-resource/team/mcp")
        assert found.json()["resource"] == f"{public}/mcp"


async def test_paths_that_only_look_well_known_open_nothing(served: Served, issuer: Issuer) -> None:
    paths = {
        "/.well-known/oauth-protected-resource/else": 404,
        "/.well-known/oauth-protected-resource/mcp/..": 404,
        "/.well-known/oauth-protected-resource/%2e%2e/%2e%2e/mcp": 404,
        "/.well-known/oauth-authorization-server": 404,
        "/.well-known/../mcp": 404,
        "/.well-known/..%2f..%2fmcp": 404,
        "/.well-known": 401,
        "//.well-known/x": 401,
        "/mcp/.well-known/": 401,
        "/./mcp": 401,
        "//mcp": 401,
        "/mcp/": 401,
        "/MCP": 401,
    }
    for path, status in paths.items():
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        answer = await served.raw(head.encode())
        assert int(answer.split(b" ", 2)[1]) == status, path
    posted = await served.client.post("/.well-known/oauth-protected-resource/mcp")
    assert posted.status_code == 405


async def test_without_an_issuer_there_is_no_metadata(serve: Serve) -> None:
    async with serve(token=NAMED) as served:
        assert (await served.client.get("/.well-known/oauth-protected-resource/mcp")).status_code == 404
        assert "resource_metadata" not in challenge(await served.client.get("/mcp"))
