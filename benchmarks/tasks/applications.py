"""Tasks on web applications; each returns what a database or a server says of its success."""

import calendar
import json
import re

from benchmarks.tasks.hands import Hand
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import task


def _log_in(hand: Hand, stage: Stage) -> None:
    hand.open(f"{stage.admin.url}/admin/")
    hand.fill("textbox", re.compile("^Username"), stage.admin.user)
    hand.fill("textbox", re.compile("^Password"), stage.admin.password)
    hand.click("button", "Log in")


@task("add a user", "Django admin")
def add_a_user(hand: Hand, stage: Stage) -> bool:
    """Through the list of users to the form and back."""
    _log_in(hand, stage)
    hand.click("link", "Users")
    hand.click("link", re.compile("^Add user"))
    hand.fill("textbox", re.compile("^Username"), "mira")
    hand.fill("textbox", re.compile("^Password:"), "a long phrase 1")
    hand.fill("textbox", re.compile("^Password confirmation"), "a long phrase 1")
    hand.click("button", "Save")
    hand.read("was added successfully", near="was added successfully")
    return bool(stage.admin.query("SELECT 1 FROM auth_user WHERE username = 'mira'"))


@task("find a user and change the address", "Django admin")
def change_an_address(hand: Hand, stage: Stage) -> bool:
    """One of three hundred, searched for."""
    _log_in(hand, stage)
    hand.click("link", "Users")
    hand.fill("textbox|searchbox", re.compile("^Search"), "user173", submit=True)
    hand.click("link", "user173")
    hand.fill("textbox", re.compile("^Email"), "new@example.com")
    hand.click("button", "Save")
    hand.read("was changed successfully", near="was changed successfully")
    (row,) = stage.admin.query("SELECT email FROM auth_user WHERE username = 'user173'")
    return row == ("new@example.com",)


@task("make a group with a permission", "Django admin")
def make_a_group(hand: Hand, stage: Stage) -> bool:
    """A list of two dozen options, moved from box to box."""
    _log_in(hand, stage)
    hand.click("link", "Groups")
    hand.click("link", re.compile("^Add group"))
    hand.fill("textbox", re.compile("^Name"), "Editors")
    wanted = "Authentication and Authorization | user | Can view user"
    hand.choose("listbox", re.compile("^Available permissions"), [wanted])
    hand.click("button|link", re.compile("^Choose selected permissions"))
    hand.click("button", "Save")
    hand.read("was added successfully", near="was added successfully")
    rows = stage.admin.query(
        "SELECT codename FROM auth_permission JOIN auth_group_permissions AS granted"
        " ON granted.permission_id = auth_permission.id JOIN auth_group ON auth_group.id = granted.group_id"
        " WHERE auth_group.name = 'Editors'"
    )
    return rows == [("view_user",)]


@task("delete two users of a list", "Django admin")
def delete_two_users(hand: Hand, stage: Stage) -> bool:
    """Two boxes ticked in a table of a hundred rows, an action, a question."""
    _log_in(hand, stage)
    hand.click("link", "Users")
    for name in ("user005", "user012"):
        hand.click("checkbox", re.compile(f"{name}$"))
    hand.choose("combobox", re.compile("^Action"), ["Delete selected users"])
    hand.click("button", re.compile("^(Go|Run)"))
    hand.click("button", re.compile("^Yes"))
    hand.read("Successfully deleted 2 users", near="Successfully deleted")
    left = stage.admin.query("SELECT count(*) FROM auth_user WHERE username IN ('user005', 'user012')")
    return left == [(0,)]


@task("ask an API for a list", "Swagger UI")
def ask_an_api(hand: Hand, stage: Stage) -> bool:
    """An operation opened, two parameters, an answer to be read."""
    shop = stage.bookshop()
    hand.open(shop.url)
    hand.click("button", re.compile("List books$"))
    hand.click("button", re.compile("^Try it out"))
    hand.fill("textbox", "author", "austen")
    hand.fill("textbox", "limit", "1")
    hand.click("button", "Execute")
    title = hand.read(r'title\\?":\s*\\?"([A-Z]\w+)', near='"title"')[1]
    return title == "Emma" and "GET /bookshop/books?author=austen&limit=1" in stage.site.requests


@task("send an API a body", "Swagger UI")
def send_a_body(hand: Hand, stage: Stage) -> bool:
    """An operation opened, JSON put into its editor, the status to be read."""
    shop = stage.bookshop()
    hand.open(shop.url)
    hand.click("button", re.compile("Add a book$"))
    hand.click("button", re.compile("^Try it out"))
    body = '{"title": "Silas Marner", "author": "George Eliot", "price": 6.75}'
    hand.fill("textbox", re.compile("author"), body)
    hand.click("button", "Execute")
    hand.read("Silas Marner", near="Silas Marner")
    return {**json.loads(body), "id": 4} in shop.books.values()


@task("write and save a text file", "JupyterLab")
def write_a_file(hand: Hand, stage: Stage) -> bool:
    """The launcher, an editor, a key to save."""
    hand.open(f"{stage.lab.url}/lab?reset")
    hand.click("button|paragraph", re.compile("^Text File"))
    hand.fill("textbox", "", "Dear diary")
    hand.press("Control+s")
    hand.click("button", "Rename and Save")
    hand.finish()
    return stage.comes(
        lambda: any(file.read_text().strip() == "Dear diary" for file in stage.lab.folder.glob("*.txt"))
    )


@task("submit a coupon", "Cypress kitchen sink")
def submit_a_coupon(hand: Hand, stage: Stage) -> bool:
    """From the front page to a long page of forms and code."""
    hand.open(f"{stage.kitchen}/")
    hand.click("link", "Actions")
    hand.fill("textbox", "Email address", "ann@example.com")
    hand.fill("textbox", re.compile("^Coupon"), "HALFOFF")
    hand.click("button", "Submit")
    return bool(hand.read("form has been submitted", near="has been submitted"))


@task("keep a list of things to do", "TodoMVC")
def keep_a_list(hand: Hand, stage: Stage) -> bool:
    """Three things added, one done, the rest counted."""
    hand.open(f"{stage.kitchen}/todo")
    for thing in ("milk", "bread", "tea"):
        hand.fill("textbox", re.compile("^What needs"), thing, submit=True)
    hand.find("", "tea")
    hand.click("checkbox", re.compile("^(?!Mark all)|Toggle Todo"), nth=-1)
    hand.click("link", "Active")
    return hand.read(r"(\d+)\W*(?:text:)?\s*items? left", near="left")[1] == "4"


@task("book a date", "MiniWoB++")
def book_a_date(hand: Hand, stage: Stage) -> bool:
    """A date picker turned back month by month."""
    months = list(calendar.month_name)[1:]
    hand.open(stage.gym.episode("choose-date", 1))
    goal = hand.read(r"(\d\d)/(\d\d)/\d{4}", near="date")
    hand.click("textbox", re.compile(""))
    wanted = months[int(goal[1]) - 1]
    for _ in months:
        if hand.read(f"({'|'.join(months)})", near="20")[1] == wanted:
            break
        hand.click("link|clickable|generic|button", "Prev")
    hand.click("link|clickable|generic|gridcell", str(int(goal[2])))
    hand.click("button", "Submit")
    hand.finish()
    return stage.gym.outcome("choose-date", 1).reward > 0
