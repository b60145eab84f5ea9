"""OpenTelemetry's spans go to an exporter where the environment names one; else nothing is imported."""

import logging
import os
import sys
import threading
from typing import TYPE_CHECKING

from mcp_browser import __version__
from mcp_browser.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0  # How long the last spans may take; clients end a server that takes two seconds
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def exporter_name() -> str | None:
    """The exporter that the environment asks for, None where it asks for none."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    name = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if name == "none" or (not name and not any(os.environ.get(variable) for variable in _ENDPOINTS)):
        return None
    return name or "otlp"


class Traces:
    """The spans of this process on their way to an exporter."""

    def __init__(self) -> None:
        self._provider: TracerProvider | None = None

    def start(self) -> None:
        """Send spans from now on where the environment says, if it does.

        Raises:
            SettingsError: the exporter is unknown, or its packages are missing.
        """
        name = exporter_name()
        if name is None:
            return
        try:
            from opentelemetry import trace  # noqa: PLC0415 - only where it is asked for
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

            exporter = _exporter(name)
        except ImportError as error:
            raise SettingsError(
                f"traces are asked for by OTEL_… variables, and {error.name} is missing: "
                "pip install 'mcp-browser-server[traces]'"
            ) from None
        named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "mcp-browser"}
        self._provider = TracerProvider(resource=Resource.create({**named, "service.version": __version__}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        trace.set_tracer_provider(self._provider)

    def finish(self) -> None:
        """Send what is left; a receiver that does not answer holds the process for a short time only."""
        if self._provider is None:
            return
        sender = threading.Thread(target=self._provider.shutdown, daemon=True)
        sender.start()
        sender.join(FLUSH_SECONDS)
        if sender.is_alive():
            logger.warning("The last spans could not be sent within %g s.", FLUSH_SECONDS)


TRACES = Traces()


def _exporter(name: str) -> "SpanExporter":
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter  # noqa: PLC0415

        # Standard output belongs to the protocol.
        return ConsoleSpanExporter(out=sys.stderr)
    if name != "otlp":
        raise SettingsError(f"OTEL_TRACES_EXPORTER is {name!r}; otlp, console and none are known")
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    if protocol != "http/protobuf":
        raise SettingsError(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}; only http/protobuf is known")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    return OTLPSpanExporter()
