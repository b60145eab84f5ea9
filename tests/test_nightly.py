"""What nightly.txt names is there."""

import re
from pathlib import Path

TESTS = Path(__file__).parent


def test_each_test_that_is_left_to_the_night_is_there() -> None:
    lines = TESTS.joinpath("nightly.txt").read_text("utf-8").splitlines()
    named = [line.partition("[")[0].split("::") for line in lines if not line.startswith("#")]
    assert len(named) > 100
    for path, name in named:
        assert re.search(rf"^(async )?def {name}\(", (TESTS.parent / path).read_text("utf-8"), re.MULTILINE)
