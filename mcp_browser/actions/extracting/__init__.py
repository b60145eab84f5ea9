"""Extract tables, articles and the data of a schema from the HTML of a page."""
