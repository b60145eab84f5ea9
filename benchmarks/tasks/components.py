"""Tasks on components and documents; each returns what the site was sent or asked for, or an answer."""

import re

from benchmarks.tasks.hands import Hand
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import task


@task("order tea", "Shoelace components")
def order_tea(hand: Hand, stage: Stage) -> bool:
    """A list, a switch, a tab, fields and a dialog, all in shadow trees."""
    hand.open(stage.tea)
    hand.click("combobox", "Kind of tea")
    hand.click("option", "Sencha")
    hand.click("radio", "Large")
    hand.click("tab", "Delivery")
    hand.fill("textbox", "Your name", "Ann")
    hand.fill("textbox", "Note to the driver", "Ring twice")
    hand.click("button", "Review order")
    hand.click("button", "Send order")
    hand.read("Order 1 sent", near="sent")
    (order,) = stage.noted
    wanted = {"tea": "sencha", "size": "large", "name": "Ann", "note": "Ring twice"}
    return wanted.items() <= order.items()


@task("draw a circle by its source", "svgedit")
def draw_a_circle(hand: Hand, stage: Stage) -> bool:
    """Toolbars in four hundred shadow trees; the source of the drawing replaced."""
    hand.open(stage.svgedit)
    hand.click("button", "OK")
    hand.click("", re.compile("tool_source|^Edit Source"), nth=-1)
    circle = '<svg width="64" height="48" xmlns="http://www.w3.org/2000/svg"><circle r="7"/></svg>'
    hand.fill("textbox", re.compile("svg"), circle)
    hand.click("button", re.compile("^(tools.ok|Apply|OK)"), nth=-1)
    hand.finish()
    return stage.comes(lambda: any("<circle" in drawing for drawing in stage.noted))


@task("sort a grid and press a row's button", "AG Grid")
def approve_the_last(hand: Hand, stage: Stage) -> bool:
    """A thousand rows, of which those in view are there."""
    hand.open(stage.ag_grid)
    hand.click("columnheader|gridcell", "Id")
    hand.click("columnheader|gridcell", "Id")
    hand.click("button", "Approve Person 999")
    hand.finish()
    return stage.comes(lambda: stage.noted == ["Person 999"])


@task("change a cell", "Handsontable")
def change_a_cell(hand: Hand, stage: Stage) -> bool:
    """A cell of a spreadsheet, typed over."""
    hand.open(stage.handsontable)
    hand.click("gridcell", "Note 3")
    for key in ("o", "k", "Enter"):
        hand.press(key)

    def changed() -> bool:
        return [change[:2] + change[3:] for changes in stage.noted for change in changes] == [[3, 4, "ok"]]

    hand.finish()
    return stage.comes(changed)


@task("make a letter bold and send it", "TinyMCE")
def send_a_letter(hand: Hand, stage: Stage) -> bool:
    """An editor in a frame, and its toolbar."""
    hand.open(stage.tinymce)
    hand.click("textbox|generic|document", re.compile("^Rich Text Area"))
    hand.press("Control+a")
    hand.click("button", "Bold")
    hand.click("button", "Send letter")
    hand.read(r"(?<!not )\bsent\b", near="sent")
    return "<strong>" in stage.noted[0]


@task("follow an entry of the general index", "Python documentation, 36,000 elements")
def follow_an_entry(hand: Hand, stage: Stage) -> bool:
    """One of seventeen thousand links."""
    hand.open(f"{stage.python}/genindex-all.html")
    hand.click("link", "ZipInfo (class in zipfile)")
    hand.finish()
    return stage.comes(lambda: stage.asked_for("/library/zipfile.html"))


@task("find a module and read a default", "Python documentation")
def read_a_default(hand: Hand, stage: Stage) -> bool:
    """Three pages, the last one long."""
    hand.open(f"{stage.python}/index.html")
    hand.click("link", "Library Reference")
    hand.click("link", re.compile("json — JSON"))
    default = hand.read(r"dumps\s*\([^)]{0,200}ensure_ascii\s*=\s*(\w+)", near="ensure_ascii")[1]
    return stage.asked_for("/library/json.html") and default == "True"


@task("read a signature", "Python documentation")
def read_a_signature(hand: Hand, stage: Stage) -> bool:
    """A long page with much code."""
    hand.open(f"{stage.python}/library/asyncio-task.html")
    return hand.read(r"wait_for\s*\(\s*(\w+)\s*,\s*timeout\s*\)", near="wait_for")[1] == "aw"


@task("find a function", "Node.js documentation in one page, 120,000 elements")
def find_a_function(hand: Hand, stage: Stage) -> bool:
    """More than some tools can show at all."""
    hand.open(f"{stage.node}/all.html")
    hand.click("link", re.compile(r"^fs\.cpSync\(src, dest\[, options\]\)"))
    return bool(hand.read(r"fs\.cpSync\(src, dest\[, options\]\)", near="fs.cpSync("))


@task("go to a page of a paper and read", "PDF viewer")
def read_a_paper(hand: Hand, stage: Stage) -> bool:
    """Twelve pages, drawn as they come into view."""
    hand.open(stage.viewer)
    hand.read("of 12", near="of 12")
    hand.fill("spinbutton", "Page", "7", submit=True)
    return hand.read(r"Finding 7 is about (\w+)", near="Finding 7")[1] == "clocks"
