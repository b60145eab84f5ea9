import sys
from pathlib import Path

import pytest

from mcp_browser.errors import SettingsError
from mcp_browser.server.http.auth.tokens import TokenSource, add_token, new_token, read_tokens
from mcp_browser.settings import AccessSettings
from tests.server.http.conftest import Serve
from tests.support.principals import ALICE, BOB, bearer


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return write(tmp_path / "tokens", f"# who may come in\nalice: {ALICE}\n\nbob: {BOB}\n")


async def test_each_token_names_its_principal(serve: Serve, tokens: Path) -> None:
    async with serve(tokens=tokens) as served:
        alice = (await served.client.get("/mcp", headers=bearer(ALICE))).json()
        bob = (await served.client.get("/mcp", headers=bearer(BOB))).json()
        assert await served.status(authorization=f"bEARER  {ALICE}") == 200, "in any case"
    assert (alice["principal"], bob["principal"]) == ("alice", "bob")
    assert alice["id"] != bob["id"]
    assert alice["subject"] == "alice"
    assert alice["token"] == ""


async def test_without_a_token_that_counts_nobody_comes_in(serve: Serve, tokens: Path) -> None:
    async with serve(tokens=tokens) as served:
        for sent in ("", "Bearer not-the-token-of-anybody", f"Basic {ALICE}", "Bearer"):
            answer = await served.client.post("/mcp", headers={"Authorization": sent} if sent else {})
            challenge = answer.headers["www-authenticate"]
            assert answer.status_code == 401, sent
            assert challenge.startswith('Bearer realm="mcp-browser"')
            assert ("invalid_token" in challenge) == ("not-the-token" in sent)
        assert served.refused == {"unauthenticated": 4}
        assert await served.status("/healthz") == 200
        for path in ("/healthz/", "/%2e%2e/mcp", "/healthz/..%2fmcp"):
            assert await served.status(path) == 401


async def test_tokens_may_come_from_the_environment(serve: Serve) -> None:
    for token, principal in ((f"{BOB}", "default"), (f"alice:{ALICE}, bob:{BOB}", "bob")):
        async with serve(token=token) as served:
            answer = await served.client.get("/mcp", headers=bearer(BOB))
            assert answer.json()["principal"] == principal


async def test_a_changed_file_counts_without_a_restart(
    serve: Serve, tokens: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_browser.server.http.auth.tokens._LOOK_AGAIN_SECONDS", 0)
    async with serve(tokens=tokens) as served:

        async def status(token: str) -> int:
            return await served.status(**bearer(token))

        before = (await served.client.get("/mcp", headers=bearer(ALICE))).json()["id"]
        renewed = new_token()
        write(tokens, f"alice: {renewed}\n")
        assert [await status(token) for token in (ALICE, BOB, renewed)] == [401, 401, 200]
        assert (await served.client.get("/mcp", headers=bearer(renewed))).json()["id"] == before

        write(tokens, f"alice {ALICE}")
        assert [await status(token) for token in (ALICE, renewed)] == [401, 200]
        assert "line 1 must be `name: token`" in caplog.text
        caplog.clear()
        assert await status(renewed) == 200
        assert caplog.text == ""

        tokens.unlink()  # noqa: ASYNC240
        assert await status(renewed) == 200
        assert "cannot read the tokens" in caplog.text

        write(tokens, "")
        assert await status(renewed) == 401
    assert ALICE not in caplog.text
    assert renewed not in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_others_may_read_a_file_of_hashes_but_none_of_tokens_nor_write_any(tokens: Path) -> None:
    tokens.chmod(0o640)
    with pytest.raises(SettingsError, match=f"others may read the tokens in {tokens}: `chmod 600 {tokens}`"):
        read_tokens(tokens)
    path = tokens.with_name("hashes")
    add_token(path, "alice")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert [name for name, _ in read_tokens(path)] == ["alice"]
    path.chmod(0o666)
    with pytest.raises(SettingsError, match="others may write"):
        read_tokens(path)


def test_a_token_that_is_made_counts_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "tokens", f"bob: {BOB}")
    alice = add_token(path, "alice")
    second = add_token(path, "alice")
    source = TokenSource(AccessSettings(tokens=path))
    names = [source.name_of(token) for token in (alice, second, BOB, "x" * 40)]
    assert names == ["alice", "alice", "bob", None]
    assert alice not in path.read_text()
    assert len(alice) == 43


def test_tokens_in_toml_may_be_several_for_a_name(tmp_path: Path) -> None:
    several = f'alice = "{ALICE}"\nbob = ["{BOB}", "another-token-0123456789"]\n'
    path = write(tmp_path / "tokens.toml", several)
    assert [name for name, _ in read_tokens(path)] == ["alice", "bob", "bob"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokens", "alice: short", "line 1: a token is 16 or more"),
        ("tokens", f"\nal ice: {ALICE}", "line 2: a token's name is"),
        ("tokens", f"alice: {ALICE} {BOB}", "line 1: a token is"),
        ("tokens", "alice: sha256:abc", "line 1: a token is"),
        ("tokens.toml", "alice = 5", "alice must be a token, or a list of tokens"),
        ("tokens.toml", "alice = ", "cannot read the tokens"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place_and_without_the_token(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        read_tokens(write(tmp_path / name, content))
    assert ALICE not in str(caught.value)


def test_a_file_without_tokens_or_none_at_all_does_not_start_a_server(tmp_path: Path) -> None:
    empty = write(tmp_path / "tokens", "# none\n")
    for settings, message in (
        ({"tokens": empty}, r"holds no token; `mcp-browser token NAME --tokens"),
        ({"tokens": tmp_path / "missing"}, r"cannot read the tokens in .*: No such file"),
        ({"token": " , "}, "MCP_BROWSER_TOKEN holds no token"),
        ({"token": f"{ALICE},bob:short"}, "MCP_BROWSER_TOKEN, token 2: a token is"),
    ):
        with pytest.raises(SettingsError, match=message):
            TokenSource(AccessSettings.model_validate(settings))


async def test_an_address_that_tries_tokens_is_slowed_down_and_others_are_not(
    serve: Serve, tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_browser.server.http.auth.middleware.WRONG_TOKENS_AT_ONCE", 3)
    async with serve(tokens=tokens) as served:
        found = [(await served.client.get("/mcp", headers=bearer(f"wrong-token-{n}"))) for n in range(5)]
        assert [answer.status_code for answer in found] == [401, 401, 401, 429, 429]
        assert int(found[-1].headers["retry-after"]) >= 1
        assert await served.status(**bearer(ALICE)) == 200
