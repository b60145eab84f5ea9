"""`python -m benchmarks.remote load|soak`; see ../README.md."""

import argparse
import asyncio

from benchmarks.remote import load, report, soak


def main() -> None:
    """Measure, and write a section of docs/reliability.md."""
    arguments = argparse.ArgumentParser(description="Many clients over HTTP at once, or for long.")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    commands = arguments.add_subparsers(dest="command", required=True)
    many = commands.add_parser("load", help="many clients at once, with this server and playwright-mcp")
    many.add_argument("--clients", type=int, default=32)
    many.add_argument("--rounds", type=int, default=3, help="how often each client works through the form")
    long = commands.add_parser("soak", help="many calls in one process")
    long.add_argument("--calls", type=int, default=10_000)
    long.add_argument("--clients", type=int, default=4)
    long.add_argument("--minutes", type=float, default=60, help="stop after so long, however many were made")
    asked = arguments.parse_args()
    if asked.command == "load":
        text = asyncio.run(load.measure(asked.clients, asked.rounds))
    else:
        text = asyncio.run(soak.measure(asked.calls, asked.clients, asked.minutes))
    report.show(asked.command, text, write=not asked.no_write)


if __name__ == "__main__":
    main()
