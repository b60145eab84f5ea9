"""Datasette over one table."""

import os
import sqlite3
import sys

with sqlite3.connect("parts.db") as database:
    database.execute("CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, made TEXT)")
    rows = [(f"Part {n}", "bolt" if n % 2 else "nut", f"2026-10-{n % 28 + 1:02}") for n in range(150)]
    database.executemany("INSERT INTO parts (name, kind, made) VALUES (?, ?, ?)", rows)
options = ["parts.db", "--host", "127.0.0.1", "--port", sys.argv[1]]
os.execv(sys.executable, [sys.executable, "-m", "datasette", *options])
