"""Datasette over one table of books."""

import os
import sqlite3
import sys

with sqlite3.connect("books.db") as database:
    database.execute("CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, shelf TEXT, pages INTEGER)")
    shelves = ["poetry", "travel", "travel", "cooking", "travel", "poetry", "maps"]
    rows = [(f"Book {n}", shelves[n % 7], 90 + n * 37 % 400) for n in range(180)]
    database.executemany("INSERT INTO books (title, shelf, pages) VALUES (?, ?, ?)", rows)
options = ["books.db", "--host", "127.0.0.1", "--port", sys.argv[1]]
os.execv(sys.executable, [sys.executable, "-m", "datasette", *options])
