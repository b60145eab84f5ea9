"""Dash: a form whose answer a callback on the server gives."""

import json
import sys
import urllib.request

from dash import Dash, Input, Output, State, dcc, html

app = Dash("cars")
app.layout = html.Div(
    [
        html.H1("Cars"),
        html.Label(["City", dcc.Dropdown(["Ulm", "Bonn", "Celle", "Gera"], "Ulm", id="city")]),
        dcc.RadioItems(["Day", "Week"], "Day", id="time"),
        dcc.Checklist(["Child seat", "Roof rack"], [], id="with"),
        dcc.Input(placeholder="Name", id="name"),
        html.Button("Reserve", id="go"),
        html.P(id="said"),
    ]
)


@app.callback(
    Output("said", "children"),
    Input("go", "n_clicks"),
    State("name", "value"),
    State("city", "value"),
    State("time", "value"),
    State("with", "value"),
    prevent_initial_call=True,
)
def reserve(_, name, city, time, things):
    """Note what was asked for, and answer."""
    car = {"name": name, "city": city, "time": time, "with": things}
    urllib.request.urlopen(f"{sys.argv[2]}/noted", json.dumps(car).encode()).close()
    return f"Reserved in {city} for {name}"


app.run(host="127.0.0.1", port=int(sys.argv[1]))
