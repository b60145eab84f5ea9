"""Shiny for Python: inputs, and an answer that comes over a socket."""

import json
import sys
import urllib.request

from shiny import App, reactive, render, run_app, ui

page = ui.page_fluid(
    ui.h1("Orders"),
    ui.input_text("name", "Name"),
    ui.input_select("city", "City", ["Ulm", "Bonn", "Celle"]),
    ui.input_numeric("amount", "Amount", 4),
    ui.input_checkbox_group("kinds", "Kinds", ["Tea", "Milk"]),
    ui.input_switch("gift", "Gift"),
    ui.input_action_button("go", "Order"),
    ui.output_text("said"),
)


def server(inputs, _output, _session):
    """Note an order, and answer."""

    @render.text
    @reactive.event(inputs.go)
    def said():
        order = {name: inputs[name]() for name in ("name", "city", "amount", "gift")}
        order["kinds"] = [*inputs.kinds()]
        urllib.request.urlopen(f"{sys.argv[2]}/noted", json.dumps(order).encode()).close()
        return f"{order['amount']} go to {order['city']}"


run_app(App(page, server), host="127.0.0.1", port=int(sys.argv[1]))
