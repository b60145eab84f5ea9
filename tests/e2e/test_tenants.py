"""Clients of one server that must not get at each other: files, secrets, tools, disk, connections."""

import asyncio
import json
import re
import stat
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from tests.support.agents import Desk, data, done, output, refused, text
from tests.support.client import MODERN_FIRST, Era
from tests.support.load import load
from tests.support.principals import BEARERS, TOKENS, bearer, private_file
from tests.support.remote import RemoteBrowser, client_of, connected, files_in, serving
from tests.support.site import Site


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_files_lie_in_a_folder_of_the_clients_own_that_nobody_else_reads(
    site: Site, tmp_path: Path
) -> None:
    output_dir = tmp_path / "out"
    page = site.page("<a href='/download/a.txt?text=mine'>Mine</a>")
    flags = ("--http", "--tools", "core,files,storage", "--output-dir", str(output_dir))
    async with serving(*flags, environment=BEARERS) as server:
        told: list[str] = []
        for name in ("alice", "bob"):
            async with connected(server.url, headers=bearer(name)) as browser:
                await browser.open(page)
                for file in ("logins.json", *re.findall(r"browser://\S+\.json", "".join(told))):
                    why = await browser.refused("load_storage_state", file=file)
                    assert "logins" not in why.replace(file, "")
                told.append(await browser.click("link", "Mine"))
                told.append(await browser.do("save_storage_state", name="logins"))
    assert str(tmp_path) not in "".join(told)
    folders = sorted(output_dir.iterdir())
    assert [folder.name.partition("-")[0] for folder in folders] == ["alice", "bob"]
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {"a.txt", "logins.json"}
        assert {mode(path) for path in folder.iterdir()} == {0o600}
        assert mode(folder) == mode(output_dir) == 0o700


async def test_a_download_is_stopped_at_its_limit_while_it_comes(site: Site, tmp_path: Path) -> None:
    flags = ("--http", "--tools", "core,files", "--max-download-size", "1", "--output-dir", str(tmp_path))
    endless = f"<a href='/download/endless.bin?every=0.01&text={'a' * 10_000}'>Endless</a>"
    async with serving(*flags) as server, connected(server.url) as browser:
        await browser.open(site.page(endless))
        await browser.click("link", "Endless")
        ended = await browser.call("wait_for_download", timeout=30)
        assert "endless.bin" in ended.text
        assert "stopped, since a download may have 1.0 MB at most" in ended.text
        assert "Endless" in await browser.snapshot()
    assert files_in(tmp_path) == []


