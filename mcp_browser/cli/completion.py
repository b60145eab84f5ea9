"""`mcp-browser completion`: the script by which a shell completes commands and settings."""

import argparse
import sys

import shtab


def completion(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script for a shell; the exit code."""
    sys.stdout.write(shtab.complete(parser, shell=shell) + "\n")
    return 0
