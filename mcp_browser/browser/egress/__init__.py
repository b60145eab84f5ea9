"""The browser's way out: a proxy on this machine that connects only where the settings allow it."""
