"""Django's admin site, worked by a policy that reads only what the tools return."""

import re

import pytest

from tests.support.apps import Django
from tests.support.client import Browser, browsing

pytestmark = pytest.mark.apps

USER = "SELECT username, first_name, email, is_staff, is_superuser FROM auth_user WHERE username = ?"
PERMISSIONS = """
    SELECT codename FROM auth_permission
    JOIN auth_user_user_permissions AS granted ON granted.permission_id = auth_permission.id
    JOIN auth_user ON auth_user.id = granted.user_id WHERE username = ? ORDER BY codename
"""
GROUPS = """
    SELECT name FROM auth_group
    JOIN auth_user_groups AS member ON member.group_id = auth_group.id
    JOIN auth_user ON auth_user.id = member.user_id WHERE username = ?
"""


async def test_a_user_is_created_found_changed_and_deleted(django_admin: Django) -> None:
    django_admin.reset()
    async with browsing("legacy") as browser:
        await _log_in(browser, django_admin)
        await _create_user(browser, django_admin)
        await _add_a_group_in_a_popup(browser, django_admin)
        await _search(browser)
        await _change(browser, django_admin)
        await _delete(browser, django_admin)


async def _log_in(browser: Browser, app: Django) -> None:
    await browser.open(f"{app.url}/admin/")
    await browser.fill("textbox", "Username:", app.user)
    await browser.fill("textbox", "Password:", "wrong")
    refused = await browser.click("button", "Log in")
    assert "Please enter the correct username and password" in refused
    await browser.fill("textbox", "Username:", app.user)
    filled = await browser.fill("textbox", "Password:", app.password)
    assert app.password not in filled
    welcome = await browser.click("button", "Log in")
    assert "Site administration" in welcome


async def _create_user(browser: Browser, app: Django) -> None:
    await browser.click("link", "Users")
    await browser.click("link", "Add user")
    await browser.fill("textbox", "Username:", "mira")
    await browser.fill("textbox", "Password:", "a long phrase 1")
    await browser.fill("textbox", "Password confirmation:", "a long phrase 1")
    added = await browser.click("button", "Save and continue editing")
    assert "was added successfully" in added
    await browser.fill("textbox", "First name:", "Mira")
    await browser.fill("textbox", "Email address:", "mira@example.com")
    await browser.do("set_checked", index=browser.find("checkbox", "Staff status"), checked=True)
    available = await browser.look_for("listbox", re.compile("^Available user permissions"))
    wanted = [
        "Authentication and Authorization | user | Can view user",
        "Sessions | session | Can delete session",
    ]
    await browser.do("select_option", index=available, options=wanted)
    await browser.click("button", "Choose selected user permissions")
    saved = await browser.click("button", "Save and continue editing")
    assert "was changed successfully" in saved
    user, permissions = app.query(USER, "mira"), app.query(PERMISSIONS, "mira")
    assert user == [("mira", "Mira", "mira@example.com", 1, 0)]
    assert permissions == [("delete_session",), ("view_user",)]


async def _add_a_group_in_a_popup(browser: Browser, app: Django) -> None:
    opened = await browser.click("link", "Add another group")
    assert "Add group" in opened
    await browser.fill("textbox", "Name:", "Editors")
    closed = await browser.click("button", "Save")
    assert "tab 1 is the current one" in closed
    assert "Change user" in closed
    await browser.click("button", "Save")
    groups = app.query(GROUPS, "mira")
    assert groups == [("Editors",)]


async def _search(browser: Browser) -> None:
    await browser.fill("textbox", "Search", "mira@")
    found = await browser.click("button", "Search")
    assert "1 result" in found
    names = [element.name for element in browser.all("checkbox", re.compile("Select this object"))]
    assert names == ["Select this object for an action - mira"]
    nobody = await browser.fill("textbox", "Search", "nobody at all", submit=True)
    assert "0 results" in nobody
    await browser.fill("textbox", "Search", "mira", submit=True)


async def _change(browser: Browser, app: Django) -> None:
    await browser.click("link", "mira")
    await browser.fill("textbox", "First name:", "Miranda")
    await browser.do("set_checked", index=browser.find("checkbox", "Staff status"), checked=False)
    saved = await browser.click("button", "Save")
    assert "was changed successfully" in saved
    user = app.query(USER, "mira")
    assert user == [("mira", "Miranda", "mira@example.com", 0, 0)]


async def _delete(browser: Browser, app: Django) -> None:
    await browser.do(
        "set_checked", index=browser.find("checkbox", "Select this object for an action - mira"), checked=True
    )
    action = browser.find("combobox", re.compile("^Action"))
    await browser.do("select_option", index=action, options=["Delete selected users"])
    asked = await browser.click("button", "Go")
    assert "Are you sure" in asked
    await browser.click("button", re.compile("^Yes"))
    assert browser.shows("Successfully deleted 1 user")
    left = app.query("SELECT username FROM auth_user ORDER BY username")
    assert left == [("boss",)]
