"""What a person does on applications is recorded; the tests run and pass, and the task is done again."""

import asyncio
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.support.apps import Django, JupyterLab, free_port, running
from tests.support.packages import python_packages
from tests.support.person import Recorder, recorded
from tests.support.scripts import passes_in_python, passes_in_typescript, run

pytestmark = pytest.mark.apps


async def again(recorder: Recorder, folder: Path, *flags: str) -> None:
    """Do the recorded task again without a model."""
    command = [sys.executable, "-m", "mcp_browser", "run", "--replay", recorder.task, "--headless"]
    ran = await run([*command, "--isolated", "--tasks-dir", str(folder / "tasks"), *flags], folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr


async def test_django_admin(django_admin: Django, tmp_path: Path) -> None:
    app = django_admin
    app.reset()
    async with recorded(f"{app.url}/admin/", tmp_path, "django") as recorder:
        person, page = recorder.person, recorder.person.page
        await person.fill(page.get_by_label("Username"), app.user)
        await person.press("Tab")
        await page.keyboard.type(app.password)
        await person.press("Enter")
        await person.click(page.get_by_role("link", name="Groups"))
        await person.click(page.get_by_role("link", name="Add group"))
        await person.fill(page.get_by_label("Name:"), "Editors")
        await person.click(page.locator("#id_permissions_from option", has_text="Can view user"))
        await person.click(page.get_by_role("button", name="Choose selected permissions"))
        await person.click(page.get_by_role("button", name="Save", exact=True))
        await expect(page.get_by_text("was added successfully")).to_be_visible(timeout=20_000)
        await recorder.check("text", page.locator("li.success"))
        await asyncio.sleep(0.5)
    groups = "SELECT auth_group.name, codename FROM auth_group JOIN auth_group_permissions AS has "
    groups += "ON has.group_id = auth_group.id JOIN auth_permission ON auth_permission.id = has.permission_id"
    assert app.query(groups) == [("Editors", "view_user")]
    assert app.password not in recorder.written()
    for file, passes in zip(recorder.files, (passes_in_python, passes_in_typescript), strict=False):
        app.reset()
        await passes(file, PASSWORD=app.password)
        assert app.query(groups) == [("Editors", "view_user")], file.name
    app.reset()
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(f'[password]\nvalue = "{app.password}"\ndomains = ["127.0.0.1"]\n')
    secrets.chmod(0o600)
    values = ("--variable", "Name:=Writers", "--variable", "Editors=Writers")
    await again(recorder, tmp_path, "--secrets", str(secrets), "--secret", "password", *values[:2])
    assert app.query(groups) == [("Writers", "view_user")]


async def test_jupyterlab(jupyter: JupyterLab, tmp_path: Path) -> None:
    async with recorded(f"{jupyter.url}/lab?reset", tmp_path, "jupyter") as recorder:
        person, page = recorder.person, recorder.person.page
        await person.click(page.get_by_role("button", name=re.compile("^Python 3")))
        await expect(page.locator(".jp-Notebook .cm-content").first).to_be_visible(timeout=40_000)
        await expect(page.get_by_role("button", name=re.compile("Idle$"))).to_be_visible(timeout=40_000)
        await recorder.check("visible", page.get_by_role("button", name=re.compile("Idle$")))
        await asyncio.sleep(0.5)
        await person.click(page.locator(".jp-Notebook .cm-content"))
        await page.keyboard.type("print(6 * 7)", delay=10)
        await person.press("Shift+Enter")
        await expect(page.get_by_text("42", exact=True)).to_be_visible(timeout=40_000)
        await recorder.check("visible", page.get_by_text("42", exact=True))
        await asyncio.sleep(0.5)
    for file, passes in zip(recorder.files, (passes_in_python, passes_in_typescript), strict=False):
        jupyter.reset()
        await passes(file)
    jupyter.reset()
    await again(recorder, tmp_path)
    assert [file.name for file in jupyter.folder.glob("*.ipynb")] == ["Untitled.ipynb"]


@pytest.fixture
def sqlite_web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of sqlite-web, and the database that it shows."""
    python = python_packages("sqlite-web", "sqlite-web==0.8.2")
    port, database = free_port(), tmp_path / "data" / "shop.db"
    database.parent.mkdir()
    url = f"http://127.0.0.1:{port}"
    command = [str(python.with_name("sqlite_web")), "-x", "-p", str(port), str(database)]
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, number TEXT, note TEXT)")
    with running(command, database.parent, ready=url):
        yield url, database


def taken(database: Path) -> list[tuple[str, str]]:
    """The orders, which are deleted."""
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT number, note FROM orders ORDER BY id").fetchall()
        connection.execute("DELETE FROM orders")
        return found


async def test_sqlite_web(sqlite_web: tuple[str, Path], tmp_path: Path) -> None:
    url, database = sqlite_web
    async with recorded(url, tmp_path, "orders") as recorder:
        person, page = recorder.person, recorder.person.page
        await person.click(page.get_by_role("link", name="orders"))
        await person.click(page.get_by_role("link", name="Insert"))
        await person.fill(page.locator("[name=number]"), "1001")
        await person.fill(page.locator("[name=note]"), "two apples")
        await person.click(page.get_by_role("button", name="Insert"))
        await expect(page.get_by_role("cell", name="1001")).to_be_visible(timeout=20_000)
        await recorder.check("text", page.get_by_role("cell", name="1001"))
        await asyncio.sleep(0.5)
    assert taken(database) == [("1001", "two apples")]
    for file, passes in zip(recorder.files, (passes_in_python, passes_in_typescript), strict=False):
        await passes(file)
        assert taken(database) == [("1001", "two apples")], file.name
    await again(recorder, tmp_path, "--variable", "1001=1234")
    assert taken(database) == [("1234", "two apples")]
