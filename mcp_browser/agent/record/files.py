"""What is written into a run's folder when it ends, made from its history alone."""

import logging
from pathlib import Path

import anyio.to_thread

from mcp_browser.agent.record.history import AgentHistory, TaskFolder

logger = logging.getLogger(__name__)


async def write_up(history: AgentHistory, folder: TaskFolder) -> None:
    """Write the report of a run, and the script that does the same; nothing else waits meanwhile.

    What goes wrong with it is no failure of the run.
    """
    # The run may go on while it is written up; its steps themselves never change.
    as_it_is = history.model_copy(update={"steps": list(history.steps)})
    try:
        texts = await anyio.to_thread.run_sync(_texts, as_it_is, folder.path)
        # Here again: whoever hears of a new file is in the event loop.
        for name, text in texts.items():
            folder.save_text(name, text)
    except Exception:
        logger.exception("The run %s could not be written up", history.id)


def _texts(history: AgentHistory, folder: Path) -> dict[str, str]:
    # Imported late: a template library is wanted only once a run has ended.
    from mcp_browser.agent.record.report import REPORT_FILE, render_report  # noqa: PLC0415
    from mcp_browser.agent.record.script import SCRIPT_FILE, export_script  # noqa: PLC0415

    return {REPORT_FILE: render_report(history, folder), SCRIPT_FILE: export_script(history)}
