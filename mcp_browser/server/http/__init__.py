"""Serving over HTTP: the app, access and metrics. Imported only where HTTP is served."""
