"""A small HTTP API with its OpenAPI description, and the Swagger UI page that explores it."""

import json
from typing import Any
from urllib.parse import unquote

from tests.support.site import Reply, Request, Site

PAGE = """
<link rel="stylesheet" href="{files}/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="{files}/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({{url: "{api}/openapi.json", dom_id: "#swagger-ui"}})</script>
"""


class Bookshop:
    """Books by number, over HTTP: GET and POST /books, GET and DELETE /books/{number}."""

    def __init__(self, site: Site, swagger_files: str) -> None:
        self.books: dict[int, dict[str, Any]] = {
            1: {"id": 1, "title": "Emma", "author": "Jane Austen", "price": 7.5},
            2: {"id": 2, "title": "Persuasion", "author": "Jane Austen", "price": 8.25},
            3: {"id": 3, "title": "Middlemarch", "author": "George Eliot", "price": 11},
        }
        self.requests: list[str] = []
        api = site.route("/bookshop", self._answer)
        self.url = site.page(PAGE.format(files=swagger_files, api=api), title="Bookshop API")

    def _answer(self, request: Request) -> Reply:
        path = request.path.removeprefix("/bookshop")
        self.requests.append(f"{request.method} {path}")
        match request.method, path.strip("/").split("/"):
            case "GET", ["openapi.json"]:
                return _json(DESCRIPTION)
            case "GET", ["books"]:
                author = request.first("author").lower()
                limit = int(request.first("limit", "10"))
                found = [book for book in self.books.values() if author in book["author"].lower()]
                return _json(found[:limit])
            case "POST", ["books"]:
                book = {"id": max(self.books) + 1, **json.loads(request.body)}
                self.books[book["id"]] = book
                return _json(book, status=201)
            case "GET" | "DELETE", ["books", number] if int(unquote(number)) in self.books:
                book = self.books[int(number)]
                if request.method == "DELETE":
                    del self.books[int(number)]
                return _json(book)
            case _:
                return _json({"detail": "no such book"}, status=404)


def _json(value: Any, *, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), "application/json", status)


def _parameter(name: str, where: str, kind: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "schema": {"type": kind, **schema}}


_NUMBER = _parameter("number", "path", "integer")
_BOOK = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "author": {"type": "string"}, "price": {"type": "number"}},
    "example": {"title": "string", "author": "string", "price": 0},
}
_ANSWERS = {"200": {"description": "OK"}, "404": {"description": "No such book"}}
_AUTHOR = [_parameter("author", "query", "string"), _parameter("limit", "query", "integer", default=10)]
_NEW_BOOK = {"content": {"application/json": {"schema": _BOOK}}}
DESCRIPTION: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Bookshop", "version": "1.0"},
    "servers": [{"url": "/bookshop"}],
    "paths": {
        "/books": {
            "get": {"summary": "List books", "parameters": _AUTHOR, "responses": _ANSWERS},
            "post": {
                "summary": "Add a book",
                "requestBody": _NEW_BOOK,
                "responses": {"201": {"description": "Added"}},
            },
        },
        "/books/{number}": {
            "get": {"summary": "Show a book", "parameters": [_NUMBER], "responses": _ANSWERS},
            "delete": {"summary": "Remove a book", "parameters": [_NUMBER], "responses": _ANSWERS},
        },
    },
}
