"""Tasks on packages of the second half of `wholeness`; each returns what the page or its server has noted."""

import re

from benchmarks.tasks.hands import Hand
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import task


@task("book a trip", "Quasar")
def book_a_trip(hand: Hand, stage: Stage) -> bool:
    """Sent too early, then filled in: two lists, a radio button, a switch."""
    hand.open(stage.packaged("quasar.html"))
    hand.click("button", "Book")
    hand.read("A name is needed", near="is needed")
    hand.fill("textbox", "Name", "Ann")
    hand.click("combobox", "City")
    hand.click("option", "Jena")
    hand.click("combobox", "Extras")
    hand.click("option", "Bicycle")
    hand.press("Escape")
    hand.click("radio", "Boat")
    hand.click("switch", "Insurance")
    hand.click("button", "Book")
    hand.read("Booked to Jena", near="Booked to")
    return stage.noted == [
        {"name": "Ann", "city": "Jena", "extras": ["Bicycle"], "by": "boat", "insured": True}
    ]


@task("start machines", "Carbon")
def start_machines(hand: Hand, stage: Stage) -> bool:
    """A list, a number, a radio button and a switch in shadow trees, then a question."""
    hand.open(stage.packaged("carbon.mjs"))
    hand.click("combobox|button", re.compile("Zone|Choose"))
    hand.click("option", "South")
    hand.fill("spinbutton|alert", "Amount", "5")
    hand.click("radio", "Large")
    hand.click("switch", re.compile("Power"))
    hand.click("button", "Start")
    hand.click("button", "Start them")
    hand.read("machines are running", near="running")
    return stage.noted == [{"zone": "s", "amount": "5", "size": "l", "power": True}]


@task("export a picture", "Spectrum")
def export_a_picture(hand: Hand, stage: Stage) -> bool:
    """Fields, a menu that chooses, a radio button and a switch in shadow trees."""
    hand.open(stage.packaged("spectrum.mjs"))
    hand.fill("textbox", re.compile("^Name"), "cover")
    hand.click("button|combobox", re.compile("Mode"))
    hand.click("option|menuitem|menuitemradio", "Multiply")
    hand.fill("textbox|spinbutton", re.compile("^Width"), "800")
    hand.press("Enter")
    hand.click("radio", "JPEG")
    hand.click("switch", "Keep layers")
    hand.click("button", "Export")
    hand.read(r"Exported cover\.", near="Exported")
    return stage.noted == [{"name": "cover", "mode": "m", "width": 800, "kind": "jpeg", "layers": True}]


@task("write a note", "Ionic")
def write_a_note(hand: Hand, stage: Stage) -> bool:
    """A list that asks in a dialog, a switch, a radio button, and a question."""
    hand.open(stage.packaged("ionic.html"))
    hand.fill("textbox", "Title", "Moss")
    hand.click("combobox|button|clickable", re.compile("^Colour"))
    hand.click("radio", "Blue")
    hand.click("button", "OK")
    hand.click("switch", "Pinned")
    hand.click("radio", "Shared")
    hand.click("button", "Save")
    hand.click("button", "Save it")
    hand.read("note is saved", near="is saved")
    return stage.noted == [{"title": "Moss", "colour": "blue", "pinned": True, "who": "all"}]


@task("write minutes", "Tiptap")
def write_minutes(hand: Hand, stage: Stage) -> bool:
    """Two paragraphs in the place of the draft, both of them bold."""
    hand.open(stage.packaged("tiptap.mjs"))
    hand.fill("textbox", "Minutes", "We met early.\nTea was served.")
    hand.press("Control+a")
    hand.click("button", "Bold")
    hand.click("button", "Save")
    hand.read("minutes are saved", near="are saved")
    (html,) = stage.noted
    return re.findall(r"<strong>(.*?)</strong>", html) == ["We met early.", "Tea was served."]


@task("make a heading and publish", "CKEditor 5")
def make_a_heading(hand: Hand, stage: Stage) -> bool:
    """The text replaced, and a list of the toolbar."""
    hand.open(stage.packaged("ckeditor.html"))
    hand.fill("textbox", re.compile("^Rich Text Editor"), "Opening hours")
    hand.click("button", re.compile("Heading$"))
    hand.click("menuitemradio|menuitem|option", "Heading 2")
    hand.click("button", "Publish")
    hand.read("article is published", near="is published")
    return stage.noted == ["<h3>Opening hours</h3>"]


@task("rename a step", "bpmn-js")
def rename_a_step(hand: Hand, stage: Stage) -> bool:
    """A shape of a drawing, its label typed over."""
    hand.open(stage.packaged("bpmn.html"))
    hand.click("", "Pack", double=True)
    for key in ("Control+a", "W", "r", "a", "p", "Enter"):
        hand.press(key)
    hand.click("button", "Save")
    hand.read("process is saved", near="is saved")
    return 'name="Wrap"' in stage.noted[0] and 'name="Pack"' not in stage.noted[0]


