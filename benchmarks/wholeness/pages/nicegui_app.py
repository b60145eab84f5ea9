"""NiceGUI: a form, a table, a tree, a menu and a dialog."""

import sys

from nicegui import ui


@ui.page("/")
def page() -> None:
    """The one page."""
    with ui.header(), ui.button("Menu"), ui.menu():
        ui.menu_item("Export")
        ui.menu_item("Import")
    ui.input("Name", validation={"Needed": bool})
    ui.number("Amount", value=3)
    ui.select(["Ulm", "Bonn"], label="City")
    ui.slider(min=0, max=10, value=4)
    ui.switch("Dark")
    ui.checkbox("Terms")
    ui.radio(["One", "Two"])
    ui.toggle(["Day", "Week"])
    ui.input("Day").props("type=date")
    ui.rating(value=2, max=5)
    ui.knob(0.3)
    with ui.expansion("More"):
        ui.label("Nothing")
    with ui.tabs():
        ui.tab("Open")
        ui.tab("Closed")
    ui.tree([{"id": "fruit", "children": [{"id": "apple"}]}], label_key="id").expand()
    ui.table(
        rows=[{"name": f"Row {n}", "age": n} for n in range(12)],
        selection="multiple",
        row_key="name",
        pagination=5,
    )
    with ui.dialog() as dialog, ui.card():
        ui.label("Sure?")
        ui.button("Yes", on_click=dialog.close)
    ui.button("Ask", on_click=dialog.open)


ui.run(host="127.0.0.1", port=int(sys.argv[1]), reload=False, show=False)
