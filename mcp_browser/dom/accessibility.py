"""What axe-core finds wrong with a page."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp_browser.dom.models import DomNode

IMPACTS = ("critical", "serious", "moderate", "minor")
"""How bad a violation is for people, the worst first."""


@dataclass(slots=True)
class Violation:
    """A rule of axe-core that some elements break.

    `impact` is one of IMPACTS, `help` what the rule asks for, `url` where it is explained, `tags` those of
    the rule, `wcag111` for WCAG 1.1.1 among them. `count` is how many elements break it; `nodes` are the
    first of them, each with what is wrong with it.
    """

    rule: str
    impact: str
    help: str
    url: str
    tags: list[str]
    count: int = 0
    nodes: list[tuple[DomNode | None, str]] = field(default_factory=list[tuple[DomNode | None, str]])

    @property
    def criteria(self) -> list[str]:
        """The success criteria of WCAG that it is about, such as `1.1.1`."""
        numbers = [tag.removeprefix("wcag") for tag in self.tags if tag.startswith("wcag")]
        return [f"{n[0]}.{n[1]}.{n[2:]}" for n in numbers if n.isdecimal() and len(n) >= 3]  # noqa: PLR2004


@dataclass(slots=True)
class AccessibilityAudit:
    """The violations of a page by their rules; `unsure` are those that a person has to judge.

    `passed` is how many rules held in each frame, added up; `missed` are the frames that were not looked at.
    """

    violations: dict[str, Violation] = field(default_factory=dict[str, Violation])
    unsure: dict[str, Violation] = field(default_factory=dict[str, Violation])
    passed: int = 0
    missed: tuple[str, ...] = ()

    def add(self, answer: dict[str, Any], shown: Callable[[list[Any]], DomNode]) -> None:
        """Add what one frame answers; `shown` gives a line an index."""
        for name, into in (("violations", self.violations), ("unsure", self.unsure)):
            for found in answer[name]:
                impact = found["impact"] or IMPACTS[-1]
                new = Violation(found["rule"], impact, found["help"], found["url"], found["tags"])
                rule = into.setdefault(new.rule, new)
                rule.count += found["count"]
                rule.nodes += [
                    (shown(part["node"]) if part["node"] else None, "; ".join(part["why"]))
                    for part in found["nodes"]
                ]
        self.passed += answer["passed"]

    def worst_first(self) -> list[Violation]:
        """The violations, the worst first."""
        return sorted(self.violations.values(), key=lambda one: (IMPACTS.index(one.impact), -one.count))
