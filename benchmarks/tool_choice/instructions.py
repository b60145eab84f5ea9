"""Sixty-four short instructions, each with the page that is open, and the right calls of each server.

An element is known by its number: `[12]` here, `e12` at playwright-mcp. Only what both servers offer by
default is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.tool_choice.expected import Expected, address, call, fields, number, one_of, steps, text


@dataclass(frozen=True, slots=True)
class Node:
    """A line of a page: an element with its number, a heading or a text without one."""

    role: str
    name: str
    number: int = 0
    states: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What is open: a page, the tabs, a dialog."""

    url: str
    title: str
    nodes: tuple[Node, ...]
    tabs: tuple[tuple[str, str], ...] = ()  # Titles and addresses, the first is the current one
    dialog: str = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the model is asked, where, and what is right; `ours` and `theirs` are any of several calls."""

    category: str
    says: str
    state: State
    ours: tuple[Expected, ...]
    theirs: tuple[Expected, ...]


def _h(name: str) -> Node:
    return Node("heading", name)


def _t(name: str) -> Node:
    return Node("text", name)


SHOP = State(
    "https://shop.example/tea",
    "Green tea",
    (
        *(Node("link", "Home", 2), Node("link", "Orders", 3), Node("searchbox", "Search the shop", 4)),
        *(Node("button", "Cart", 5), _h("Green tea"), Node("combobox", "Sort by", 7, 'value="Name"')),
        *(Node("checkbox", "In stock only", 8), _t("Sencha € 6"), Node("button", "Add Sencha", 10)),
        *(_t("Gyokuro € 14"), Node("button", "Add Gyokuro", 12), Node("link", "Next page", 13)),
        *(Node("img", "Tea field", 14), Node("menuitem", "Account", 15)),
    ),
)
FORM = State(
    "https://post.example/register",
    "Register",
    (
        *(_h("Register"), Node("textbox", "First name", 3), Node("textbox", "Last name", 4)),
        *(Node("textbox", "E-mail", 5), Node("combobox", "Country", 6, 'options="Norway | Chile | Japan"')),
        *(
            Node("radio", "Letter", 7),
            Node("radio", "Parcel", 8),
            Node("checkbox", "Newsletter", 9, "checked"),
        ),
        *(Node("textbox", "Message", 10, 'value="Dear"'), Node("button", "Photo", 11)),
        *(Node("button", "Send", 12), Node("checkbox", "I accept the terms", 13)),
    ),
)
BOARD = State(
    "https://board.example/week",
    "Board",
    (
        *(_h("To do"), Node("listitem", "Paint the fence", 21), Node("listitem", "Call Ann", 22)),
        *(_h("Done"), Node("list", "Done", 25), Node("button", "Help", 26), Node("textbox", "New card", 27)),
        Node("listbox", "Labels", 28, 'multiple options="red | green | blue"'),
    ),
)
ARTICLE = State(
    "https://news.example/a/17",
    "Harbour opens",
    (
        _h("Harbour opens"),
        _t("The harbour opened on Monday …"),
        Node("link", "Comments", 5),
        _t("… 412 more lines below"),
    ),
)
SEVERAL = State(
    "https://mail.example/inbox",
    "Inbox",
    (_h("Inbox"), Node("button", "Write", 4), Node("row", "Ann: Lunch?", 6)),
    tabs=(
        ("Inbox", "https://mail.example/inbox"),
        ("Calendar", "https://cal.example/"),
        ("Map of Oslo", "https://maps.example/oslo"),
    ),
)
ASKS = State(
    "https://files.example/", "Files", (Node("button", "Delete", 3),), dialog='confirm "Delete 3 files?"'
)
PROMPTS = State(
    "https://files.example/", "Files", (Node("button", "Rename", 4),), dialog='prompt "New name:"'
)
BLANK = State("about:blank", "", ())


def _click(category: str, says: str, state: State, number_: int) -> Instruction:
    return Instruction(
        category,
        says,
        state,
        (call("click_element", index=number_),),
        (call("browser_click", target=f"e{number_}"),),
    )


def _open(says: str, url: str, state: State = BLANK) -> Instruction:
    wanted = address(url)
    return Instruction(
        "open", says, state, (call("go_to_url", url=wanted),), (call("browser_navigate", url=wanted),)
    )


def _type(says: str, state: State, number_: int, what: str, *, submit: bool = False) -> Instruction:
    more = {"submit": True} if submit else {}
    ours = [call("input_text", index=number_, text=what, **more)]
    theirs = [call("browser_type", target=f"e{number_}", text=what, **more)]
    if not submit:
        ours.append(call("fill_form", fields=fields([{"index": number_, "value": what}], by="index")))
        entry = {"target": f"e{number_}", "name": "Field", "type": "textbox", "value": what}
        theirs.append(call("browser_fill_form", fields=fields([entry], by="target")))
    return Instruction("type", says, state, tuple(ours), tuple(theirs))


def _check(
    says: str, state: State, number_: int, *, checked: bool = True, radio: bool = False
) -> Instruction:
    entry = {
        "target": f"e{number_}",
        "name": "Box",
        "type": "radio" if radio else "checkbox",
        "value": "true" if checked else "false",
    }
    wanted = {} if checked else {"checked": False}
    return Instruction(
        "choose",
        says,
        state,
        (
            call("set_checked", index=number_, **wanted),
            call("click_element", index=number_),
            call("fill_form", fields=fields([{"index": number_, "value": checked}], by="index")),
        ),
        (
            call("browser_click", target=f"e{number_}"),
            call("browser_fill_form", fields=fields([entry], by="target")),
        ),
    )


def _select(says: str, state: State, number_: int, *options: str) -> Instruction:
    entry = {"target": f"e{number_}", "name": "List", "type": "combobox", "value": options[0]}
    one = len(options) == 1
    ours = [call("select_option", index=number_, options=one_of([*options], *options[: int(one)]))]
    theirs = [call("browser_select_option", target=f"e{number_}", values=[*options])]
    if one:
        ours.append(call("fill_form", fields=fields([{"index": number_, "value": options[0]}], by="index")))
        theirs.append(call("browser_fill_form", fields=fields([entry], by="target")))
    return Instruction("choose", says, state, tuple(ours), tuple(theirs))


def _keys(says: str, state: State, *keys: str) -> Instruction:
    wanted = one_of(*keys)
    return Instruction(
        "keys and mouse",
        says,
        state,
        (call("send_keys", keys=wanted),),
        (call("browser_press_key", key=wanted),),
    )


def _hover(says: str, state: State, number_: int) -> Instruction:
    ours, theirs = call("hover_element", index=number_), call("browser_hover", target=f"e{number_}")
    return Instruction("keys and mouse", says, state, (ours,), (theirs,))


def _drag(says: str, state: State, start: int, end: int) -> Instruction:
    ours = call("drag_element", index=start, target=end)
    theirs = call("browser_drag", startTarget=f"e{start}", endTarget=f"e{end}")
    return Instruction("keys and mouse", says, state, (ours,), (theirs,))


def _form(says: str, state: State, *entries: tuple[int, str, str]) -> Instruction:
    ours = [{"index": number_, "value": value} for number_, _, value in entries]
    theirs = [
        {"target": f"e{number_}", "name": "Field", "type": kind, "value": value}
        for number_, kind, value in entries
    ]
    return Instruction(
        "type",
        says,
        state,
        (call("fill_form", fields=fields(ours, by="index")),),
        (call("browser_fill_form", fields=fields(theirs, by="target")),),
    )


def _wait(says: str, ours: Expected, theirs: Expected, state: State = SHOP) -> Instruction:
    return Instruction("wait and answer", says, state, (ours,), (theirs,))


def _dialog(says: str, state: State, *, accept: bool, answer: str = "") -> Instruction:
    ours = call("handle_dialog", accept=accept, **({"text": answer} if answer else {}))
    theirs = call("browser_handle_dialog", accept=accept, **({"promptText": answer} if answer else {}))
    return Instruction("wait and answer", says, state, (ours,), (theirs,))


def _read(says: str, state: State, ours: Sequence[Expected], theirs: Sequence[Expected]) -> Instruction:
    return Instruction("read", says, state, tuple(ours), tuple(theirs))


def _tab(says: str, ours: Sequence[Expected], theirs: Expected, state: State = SEVERAL) -> Instruction:
    return Instruction("tabs", says, state, tuple(ours), (theirs,))


def _several(says: str, state: State, ours: Sequence[Expected], theirs: Sequence[Expected]) -> Instruction:
    """Steps that are known beforehand; a server without lists takes the first of them."""
    return Instruction(
        "several steps", says, state, (call("do_actions", actions=steps(*ours)),), tuple(theirs)
    )


_WHOLE = call("browser_snapshot")

INSTRUCTIONS: tuple[Instruction, ...] = (
    _open("Go to https://example.org/docs.", "https://example.org/docs"),
    _open("Open news.example.", "https://news.example"),
    _open("Show me the page http://127.0.0.1:8000/admin/ please", "http://127.0.0.1:8000/admin/"),
    _open(
        "Leave this shop and open https://post.example/register instead.",
        "https://post.example/register",
        SHOP,
    ),
    _open(
        "Now to the orders, directly by the address https://shop.example/orders",
        "https://shop.example/orders",
        SHOP,
    ),
    Instruction(
        "open",
        "Back to where I was before this page.",
        SHOP,
        (call("go_back"),),
        (call("browser_navigate_back"),),
    ),
    Instruction(
        "open", "Undo that navigation.", ARTICLE, (call("go_back"),), (call("browser_navigate_back"),)
    ),
    _click("click", "Put the Gyokuro into the cart.", SHOP, 12),
    _click("click", "Add Sencha.", SHOP, 10),
    _click("click", "Open the cart.", SHOP, 5),
    _click("click", "Next page of the list.", SHOP, 13),
    _click("click", "Click Orders.", SHOP, 3),
    _click("click", "Send the form as it is.", FORM, 12),
    _click("click", "Read Ann's message.", SEVERAL, 6),
    _click("click", "I want to write a new mail.", SEVERAL, 4),
    Instruction(
        "click",
        "Double-click the card “Call Ann”.",
        BOARD,
        (call("click_element", index=22, double=True),),
        (call("browser_click", target="e22", doubleClick=True),),
    ),
    Instruction(
        "click",
        "Right-click on Add Sencha.",
        SHOP,
        (call("click_element", index=10, button="right"),),
        (call("browser_click", target="e10", button="right"),),
    ),
    _type("First name: Ann", FORM, 3, "Ann"),
    _type("Put ann@lee.example into the e-mail field.", FORM, 5, "ann@lee.example"),
    _type("Type “oolong” into the search box, without searching yet.", SHOP, 4, "oolong"),
    _type("Search the shop for matcha: type it there and press Enter.", SHOP, 4, "matcha", submit=True),
    _type("New card: water the plants", BOARD, 27, "water the plants"),
    _type("Replace the message by “See you soon”.", FORM, 10, "See you soon"),
    _type("The last name is O'Brien.", FORM, 4, "O'Brien"),
    _form(
        "Fill in first name Ann, last name Lee, e-mail a@lee.example, all at once.",
        FORM,
        (3, "textbox", "Ann"),
        (4, "textbox", "Lee"),
        (5, "textbox", "a@lee.example"),
    ),
    _form(
        "In one go: country Chile, last name Rojas.",
        FORM,
        (6, "combobox", "Chile"),
        (4, "textbox", "Rojas"),
    ),
    _select("Country: Japan", FORM, 6, "Japan"),
    _select("Sort by price.", SHOP, 7, "Price"),
    _select("Mark it with the labels red and blue.", BOARD, 28, "red", "blue"),
    _check("Only show what is in stock.", SHOP, 8),
    _check("Accept the terms.", FORM, 13),
    _check("No newsletter, please.", FORM, 9, checked=False),
    _check("Send it as a parcel.", FORM, 8, radio=True),
    _several(
        "Add Sencha and then Gyokuro, in one call.",
        SHOP,
        [call("click_element", index=10), call("click_element", index=12)],
        [call("browser_click", target="e10")],
    ),
    _several(
        "Open the menu Account and click Sign out in it, without looking in between.",
        SHOP,
        [call("click_element", index=15), call("click_element", index='menuitem "Sign out"')],
        [call("browser_click", target="e15")],
    ),
    _several(
        "All in one: accept the terms, then send the form.",
        FORM,
        [call("set_checked", index=13), call("click_element", index=12)],
        [call("browser_click", target="e13")],
    ),
    _click("several steps", "Open the cart and tell me what the most expensive thing in it is.", SHOP, 5),
    _keys("Press Escape.", SHOP, "Escape"),
    _keys("Press Tab once.", FORM, "Tab"),
    _keys("Select everything with Ctrl+A.", ARTICLE, "Control+a", "Ctrl+a"),
    _keys("Page down with the keyboard.", ARTICLE, "PageDown"),
    _hover("Hold the mouse over Account, so that its menu opens.", SHOP, 15),
    _hover("Hover the Help button to see its tooltip.", BOARD, 26),
    _drag("Drag “Paint the fence” to the list Done.", BOARD, 21, 25),
    _drag("Move the card Call Ann onto the card Paint the fence by drag and drop.", BOARD, 22, 21),
    _read(
        "Take a screenshot.",
        SHOP,
        [call("screenshot"), call("get_state", screenshot=True)],
        [call("browser_take_screenshot")],
    ),
    _read(
        "Take a picture of the whole page from top to bottom.",
        ARTICLE,
        [call("screenshot", full_page=True)],
        [call("browser_take_screenshot", fullPage=True)],
    ),
    _read(
        "Take a picture of just the tea field image.",
        SHOP,
        [call("screenshot", index=14)],
        [call("browser_take_screenshot", target="e14")],
    ),
    _read("Look at the page again: what is on it now?", BOARD, [call("get_state")], [_WHOLE]),
    _read("Show me the current state of the page.", FORM, [call("get_state")], [_WHOLE]),
    _read(
        "Search the whole page for the word “lighthouse”; most of it is not shown yet.",
        ARTICLE,
        [call("find_elements", text=text("lighthouse")), call("scroll_to_text", text=text("lighthouse"))],
        [call("browser_find", text=text("lighthouse"))],
    ),
    _wait(
        "Wait until “Order received” appears.",
        call("wait_for", text=text("order received")),
        call("browser_wait_for", text=text("order received")),
    ),
    _wait(
        "Wait until the text “Loading” has gone.",
        call("wait_for", text_gone=text("loading")),
        call("browser_wait_for", textGone=text("loading")),
    ),
    _wait(
        "Pause for 3 seconds.",
        call("wait_for", seconds=number(3, 3)),
        call("browser_wait_for", time=number(3, 3)),
    ),
    _dialog("Yes, delete them.", ASKS, accept=True),
    _dialog("Oh no, do not delete anything!", ASKS, accept=False),
    _dialog("Call it report.txt.", PROMPTS, accept=True, answer="report.txt"),
    _tab(
        "Open https://example.org in a new tab.",
        [
            call("open_tab", url=address("https://example.org")),
            call("go_to_url", url=address("https://example.org"), new_tab=True),
        ],
        call("browser_tabs", action="new", url=address("https://example.org")),
        SHOP,
    ),
    _tab("Open an empty tab.", [call("open_tab")], call("browser_tabs", action="new"), SHOP),
    _tab(
        "Go to the calendar tab.", [call("switch_tab", tab=2)], call("browser_tabs", action="select", index=1)
    ),
    _tab(
        "Show the tab with the map.",
        [call("switch_tab", tab=3)],
        call("browser_tabs", action="select", index=2),
    ),
    _tab("Close the map tab.", [call("close_tab", tab=3)], call("browser_tabs", action="close", index=2)),
    _tab("Close this tab.", [call("close_tab")], call("browser_tabs", action="close")),
    _tab("Close the calendar.", [call("close_tab", tab=2)], call("browser_tabs", action="close", index=1)),
)
