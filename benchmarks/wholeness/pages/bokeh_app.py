"""Bokeh: a plot with its tools, widgets and a table."""

import sys

from bokeh.layouts import column, row
from bokeh.models import (
    Button,
    CheckboxGroup,
    ColumnDataSource,
    DataTable,
    DatePicker,
    MultiChoice,
    RadioButtonGroup,
    Select,
    Slider,
    Spinner,
    TableColumn,
    TabPanel,
    Tabs,
    TextInput,
)
from bokeh.plotting import figure
from bokeh.server.server import Server


def modify(document):
    """Lay the page out."""
    plot = figure(height=260, tools="pan,box_zoom,wheel_zoom,save,reset")
    plot.line([1, 2, 3], [3, 1, 4], legend_label="Rain")
    source = ColumnDataSource({"name": [f"Row {n}" for n in range(20)], "n": [*range(20)]})
    columns = [TableColumn(field="name", title="Name"), TableColumn(field="n", title="N")]
    widgets = column(
        TextInput(title="Name"),
        Select(title="City", options=["Ulm", "Bonn"], value="Ulm"),
        MultiChoice(title="Tags", options=["red", "blue"], value=["red"]),
        Slider(title="Amount", start=0, end=10, value=4),
        Spinner(title="Count", value=2),
        DatePicker(title="Day", value="2026-10-14"),
        CheckboxGroup(labels=["Tea", "Milk"], active=[0]),
        RadioButtonGroup(labels=["Day", "Week"], active=0),
        Button(label="Go"),
    )
    table = DataTable(source=source, columns=columns, height=260)
    tabs = Tabs(tabs=[TabPanel(child=plot, title="Plot"), TabPanel(child=table, title="Table")], active=1)
    document.add_root(row(widgets, tabs))


server = Server({"/": modify}, port=int(sys.argv[1]), address="127.0.0.1")
server.run_until_shutdown()
