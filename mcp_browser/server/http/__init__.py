"""Serving over HTTP: the app, who may come in, and what is measured. Imported only where HTTP is served."""
