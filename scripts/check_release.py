"""Check that a tag, the manifests and the changelog are of one version.

python scripts/check_release.py v0.1.0    exit with 1 where they are not
"""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Check; the exit code."""
    version = sys.argv[1].removeprefix("v")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    server = json.loads((ROOT / "manifests" / "server.json").read_text("utf-8"))
    bundle = json.loads((ROOT / "manifests" / "mcpb" / "manifest.json").read_text("utf-8"))
    named = {
        "pyproject.toml": project["tool"]["hatch"]["version"]["fallback-version"],
        "manifests/server.json": server["version"],
        "manifests/mcpb/manifest.json": bundle["version"],
    }
    kubernetes = ROOT / "manifests" / "kubernetes"
    for overlay in sorted((kubernetes / "overlays").glob("*/kustomization.yaml")):
        found = re.findall(r"newTag: (\S+?)(?:-server)?$", overlay.read_text("utf-8"), re.M)
        named |= {str(overlay.relative_to(ROOT)): one for one in found}
    chart = re.findall(r"ersion: (\d\S+)$", (kubernetes / "Chart.yaml").read_text("utf-8"), re.M)
    named |= {f"manifests/kubernetes/Chart.yaml, line {number}": one for number, one in enumerate(chart, 1)}
    wrong = [f"{file} names {found}, not {version}" for file, found in named.items() if found != version]
    if f"## [{version}]" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        wrong.append(f"CHANGELOG.md has no section [{version}]")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