async def test_the_files_of_one_client_take_no_more_than_they_may(site: Site, tmp_path: Path) -> None:
    async def fill(browser: RemoteBrowser, count: int) -> None:
        for number in range(count):
            content = f"data:text/plain,{'x' * 400_000}"
            await browser.open(site.page(f"<a download='{number}.txt' href='{content}'>File</a>"))
            await browser.click("link", "File")

    flags = ("--http", "--tools", "core", "--output-dir", str(tmp_path), "--max-disk-per-client", "1")
    async with serving(*flags, environment=BEARERS) as server:
        for _ in range(2):
            async with connected(server.url, headers=bearer("alice")) as browser:
                await fill(browser, 3)
                await browser.call("close_session")
    assert 0 < sum(path.stat().st_size for path in files_in(tmp_path)) <= 1_000_000


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_what_a_principal_may_use_is_its_own(site: Site, tmp_path: Path, era: Era) -> None:
    desk = Desk(tmp_path)
    desk.follow(output({"input_text": {"index": 1, "text": "<secret>word</secret>"}}), done("Typed."))
    private_file(
        tmp_path / "secrets.toml",
        f'[word]\nvalue = "swordfish"\norigins = ["{site.url}"]\nprincipals = ["alice"]\n'
        '[other]\nvalue = "other"\norigins = ["https://a.example"]\n',
    )
    config = tmp_path / "server.toml"
    config.write_text(
        '[principals."*"]\nsecrets = "secrets.toml"\nallowed-models = ["none:*"]\n'
        '[principals.bob]\ntools = ["core", "storage"]\nmax-sessions-per-client = 1\n'
        'block-domains = ["localhost"]\n'
        "[principals.dan]\nread-only = true\n"
        '[principals.carol]\nrate-limit = 2\naudit-log = "carol.jsonl"\npolicy = "carol.toml"\n'
    )
    (tmp_path / "carol.toml").write_text('[[rule]]\nnames = ["Pay"]\ndecision = "deny"\n')
    flags = ("--http", *desk.flags, "--config", str(config))
    async with (
        serving(*flags, environment=BEARERS) as server,
        client_of(server.url, era, headers=bearer("alice")) as alice,
        client_of(server.url, era, headers=bearer("bob")) as bob,
        client_of(server.url, era, headers=bearer("carol")) as carol,
        client_of(server.url, era, headers=bearer("dan")) as dan,
    ):
        names = [{tool.name for tool in (await client.list_tools()).tools} for client in (alice, bob)]
        assert names[1] - names[0] == {
            tool for tool in names[1] if "cookie" in tool or "storage" in tool or tool == "clear_site_data"
        }
        assert len(names[1]) > len(names[0])
        arguments = {"task": "Type.", "start_url": site.page("<input>"), "secrets": ["word"]}
        typed = await alice.call_tool("run_task", arguments)
        assert data(typed)["status"] == "succeeded", text(typed)
        assert "Secrets: other." in await refused(bob, "run_task", arguments)
        other = {"task": "Type.", "model": "openai:gpt"}
        assert "may not be used here" in await refused(bob, "run_task", other)
        with pytest.raises(Exception, match="Unknown tool"):
            await alice.call_tool("get_cookies", {})
        bobs = RemoteBrowser(bob)
        await bobs.call("new_session")
        assert "as many as one client may have" in await bobs.refused("new_session")
        blocked = await bobs.call("go_to_url", url=site.page("Here").replace(site.url, site.other))
        assert "blocked by --block-domains" in blocked.text
        payments: list[bool | None] = []
        for client in (alice, carol):
            browser = RemoteBrowser(client)
            await browser.open(site.page("<button>Pay</button>").replace(site.url, site.other))
            payments.append(
                (await browser.call("click_element", index=browser.find("button", "Pay"))).is_error
            )
        assert payments == [False, True]
        reading = RemoteBrowser(dan)
        url = site.page("<button onclick=\"document.title = 'Changed'\">Change</button>")
        index = (await reading.open(url), reading.find("button", "Change"))[1]
        offered = {tool.name for tool in (await dan.list_tools()).tools}
        assert offered.isdisjoint(
            {"click_element", "input_text", "evaluate_script", "handle_dialog", "replay_task"}
        )
        with pytest.raises(Exception, match="Unknown tool"):
            await dan.call_tool("click_element", {"index": index})
        desk.follow(output({"click_element": {"index": index}}), done("Clicked."))
        tried = await dan.call_tool("run_task", {"task": "Click.", "start_url": url, "judge": False})
        assert "The task is unconfirmed." in text(tried)
        assert "Changed" not in await reading.snapshot()
        audit = (tmp_path / "carol.jsonl").read_text()
        assert {json.loads(line)["principal"] for line in audit.splitlines()} == {"carol"}
        statuses = {
            name: {server.get("/none", headers=bearer(name))[0] for _ in range(60)}
            for name in ("bob", "carol")
        }
        assert statuses == {"bob": {404}, "carol": {404, 429}}


MINE = """<h1>Mine</h1><textarea aria-label=Text>{name}</textarea>
<a href='/download/{name}.txt?text={name}'>File</a>
<script>
  document.title = 'was ' + (localStorage.who || 'nobody') + document.cookie;
  localStorage.who = '{name}'; document.cookie = 'who={name}';
</script>"""


COPYING = """<textarea aria-label=Text>{text}</textarea><input aria-label=Field>
<button onclick="navigator.clipboard.writeText('by a button')">Write</button>
<button onclick="document.querySelector('textarea').select(); document.execCommand('copy')">Copy</button>
<script>
  const field = document.querySelector('input'), seen = [];
  for (const type of ['keydown', 'copy', 'cut', 'paste'])
    addEventListener(type, event => { seen.push(type + (event.clipboardData?.getData('text/plain') ?? '')) });
</script>"""


async def test_nobody_pastes_what_another_anonymous_client_has_copied(site: Site) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving("--http", "--tools", "core,scripting,emulation"))
        ann, bob = [await stack.enter_async_context(connected(server.url, "legacy")) for _ in range(2)]

        async def keys(browser: RemoteBrowser, name: str, pressed: str) -> None:
            index = await browser.look_for("textbox", name)
            await browser.do("send_keys", index=index, keys=pressed)

        async def pasted(browser: RemoteBrowser) -> str:
            await keys(browser, "Field", "Control+A Control+V")
            return (await browser.call("evaluate_script", script="field.value")).text

        await ann.open(site.page(COPYING.replace("{text}", "of Ann")))
        await bob.open(site.page(COPYING.replace("{text}", "of Bob")))
        await keys(ann, "Text", "Control+A Control+C")
        assert "Ann" not in await pasted(bob)
        for button, text in (("Write", "by a button"), ("Copy", "of Ann")):
            await ann.click("button", button)
            assert text not in await pasted(bob)
            assert text in await pasted(ann)
        await keys(bob, "Text", "Control+A Control+X")
        assert "of Ann" in await pasted(ann)
        await ann.open(site.page(COPYING.replace("{text}", "of nobody")))
        assert "of Ann" in await pasted(ann)
        await keys(bob, "Field", "Shift+Insert")
        seen = (await bob.call("evaluate_script", script="seen.join() + field.value")).text
        assert "of Bob" in seen
        assert all(type in seen for type in ("keydown", "cut", "pasteof Bob"))
        for script in ("navigator.clipboard.readText()", "document.execCommand('paste') + field.value"):
            assert "of Ann" not in (await bob.call("evaluate_script", script=script)).text
        refused = await bob.call("emulate", permissions=["clipboard-read"])
        assert "shared with other clients" in refused.text


