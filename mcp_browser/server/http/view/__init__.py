"""The live view: a page on which people watch browser sessions and take them over."""
