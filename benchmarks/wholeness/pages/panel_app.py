"""Panel: widgets of all kinds beside a table."""

import sys

import pandas as pd
import panel as pn

pn.extension("tabulator")
widgets = pn.Column(
    pn.widgets.TextInput(name="Name"),
    pn.widgets.Select(name="City", options=["Ulm", "Bonn"]),
    pn.widgets.MultiChoice(name="Tags", options=["red", "blue"], value=["red"]),
    pn.widgets.IntSlider(name="Amount", start=0, end=10, value=3),
    pn.widgets.RangeSlider(name="Range", start=0, end=10, value=(2, 5)),
    pn.widgets.DatePicker(name="Day"),
    pn.widgets.Checkbox(name="Terms"),
    pn.widgets.Switch(name="Dark"),
    pn.widgets.RadioButtonGroup(name="View", options=["Day", "Week"]),
    pn.widgets.MenuButton(name="More", items=["Export", "Import"]),
    pn.widgets.Button(name="Go"),
)
table = pn.widgets.Tabulator(
    pd.DataFrame({"name": [f"Row {n}" for n in range(20)], "n": range(20)}), page_size=8
)
pn.serve(
    pn.Row(widgets, pn.Tabs(("Table", table), ("Notes", pn.widgets.TextAreaInput(name="Notes")))),
    address="127.0.0.1",
    port=int(sys.argv[1]),
    show=False,
)