@task("plant a bed", "Mantine")
def plant_a_bed(hand: Hand, stage: Stage) -> bool:
    """Two lists, of which one takes several, a radio button, a switch and a question."""
    hand.open(stage.packaged("mantine.jsx"))
    hand.fill("textbox", "Name", "South bed")
    hand.click("textbox|combobox", "Soil")
    hand.click("option", "Loam")
    hand.click("textbox|combobox|generic", "Plants")
    hand.click("option", "Chard")
    hand.press("Escape")
    hand.click("radio", "Half")
    hand.click("switch", "Lights")
    hand.click("button", "Plant")
    hand.click("button", "Plant it")
    hand.read("South bed is planted", near="is planted")
    return stage.noted == [
        {"name": "South bed", "soil": "Loam", "plants": ["Leek", "Chard"], "sun": "half", "lights": True}
    ]


@task("delete two files", "jsTree")
def delete_two_files(hand: Hand, stage: Stage) -> bool:
    """A branch opened, two of its leaves ticked."""
    hand.open(stage.packaged("jstree.html"))
    hand.click("treeitem", "Music", double=True)
    hand.click("treeitem", "Music 3")
    hand.click("treeitem", "Music 5")
    hand.click("button", "Delete")
    hand.read(r"Deleted 2\.", near="Deleted")
    return stage.noted == [["Music 3", "Music 5"]]


@task("correct an amount", "Jspreadsheet")
def correct_an_amount(hand: Hand, stage: Stage) -> bool:
    """A cell typed over, and a box in another ticked."""
    hand.open(stage.packaged("jspreadsheet.html"))
    hand.click("gridcell|cell", "440")
    for key in ("4", "5", "Enter"):
        hand.press(key)
    hand.click("button", "Save")
    hand.read("budget is saved", near="is saved")
    (rows,) = stage.noted
    return str(rows[3][1]) == "45"


@task("rename a job", "DHTMLX Gantt")
def rename_a_job(hand: Hand, stage: Stage) -> bool:
    """A bar's dialog, opened by a double click."""
    hand.open(stage.packaged("gantt.html"))
    hand.click("", re.compile("Walls"), double=True)
    hand.fill("textbox", re.compile("Description|^(New task|Walls)?$"), "Brick walls")
    hand.click("button", "Save")
    hand.finish()
    return stage.comes(lambda: [job["text"] for job in stage.noted] == ["Brick walls"])


@task("hand a ticket on", "Select2 and Choices")
def hand_a_ticket_on(hand: Hand, stage: Stage) -> bool:
    """Two lists that are drawn over native ones, one of them searched."""
    hand.open(stage.packaged("select2.html"))
    hand.click("combobox|textbox", "Ann")
    hand.click("option", "Cleo")
    hand.click("combobox|option", "North")
    hand.click("option", re.compile("^South"))
    hand.fill("textbox", "What", "Door")
    hand.click("button", "Send")
    hand.read("ticket is sent", near="is sent")
    return stage.noted == [{"who": "Cleo", "area": "South", "what": "Door"}]


@task("reserve a car", "Dash")
def reserve_a_car(hand: Hand, stage: Stage) -> bool:
    """A list, a radio button, a box, a field; the answer comes from the server."""
    hand.open(stage.packaged("dash_app.py"))
    hand.click("combobox|button", re.compile("City|Ulm"))
    hand.click("option|checkbox|radio", "Bonn")
    hand.click("radio", "Week")
    hand.click("checkbox", "Roof rack")
    hand.fill("textbox", "Name", "Ann")
    hand.click("button", "Reserve")
    hand.read("Reserved in Bonn for Ann", near="Reserved in")
    return stage.noted == [{"name": "Ann", "city": "Bonn", "time": "Week", "with": ["Roof rack"]}]


@task("order over a socket", "Shiny")
def order_over_a_socket(hand: Hand, stage: Stage) -> bool:
    """Inputs of all kinds; the answer comes over a socket."""
    hand.open(stage.packaged("shiny_app.py"))
    hand.fill("textbox", "Name", "Ann")
    hand.choose("combobox", "City", ["Celle"])
    hand.fill("spinbutton", "Amount", "7")
    hand.click("checkbox", "Milk")
    hand.click("switch|checkbox", "Gift")
    hand.click("button", "Order")
    hand.read("7 go to Celle", near="go to")
    return stage.noted == [{"name": "Ann", "city": "Celle", "amount": 7, "gift": True, "kinds": ["Milk"]}]


@task("count the books of a shelf", "Datasette")
def count_books(hand: Hand, stage: Stage) -> bool:
    """A database, a table, a facet."""
    hand.open(stage.packaged("datasette_app.py"))
    hand.click("link", "books")
    hand.click("link", "books", nth=-1)
    hand.click("link", "shelf")
    hand.click("link", "travel")
    return hand.read(r"(\d+) rows? where", near="where")[1] == str(
        sum(n % 7 in (1, 2, 4) for n in range(180))
    )
