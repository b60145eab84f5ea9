"""Starts the server and ends it, leaving no process behind; sends its traces."""

import gc
import importlib.util
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, cast

import anyio
import anyio.to_thread
from pydantic import BaseModel

from mcp_browser import __version__
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import BrowserUnavailable, NotFound, SettingsError
from mcp_browser.server.stdio import StdioWire
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

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


_exporting: list["TracerProvider"] = []  # The spans of this process on their way to an exporter


def _start_traces() -> None:
    """Send spans from now on where the environment says, if it does; raises SettingsError."""
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
    provider = TracerProvider(resource=Resource.create({**named, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    _exporting.append(provider)


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


_PACKAGES = ("mcp", "mcp.server")
_running = threading.RLock()


class _Package(ModuleType):
    """A package whose own code has not run; its modules can be imported all the same."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _running:
            if type(self) is _Package:
                cast("Any", self).__class__ = ModuleType
                spec = self.__spec__
                assert spec is not None
                assert spec.loader is not None
                spec.loader.exec_module(self)
        return getattr(self, name)


def import_with_sdk(name: str) -> ModuleType:
    """Import a module that imports the SDK; no other import of the SDK may run meanwhile."""
    for package in _PACKAGES:
        if package not in sys.modules and (spec := importlib.util.find_spec(package)) is not None:
            module = importlib.util.module_from_spec(spec)
            cast("Any", module).__class__ = _Package
            sys.modules[package] = module
            parent, _, own = package.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own, module)
    # Each model that is made meanwhile takes this setting from its base.
    BaseModel.model_config["defer_build"] = True
    try:
        return import_module(name)
    finally:
        del BaseModel.model_config["defer_build"]


logger = logging.getLogger(__name__)

CLOSING_SECONDS = 3.5  # How long the browser may take to close; the rest ends with the driver's pipe
Serving = Callable[[Any], Callable[..., Awaitable[None]]]
"""Takes the module of the transports, when that is imported, and returns the one of them that serves."""

STOP_SIGNALS = [signal.SIGTERM, signal.SIGINT] + ([signal.SIGHUP] if sys.platform != "win32" else [])


def run_stdio(settings: Settings, wire: StdioWire | None) -> NoReturn:
    """Serve over stdio until the input ends or a signal comes; then close the browser and end the process.

    The exit code is 0 at the end of input and 128 + N after signal N. Raises ExceptionGroup: the server could
    not be started; SettingsError: a file of the settings cannot be used, or traces cannot be sent.
    """
    try:
        run_local(settings, lambda transports: partial(transports.serve_stdio, wire=wire))
    except ExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        logger.info("The client has gone.")
    _end(0)


def run_local(settings: Settings, serving: Serving, cleared: Callable[[], None] = lambda: None) -> NoReturn:
    """Serve one client until it has gone or a signal comes; `cleared` removes files."""
    _run(settings, _serve_until_stopped, serving, cleared)


def run_http(settings: Settings) -> NoReturn:
    """Serve over HTTP until a signal comes; then let running calls end, close everything, end the process.

    The exit code is 0 after SIGTERM, 128 + N after another signal N; a second signal ends it at once. Raises
    SettingsError: the server cannot listen, or cannot be started as the settings want it.
    """
    # Imported late: they import starlette and uvicorn, which stdio does not need.
    from mcp_browser.server.http.auth.middleware import check_exposure  # noqa: PLC0415
    from mcp_browser.server.http.quiet_logs import quiet_logs  # noqa: PLC0415

    quiet_logs()
    check_exposure(settings.access, settings.server.host)
    _run(settings, _serve_http_until_stopped)


def _run(settings: Settings, serve: Callable[..., Awaitable[None]], *arguments: Any) -> NoReturn:
    """Check the files that contexts begin with, and that recording works; serve, then end the process."""
    if settings.browser.prepares_pages or settings.browser.storage_state is not None:
        # Imported late: it imports Playwright's classes.
        from mcp_browser.browser.site_data import check  # noqa: PLC0415

        check(settings.browser)
    if settings.recording.record != "none":
        from mcp_browser.browser import recording  # noqa: PLC0415

        recording.check(settings)
    _start_traces()
    anyio.run(serve, settings, *arguments)
    _end(0)


async def check_device(manager: BrowserManager) -> None:
    """Find the device that the settings name, which only Playwright's driver knows; raises SettingsError."""
    if manager.settings.browser.device is None:
        return
    try:
        await manager.pool.use_device()
    except BrowserUnavailable:
        pass  # The first call says why.
    except NotFound as error:
        raise SettingsError(f"device: {error}") from None


async def _serve_http_until_stopped(settings: Settings) -> None:
    manager = BrowserManager(settings, remote=True)
    await manager.warm(shared=True)
    serving = await anyio.to_thread.run_sync(import_with_sdk, "mcp_browser.server.http.serving")
    try:
        await check_device(manager)
        server = serving.HttpServer(settings, manager, serving.listen(settings.server))
    except SettingsError:
        await _close(manager)
        raise
    gc.freeze()
    gc.enable()

    async def stop(number: int) -> None:
        await server.stop()
        await _close(manager)
        _end(0 if number == signal.SIGTERM else 128 + number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, stop)
        await server.serve()


Stop = Callable[[int], Coroutine[Any, Any, None]]  # Ends the process after this signal


async def _stop_on_signal(stop: Stop, *, is_patient: bool = False) -> None:
    """End the process from here: a thread that waits for input cannot be cancelled and would hold it.

    A second signal ends it at once, unless `is_patient`.
    """
    if sys.platform == "win32":
        return  # Its event loops take no signals: what `begin` has set up ends the process.
    async with anyio.create_task_group() as tasks:
        with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
            tasks.start_soon(stop, await anext(signals))
            async for number in signals:
                if not is_patient:
                    _end(128 + number)


async def _serve_until_stopped(settings: Settings, serving: Serving, cleared: Callable[[], None]) -> None:
    manager = BrowserManager(settings)

    async def stop(number: int) -> None:
        cleared()
        await _close(manager)
        _end(128 + number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(_stop_on_signal, stop, is_patient=True))
        await manager.warm()
        # The protocol's modules take as long to import as a browser takes to start: do both at once.
        transports = await anyio.to_thread.run_sync(import_with_sdk, "mcp_browser.server.transports")
        gc.freeze()
        gc.enable()
        try:
            await check_device(manager)
            await serving(transports)(settings, manager)
        finally:
            await _close(manager)
        tasks.cancel_scope.cancel()


async def _close(manager: BrowserManager) -> None:
    with anyio.move_on_after(CLOSING_SECONDS, shield=True) as closing:
        await manager.close()
    if closing.cancelled_caught:
        logger.warning("The browser did not close within %s s.", CLOSING_SECONDS)


def _end(code: int) -> NoReturn:
    """Send the remaining spans, waiting for the receiver for a short time only; end the process."""
    for provider in _exporting:
        sender = threading.Thread(target=provider.shutdown, daemon=True)
        sender.start()
        sender.join(FLUSH_SECONDS)
        if sender.is_alive():
            logger.warning("The last spans could not be sent within %g s.", FLUSH_SECONDS)
    sys.stderr.flush()
    os._exit(code)
