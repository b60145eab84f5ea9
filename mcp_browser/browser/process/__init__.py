"""The browser process, its driver, its profile."""
