"""Three replicas behind a real nginx, with the configuration in the manifests."""

from pathlib import Path

import pytest

from tests.support.load import load
from tests.support.site import Site
from tests.support.visitors import crowd

pytestmark = pytest.mark.slow

SESSIONS = load(6, full=24)
"""`just remote replicas` does it with two hundred."""


async def test_sessions_are_spread_and_found_again_and_a_dead_replica_loses_only_its_own(
    site: Site, tmp_path: Path
) -> None:
    outcome = await crowd(site, tmp_path, SESSIONS)
    assert outcome.spread.total() >= SESSIONS
    assert outcome.lost == outcome.spread["b"]
