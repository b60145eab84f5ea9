"""Put the MCP bundle together: the manifest, the package's source and what uv needs to install it.

    python scripts/build_bundle.py [FOLDER]

writes `mcp-browser-VERSION.mcpb` to FOLDER (default: dist), and beside it a `server.json` with its SHA-256.
"""

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The bundle of one state of the source is the same, byte for byte, wherever and whenever it is made.
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def main() -> int:
    """Build; the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    sys.stdout.write(f"{build(folder)}\n")
    return 0


def build(folder: Path) -> Path:
    """Write the bundle and its `server.json` to a folder; the bundle's path."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((ROOT / "manifests" / "mcpb" / "manifest.json").read_text("utf-8"))
    bundle = folder / f"{manifest['name']}-{manifest['version']}.mcpb"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_contents()):
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), path.read_bytes(), zipfile.ZIP_DEFLATED)
    server = json.loads((ROOT / "manifests" / "server.json").read_text("utf-8"))
    server["packages"][1]["fileSha256"] = hashlib.sha256(bundle.read_bytes()).hexdigest()
    (folder / "server.json").write_text(json.dumps(server, indent=2) + "\n", "utf-8")
    return bundle


def _contents() -> Iterator[tuple[str, Path]]:
    """Name in the bundle and path of every file."""
    yield "manifest.json", ROOT / "manifests" / "mcpb" / "manifest.json"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        yield name, ROOT / name
    for path in (ROOT / "mcp_browser").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path


if __name__ == "__main__":
    sys.exit(main())
