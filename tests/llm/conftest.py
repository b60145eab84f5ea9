"""A server that speaks the providers' protocols."""

from collections.abc import Iterator

import pytest

from tests.support.aimock import Aimock, running_aimock


@pytest.fixture(scope="module")
def server() -> Iterator[Aimock]:
    """One aimock for a module's tests."""
    with running_aimock() as running:
        yield running


@pytest.fixture
def aimock(server: Aimock, monkeypatch: pytest.MonkeyPatch) -> Aimock:
    """aimock, to which every provider's client of this process is sent."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server
