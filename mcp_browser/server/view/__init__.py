"""The live view of browser sessions and their takeover by people, for each transport."""
