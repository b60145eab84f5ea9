"""Three replicas behind a real nginx, with the configurations in the manifests."""

from pathlib import Path

import pytest

from tests.support.load import load
from tests.support.replicas import clustered, replicated
from tests.support.site import Site
from tests.support.visitors import Behind, crowd

pytestmark = pytest.mark.slow

SESSIONS = load(6, full=24)
"""`just remote replicas` does it with two hundred."""


@pytest.mark.parametrize(("behind", "sessions"), [(replicated, SESSIONS), (clustered, SESSIONS // 2)])
async def test_sessions_are_spread_and_found_again_and_a_dead_replica_loses_only_its_own(
    site: Site, tmp_path: Path, behind: Behind, sessions: int
) -> None:
    outcome = await crowd(site, tmp_path, sessions, behind=behind)
    assert outcome.spread.total() >= sessions
    assert outcome.lost == outcome.spread[outcome.killed] > 0
