"""Whether a model picks the right tool and arguments from this server's list and from another's."""
