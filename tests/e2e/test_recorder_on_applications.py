"""What a person does on applications is recorded; the tests run and pass, and the task is done again."""

import asyncio
import re
import sys
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.support.apps import Django, JupyterLab
from tests.support.person import Recorder, recorded
from tests.support.principals import private_file
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
    secrets = private_file(
        tmp_path / "secrets.toml", f'[password]\nvalue = "{app.password}"\ndomains = ["127.0.0.1"]\n'
    )
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
