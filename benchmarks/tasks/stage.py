"""What the tasks are done on: applications and documents from packages, on loopback ports."""

import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from sqlite3 import connect
from typing import Any, Self

from benchmarks.tasks.paper import paper
from benchmarks.wholeness import stage as packages
from benchmarks.wholeness.second import SECOND
from tests.support.apps import Django, JupyterLab, django, jupyterlab, python_documentation
from tests.support.bookshop import Bookshop
from tests.support.miniwob import Gym, running_gym
from tests.support.packages import debian_package, npm_packages
from tests.support.site import Reply, Request, Site

PEOPLE = 300
PATIENCE = 5
"""Seconds within which what a task has done is seen from outside."""
PAGES = Path(__file__).parent / "pages"
SUPPORT = Path(__file__).parent.parent.parent / "tests" / "support"

GRIDS = ("ag-grid-community@36.2.0", "handsontable@18.1.1")


class Stage:
    """Everything that can be browsed; what no task asks for is not started.

    `noted` is what pages and forms have sent back, in order: how a task's success is seen from outside.
    """

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._running = contextlib.ExitStack()
        self.noted: list[Any] = []

    def __enter__(self) -> Self:
        """Start the site."""
        self.site = self._running.enter_context(Site())
        self.site.route("/noted", self._note)
        self._packages = self._running.enter_context(packages.Stage(self.site, PAGES))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop whatever runs."""
        self._running.close()

    def reset(self) -> None:
        """Forget what the last task has done."""
        self.noted.clear()
        self.site.requests.clear()
        if "admin" in self.__dict__:
            self.admin.reset()
            self._people(self.admin)
        if "lab" in self.__dict__:
            for file in self.lab.folder.glob("*.txt"):
                file.unlink()

    def asked_for(self, path: str) -> bool:
        """Whether a page of the site was asked for."""
        return any(request.split()[1].split("?")[0].endswith(path) for request in self.site.requests)

    def comes(self, condition: Callable[[], bool]) -> bool:
        """Whether something comes about within a few seconds: a beacon, a file."""
        until = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < until:
            time.sleep(0.05)
        return condition()

    def _note(self, request: Request) -> Reply:
        self.noted.append(json.loads(request.body))
        return Reply(f"Order {len(self.noted)} sent".encode(), "text/plain")

    def packaged(self, source: str) -> str:
        """A page or a program over the packages of the page that `wholeness` calls the same; its URL."""
        page = next(page for page in SECOND if page.source == source)
        return self._packages.address(replace(page, framed=False))

    def _folder(self) -> Path:
        return Path(self._running.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))

    def _page(self, name: str, **values: str) -> str:
        """Publish a page of this benchmark's, its {names} filled in; its URL."""
        file = PAGES / name if (PAGES / name).exists() else SUPPORT / name
        html = file.read_text(encoding="utf-8")
        for key, value in values.items():
            html = html.replace(f"{{{key}}}", value)
        return self.site.publish(html.encode(), path=f"/{name}")

    @cached_property
    def admin(self) -> Django:
        """Django's admin site with a few hundred users."""
        app = self._running.enter_context(django(self._folder()))
        self._people(app)
        return app

    def _people(self, app: Django) -> None:
        rows = [
            (f"user{n:03}", f"First{n}", f"Last{n}", f"user{n:03}@example.com", n % 7 == 0)
            for n in range(1, PEOPLE + 1)
        ]
        with closing(connect(app.database)) as database, database:
            database.executemany(
                "INSERT INTO auth_user (username, first_name, last_name, email, is_staff, is_active,"
                " is_superuser, password, date_joined) VALUES (?, ?, ?, ?, ?, 1, 0, '', '2026-01-01')",
                rows,
            )

    @cached_property
    def lab(self) -> JupyterLab:
        """JupyterLab with an empty folder."""
        return self._running.enter_context(jupyterlab(self._folder()))

    @cached_property
    def gym(self) -> Gym:
        """MiniWoB++."""
        return self._running.enter_context(running_gym())

    def bookshop(self) -> Bookshop:
        """Swagger UI over a small API, as at the start."""
        modules = npm_packages("swagger", "swagger-ui-dist@5.35.0")
        return Bookshop(self.site, self.site.mount("/swagger-ui-dist", modules / "swagger-ui-dist"))

    @cached_property
    def tea(self) -> str:
        """An order form of Shoelace's components."""
        modules = npm_packages("shoelace", "@shoelace-style/shoelace@2.20.1")
        files = self.site.mount("/shoelace", modules / "@shoelace-style" / "shoelace" / "cdn")
        return self._page("shoelace_order.html", files=files, orders="/noted")

    @cached_property
    def ag_grid(self) -> str:
        """AG Grid with a thousand rows, each with a button."""
        files = self.site.mount("/ag-grid", npm_packages("grids", *GRIDS) / "ag-grid-community" / "dist")
        return self._page("ag_grid.html", files=files)

    @cached_property
    def handsontable(self) -> str:
        """Handsontable with a thousand rows."""
        files = self.site.mount("/handsontable", npm_packages("grids", *GRIDS) / "handsontable" / "dist")
        return self._page("handsontable.html", files=files)

    @cached_property
    def tinymce(self) -> str:
        """TinyMCE over a letter."""
        files = self.site.mount("/tinymce", npm_packages("tinymce", "tinymce@8.9.2") / "tinymce")
        return self._page("tinymce.html", files=files)

    @cached_property
    def svgedit(self) -> str:
        """The drawing editor."""
        editor = npm_packages("svgedit", "svgedit@7.4.1") / "svgedit" / "dist" / "editor"
        self.site.mount("/svgedit", editor)
        html = (editor / "index.html").read_text(encoding="utf-8")
        note = (PAGES / "svgedit_note.html").read_text(encoding="utf-8")
        page = html.replace("</body>", f"{note}</body>").encode()
        return self.site.publish(page, path="/svgedit/index.html")

    @cached_property
    def kitchen(self) -> str:
        """The example application of Cypress: pages of things to do, with addresses without `.html`."""
        package = npm_packages("kitchensink", "cypress-example-kitchensink@7.0.0")
        app = package / "cypress-example-kitchensink" / "app"
        self.site.mount("/assets", app / "assets")
        for page in app.rglob("*.html"):
            path = f"/{page.relative_to(app).with_suffix('')}".removesuffix("/index") or "/"
            self.site.publish(page.read_bytes(), path=path)
        self.site.publish((app / "index.html").read_bytes(), path="/")
        return self.site.url

    @cached_property
    def python(self) -> str:
        """Python's documentation."""
        return self.site.mount("/python", python_documentation())

    @cached_property
    def node(self) -> str:
        """The documentation of Node.js in one page."""
        return self.site.mount("/node", debian_package("nodejs-doc") / "usr/share/doc/nodejs/api")

    @cached_property
    def viewer(self) -> str:
        """The PDF viewer with a paper of twelve pages."""
        self.site.mount("/pdf", debian_package("libjs-pdf") / "usr/share/javascript/pdf")
        self.site.publish(paper(12), path="/paper.pdf", content_type="application/pdf")
        return f"{self.site.url}/pdf/web/viewer.html?file=/paper.pdf"
