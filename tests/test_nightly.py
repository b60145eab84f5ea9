"""What nightly.txt names is there."""

import re
from pathlib import Path

import pytest

from tests.conftest import COLLECTED, NIGHTLY

ROOT = Path(__file__).parent.parent


def test_each_test_that_is_left_to_the_night_is_there(request: pytest.FixtureRequest) -> None:
    named = {name: kept for name, kept in NIGHTLY.items() if not name.startswith("#")}
    assert len(named) > 100
    for test, kept in named.items():
        path, name = test.partition("[")[0].split("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)
        there = [one for one in request.config.stash[COLLECTED] if one.startswith(f"{test}[")]
        assert kept == [""] or not there or {f"{test}[{one}]" for one in kept} <= {*there}, test
