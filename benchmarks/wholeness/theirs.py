"""What playwright-mcp lists on the same page of the same browser, and which elements these are."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Self

from benchmarks import servers
from benchmarks.wholeness.judge import Line
from benchmarks.wholeness.tree import Key, Operable, Tree

MARKS = "playwrightMcpMeasured"
_LINE = re.compile(r"""^\s*- '?(?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<rest>[^"\n]*)""", re.M)
_REF = re.compile(r"\[ref=(\w+)\]")
_MARK = """async page => {
  const refs = %s;
  const gone = [];
  for (let at = 0; at < refs.length; at += 20)
    await Promise.all(refs.slice(at, at + 20).map((ref, i) =>
      page.locator(`aria-ref=${ref}`).evaluate((element, [name, index]) =>
        (globalThis[name] ??= new Map()).set(index, element), ["%s", at + i], { timeout: 20000 }
      ).catch(() => gone.push(ref))));
  return gone.length;
}"""


class Theirs:
    """playwright-mcp, connected to the browser that this server drives."""

    def __init__(self, endpoint: str) -> None:
        """Start it.

        Args:
            endpoint: the browser's address for CDP.
        """
        self._endpoint = endpoint
        self._connection: servers.Connection | None = None
        self.lines: dict[int, Line] = {}
        self.without_ref: Counter[tuple[str, str]] = Counter()
        self.text = ""

    def __enter__(self) -> Self:
        """Start the process; it connects when it is first asked."""
        command = servers.command("playwright-mcp", "", sandbox=True)
        argv = [word for word in command.argv if word not in ("--isolated", "--executable-path", "")]
        self._connection = servers.Connection(
            servers.Command([*argv, "--cdp-endpoint", self._endpoint], command.env)
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End it; the browser goes on."""
        if self._connection is not None:
            self._connection.close()

    def look(self) -> None:
        """One snapshot of the page, and a mark on every element that has a reference.

        Raises:
            ToolError: playwright-mcp did not answer, or the page changed meanwhile.
        """
        assert self._connection is not None
        self.text = self._connection.call("browser_snapshot")
        self.lines.clear()
        self.without_ref.clear()
        refs: list[str] = []
        for found in _LINE.finditer(self.text):
            name = re.sub(r"\\(.)", r"\1", found["name"] or "")
            ref = _REF.search(found["rest"])
            if ref is None:
                self.without_ref[found["role"], " ".join(name.split())] += 1
            elif found["role"] != "generic" or "cursor=pointer" in found["rest"]:
                self.lines[len(refs)] = Line(found["role"], name)
                refs.append(ref[1])
        code = _MARK % (json.dumps(refs), MARKS)
        answer = self._connection.call("browser_run_code_unsafe", code=code, limit=120)
        if not re.search(r"^### Result\n0$", answer, re.M):
            raise servers.ToolError(f"the elements of references could not be had: {answer[:200]}")

    async def keys(self, tree: Tree) -> dict[int, Key]:
        """Which elements the lines stand for."""
        return await tree.keys_of_marked(MARKS)

    def also(self, missing: Iterable[Operable]) -> list[Operable]:
        """The nodes among these that no line without a reference has the role and name of."""
        left = self.without_ref.copy()
        rest: list[Operable] = []
        for node in missing:
            line = (node.role, " ".join(node.name.split()))
            if left[line]:
                left[line] -= 1
            else:
                rest.append(node)
        return rest
