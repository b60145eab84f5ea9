"""The pages on which people enter secrets: a form at an address used once, and thanks."""

import base64
import hashlib
import html
from importlib import resources
from urllib.parse import parse_qs

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from mcp_browser.errors import NotActionable
from mcp_browser.server.elicitation import PATH, Context, SecretForms
from mcp_browser.server.http.auth.middleware import public_base
from mcp_browser.settings import Settings
from mcp_browser.text import cut

LONGEST_ANSWER = 16_384  # Most bytes of a filled-in form
LONGEST_TASK = 500  # How much of a task a page shows, characters

STYLE = (resources.files("mcp_browser.server.view") / "page" / "view.css").read_text(encoding="utf-8")
STYLE_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

SAFELY = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{STYLE_DIGEST}'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    ),
    # Not `no-referrer`: with that, browsers do not say either where a form comes from.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>mcp-browser</title>
<style>{style}</style>
<main class="entry">
{body}
</main>
</html>
"""

FORM = """\
<h1>The browser's agent asks you</h1>
<p>{question}
<dl>
<dt>For the pages of<dd><b>{site}</b>
<dt>For the task<dd>{task}
</dl>
<form method="post" autocomplete="off">
<p><label>Answer <input type="password" name="answer" required autofocus autocomplete="off"></label>
<button class="main">Send</button>
</form>
<p class="hint">Your answer is typed on pages of <b>{site}</b> only. It is shown to no model, and not
written down. If you know nothing of this task, close this page."""

THANKS = "<p>Thank you. You can close this page."
GONE = "<p>This page was used already, or is too old. Ask for another one where you were asked."


def secret_route(forms: SecretForms, *, prefix: str = "") -> Route:
    """The route of the forms. The address is the only check: it is secret."""

    async def serve(request: Request) -> HTMLResponse:
        form = forms.find(request.path_params["token"])
        if form is None:
            return _page(GONE, 410)
        sent = request.method == "POST"
        answer = await _answer(request) if sent else ""
        if not answer:
            question, site = html.escape(form.question), html.escape(form.site)
            task = html.escape(cut(form.task, LONGEST_TASK))
            return _page(FORM.format(question=question, site=site, task=task), 400 if sent else 200)
        if form.answer.done():
            return _page(GONE, 410)
        form.answer.set_result(SecretStr(answer))
        return _page(THANKS, 200)

    return Route(f"{prefix}{PATH}{{token}}", serve, methods=["GET", "POST"])


def hosted_at(settings: Settings, request: Context) -> str:
    """The address by which a client reaches this server; raises NotActionable."""
    if request.request is None:
        raise NotActionable("The client's address for this server is not known.")
    return f"{public_base(request.request.scope, settings.access)}{settings.server.path_prefix}"


def _page(body: str, status: int) -> HTMLResponse:
    return HTMLResponse(PAGE.format(body=body, style=STYLE), status, headers=SAFELY)


async def _answer(request: Request) -> str:
    """What a form was filled in with; empty where it is none, or too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_ANSWER:
            return ""
    try:
        given = parse_qs(body.decode("ascii"), max_num_fields=4, errors="strict")
    except ValueError:
        return ""
    return given.get("answer", [""])[0]
