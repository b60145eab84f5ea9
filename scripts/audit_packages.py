"""Compare the packages of requirements.lock with the known advisories (OSV), by pip-audit.

Exits 1 where one of them has an advisory, and 0 where none has. Where the advisories cannot be reached it
says that nothing was compared, and exits 0: a machine without that way out can still build.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).parent.parent / "requirements.lock"
SECONDS = 300
UNREACHABLE = re.compile(r"Connect|connect|ServiceError|timed out|Max retries|ProxyError|resolve|HTTPError")


def main() -> int:
    """Compare, and print what was found."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--requirement",
        str(LOCK),
        "--disable-pip",
        "--require-hashes",
    ]
    command += ["--vulnerability-service", "osv", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return _not_compared(f"no answer within {SECONDS} s")
    return judge(done.stdout, done.stderr)


def judge(output: str, errors: str) -> int:
    """Say what pip-audit has found, by what it has printed; the exit code."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = next((line for line in reversed(errors.splitlines()) if line.strip()), "it said nothing")
        if UNREACHABLE.search(errors):
            return _not_compared(last)
        sys.stdout.write(f"pip-audit failed: {last}\n")
        return 1
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    found = [
        f"{package['name']} {package['version']}: {advisory['id']}, "
        f"fixed in {', '.join(advisory['fix_versions']) or 'no version'}"
        for package in packages
        for advisory in package.get("vulns", ())
    ]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.stdout.write(f"{len(packages) - len(skipped)} packages compared, {len(found)} advisories.\n")
    if skipped:
        sys.stdout.write(f"NOT compared: {', '.join(skipped)}.\n")
    return 1 if found else 0


def _not_compared(why: str) -> int:
    sys.stdout.write(f"The advisories cannot be reached ({why[:200]}): the packages are NOT audited.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
