"""The page as a model sees it: the script in the page and what it finds."""
