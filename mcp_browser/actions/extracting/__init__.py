"""Taking what a page holds out of its HTML: tables, articles, the data of a schema; the text of a PDF."""
