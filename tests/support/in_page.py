"""Functions run in the page's own world on the element of an index."""

from typing import Any

from mcp_browser.dom.cdp import send
from mcp_browser.dom.service import DomService


async def in_page(dom: DomService, index: int, function: str, *arguments: Any) -> Any:
    """Return what a function of JavaScript returns for the element and the arguments, as JSON."""
    session, element = await dom.in_page(index)
    given = await send(
        session,
        "Runtime.callFunctionOn",
        objectId=element,
        functionDeclaration=f"function (...given) {{ return ({function})(this, ...given) }}",
        arguments=[{"value": argument} for argument in arguments],
        returnByValue=True,
        awaitPromise=True,
    )
    return given["result"].get("value")
