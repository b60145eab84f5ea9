"""Shiny for Python: inputs of all kinds."""

import sys

from shiny import App, run_app, ui

page = ui.page_sidebar(
    ui.sidebar(
        ui.input_text("name", "Name"),
        ui.input_select("city", "City", ["Ulm", "Bonn"]),
        ui.input_selectize("tags", "Tags", ["red", "blue"], multiple=True),
        ui.input_slider("amount", "Amount", 0, 10, 4),
        ui.input_slider("range", "Range", 0, 10, (2, 6)),
        ui.input_date("day", "Day", value="2026-10-14"),
        ui.input_switch("dark", "Dark"),
    ),
    ui.input_checkbox_group("kinds", "Kinds", ["Tea", "Milk"]),
    ui.input_radio_buttons("view", "View", ["Day", "Week"]),
    ui.input_file("file", "File"),
    ui.input_action_button("go", "Go"),
    ui.navset_card_tab(ui.nav_panel("Open", "Open ones"), ui.nav_panel("Closed", "Closed ones")),
    ui.accordion(ui.accordion_panel("History", "Nothing"), open=False),
    title="Orders",
)
run_app(App(page, None), host="127.0.0.1", port=int(sys.argv[1]))
