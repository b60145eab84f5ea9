"""`python -m mcp_browser` and the `mcp-browser` command."""

import sys

_NOT_SERVING = frozenset(
    "do try run tasks install config skill doctor token completion -h --help --version".split()
)


def main() -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    if words[:1] == ["do"] and len(words) > 1 and {"-h", "--help", "--serve"}.isdisjoint(words[:end]):
        from mcp_browser.terminal import main as do  # noqa: PLC0415 - and nothing else

        sys.exit(do(words[1:]))
    import gc  # noqa: PLC0415
    import signal  # noqa: PLC0415

    serves = words == ["do", "--serve"] or _NOT_SERVING.isdisjoint(words)
    if serves and "record" not in words:
        # Python drops a KeyboardInterrupt that is raised while an import calls back: the program would go on.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from mcp_browser.browser.process.early_driver import start_driver  # noqa: PLC0415

    # Start-up makes very many objects that live on; looking for garbage among them takes a tenth of a second.
    gc.disable()
    if serves:
        start_driver()
    from mcp_browser.cli import main as run  # noqa: PLC0415

    sys.exit(run())


if __name__ == "__main__":
    main()
