"""The browser of the user's own that runs already: finding it, and working in it beside its user."""
