"""The browser sessions of remote clients."""
