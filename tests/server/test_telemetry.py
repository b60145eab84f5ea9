"""What the environment says about traces."""

import pytest

from mcp_browser.server.startup import Traces, exporter_name


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "Console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_SERVICE_NAME": "browser"}, None),
    ],
)
def test_spans_are_sent_where_a_variable_asks_for_it(
    variables: dict[str, str], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert exporter_name() == name


def test_without_an_exporter_there_is_nothing_to_start_or_to_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    traces = Traces()
    traces.start()
    traces.finish()
    assert exporter_name() is None
