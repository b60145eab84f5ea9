"""`python -m benchmarks.remote load|soak|chaos|replicas`; see ../README.md."""

import argparse
import asyncio

from benchmarks.remote import chaos, load, replicas, report, soak


def main() -> None:
    """Measure, and write a section of docs/reliability.md."""
    arguments = argparse.ArgumentParser(
        description="Many clients over HTTP: at once, for long, under faults, behind a proxy."
    )
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    commands = arguments.add_subparsers(dest="command", required=True)
    many = commands.add_parser("load", help="many clients at once, with this server and playwright-mcp")
    many.add_argument("--clients", type=int, default=32)
    many.add_argument("--rounds", type=int, default=3, help="how often each client works through the form")
    long = commands.add_parser("soak", help="many calls in one process")
    long.add_argument("--calls", type=int, default=10_000)
    long.add_argument("--clients", type=int, default=4)
    long.add_argument("--minutes", type=float, default=60, help="stop after so long, however many were made")
    faults = commands.add_parser("chaos", help="browsers, renderers and connections killed at random")
    faults.add_argument("--faults", type=int, default=100)
    faults.add_argument("--seed", type=int, default=4, help="of the random order")
    several = commands.add_parser("replicas", help="many sessions on three replicas behind nginx")
    several.add_argument("--sessions", type=int, default=200)
    asked = arguments.parse_args()
    match asked.command:
        case "load":
            work = load.measure(asked.clients, asked.rounds)
        case "soak":
            work = soak.measure(asked.calls, asked.clients, asked.minutes)
        case "chaos":
            work = chaos.measure(asked.faults, asked.seed)
        case _:
            work = replicas.measure(asked.sessions)
    report.show(asked.command, asyncio.run(work), write=not asked.no_write)


if __name__ == "__main__":
    main()
