"""The egress proxy: it runs on this machine and connects only where the settings allow it."""
