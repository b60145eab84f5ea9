"""Dash: controls, a chart and a table."""

import sys

from dash import Dash, dash_table, dcc, html

app = Dash("sales")
app.layout = html.Div(
    [
        html.H1("Sales"),
        dcc.Dropdown(["Ulm", "Bonn"], "Ulm", id="city"),
        dcc.Dropdown(["red", "blue"], ["red"], multi=True),
        dcc.DatePickerSingle(date="2026-10-14", id="day"),
        dcc.Slider(0, 10, 2, value=4),
        dcc.RangeSlider(0, 10, 2, value=[2, 6]),
        dcc.RadioItems(["Day", "Week"], "Day"),
        dcc.Checklist(["Tea", "Milk"], ["Tea"]),
        dcc.Input(placeholder="Name"),
        dcc.Upload(html.Button("Choose")),
        dcc.Tabs([dcc.Tab(label="Open"), dcc.Tab(label="Closed")]),
        dcc.Graph(figure={"data": [{"y": [2, 5, 3]}]}, style={"height": 300}),
        dash_table.DataTable(
            [{"name": f"Row {n}", "n": n} for n in range(12)],
            row_selectable="multi",
            sort_action="native",
            filter_action="native",
            editable=True,
            columns=[
                {"id": id, "name": id, "filter_options": {"placeholder_text": "filter"}}
                for id in ("name", "n")
            ],
            page_size=6,
        ),
    ]
)
app.run(host="127.0.0.1", port=int(sys.argv[1]))