PAYING = "<h1>Again</h1><textarea aria-label=Text></textarea>" + "".join(
    f"<button>Pay {name}</button>" for name in TOKENS
)
TYPING = "<input oninput=\"fetch('/typed?by={name}&value=' + this.value)\">"


async def test_many_clients_of_three_principals_see_nothing_of_each_other(site: Site, tmp_path: Path) -> None:
    desk, config = Desk(tmp_path), tmp_path / "server.toml"
    typing = ({"send_keys": {"keys": keys}} for keys in ("Tab", "<secret>word</secret>"))
    desk.follow(output(*typing), done("Typed."))
    principals = [*TOKENS][:3]
    tables = [
        '[principals."*"]\ntools = ["core", "agent"]',
        '[principals.bob]\ntools = ["core", "agent", "files"]',
    ]
    for name in principals:
        # One name, and another value and rule for each.
        secrets, policy = tmp_path / f"{name}.secrets", tmp_path / f"{name}.policy"
        private_file(secrets, f'[word]\nvalue = "word-of-{name}"\norigins = ["{site.url}"]\n')
        policy.write_text(f'[[rule]]\nnames = ["Pay {name}"]\ndecision = "deny"\n')
        tables.append(f'[principals."{name}*"]\nsecrets = "{secrets.name}"\npolicy = "{policy.name}"')
    config.write_text("\n".join(tables))
    flags = ("--http", "--config", str(config), *desk.flags, "--output-dir", str(tmp_path / "out"))
    flags = (*flags, "--max-sessions-per-client", "16", "--rate-limit", "0")
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(*flags, environment=BEARERS))
        owners = [principals[number % 3] for number in range(load(6, full=32))]
        clients = [
            await stack.enter_async_context(connected(server.url, headers=bearer(owner))) for owner in owners
        ]
        names = [f"{owner}{number}" for number, owner in enumerate(owners)]

        async def copy(browser: RemoteBrowser, name: str) -> str:
            page = await browser.open(site.page(MINE.replace("{name}", name)))
            assert "was nobody" in page
            await browser.do("send_keys", index=browser.find("textbox", "Text"), keys="Control+A Control+C")
            told = await browser.click("link", "File")
            return f"browser://{told.partition('browser://')[2].partition('.txt')[0]}.txt"

        async def paste(browser: RemoteBrowser, name: str, owner: str, other: str) -> None:
            await browser.open(site.page(PAYING))
            await browser.do("send_keys", index=browser.find("textbox", "Text"), keys="Control+V")
            (pasted,) = [element.value() for element in browser.all("textbox", "Text")]
            assert pasted in names
            assert pasted.startswith(owner)
            for payer in (owner, principals[principals.index(owner) - 1]):
                index = browser.find("button", f"Pay {payer}")
                assert (await browser.call("click_element", index=index)).is_error is (payer == owner)
            assert f"was {name}who={name}" in await browser.open(site.page(MINE.replace("{name}", name)))
            with pytest.raises(MCPError, match="There is no file"):
                await browser.client.read_resource(other)

        async def work(browser: RemoteBrowser, name: str) -> tuple[str, str]:
            start = site.page(TYPING.replace("{name}", name))
            task = await browser.call("run_task", task="Type.", start_url=start, secrets=["word"])
            assert not task.is_error, task.text
            assert not any(f"word-of-{one}" in str(task) for one in principals)
            return str(task.structured["task_id"]), str(task.structured["history"])

        files = await asyncio.gather(*map(copy, clients, names))
        await asyncio.gather(*map(paste, clients, names, owners, [*files[1:], files[0]]))
        working = range(load(3, full=32))
        tasks = await asyncio.gather(*(work(clients[number], names[number]) for number in working))
        typed = {request for request in site.requests if request.startswith("GET /typed?")}
        assert typed == {
            f"GET /typed?by={names[number]}&value=word-of-{owners[number]}" for number in working
        }
        for (task, history), owner in zip(tasks, owners, strict=False):
            for number, reader in enumerate(principals):
                known = await clients[number].client.call_tool("get_task", {"task_id": task})
                assert getattr(known, "is_error", True) is (reader != owner)
                if reader != owner:
                    with pytest.raises(MCPError, match="There is no file"):
                        await clients[number].client.read_resource(history)
