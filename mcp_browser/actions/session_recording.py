"""Record the session as a video or a trace of Playwright's."""

from pkgutil import resolve_name
from typing import Any, Literal

from pydantic import Field

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.files.filenames import size_text
from mcp_browser.browser.recording import FRAMES_A_SECOND, Recordings
from mcp_browser.browser.screencast import FRAMES_A_SECOND as MOST_FRAMES
from mcp_browser.errors import InvalidArguments
from mcp_browser.settings.values import Viewport
from mcp_browser.text import counted

session_recording = Registry(group="recording")

PERSON_RECORDER = "mcp_browser.agent.recorder:PersonRecorder"  # It writes histories, which are the agent's


class StartRecordingParams(ActionParams):
    kind: Literal["video", "trace", "actions"] = Field(
        "video", description="trace: for Playwright's trace viewer; actions: a person's, as a test"
    )
    name: str | None = Field(None, description="file name")
    size: str | None = Field(None, description="of a video, WIDTHxHEIGHT; by default the view's")
    fps: int = Field(FRAMES_A_SECOND, ge=1, le=MOST_FRAMES, description="most frames a second of a video")


@session_recording.action(effect="read")
async def start_recording(ctx: ActionContext, params: StartRecordingParams) -> str:
    """Record the session, in whichever tab it works, until stop_recording."""
    if params.kind != "video" and (given := {"size", "fps"} & params.model_fields_set):
        raise InvalidArguments(f"{params.kind} has no {', '.join(sorted(given))}.")
    if params.kind == "actions":
        await (await _person_recorder(ctx)).start(params.name)
        return (
            "Recording what a person does in the browser; stop_recording ends it. Your own calls are not "
            "recorded."
        )
    try:
        size = Viewport.model_validate(params.size) if params.size else None
    except ValueError as error:
        raise InvalidArguments("size must be WIDTHxHEIGHT, 100 to 10000 each, such as 1280x720.") from error
    recordings = await ctx.session.plugin(Recordings)
    with ctx.writing():
        file = await recordings.start(
            params.kind, name=params.name, size=(size.width, size.height) if size else None, fps=params.fps
        )
    bounds = ctx.settings.recording
    return (
        f"Recording a {params.kind} as {file.place}, {bounds.record_minutes:g} minutes and "
        f"{bounds.record_size} MB at most. stop_recording ends it."
    )


@session_recording.action(effect="read", own_time=lambda _: 60)
async def stop_recording(
    ctx: ActionContext,
    kind: Literal["video", "trace", "actions"] | None = Field(None, description="by default all"),
) -> ActionResult:
    """End the recording; its file."""
    recorder = await _person_recorder(ctx)
    if kind == "actions" or (kind is None and recorder.active):
        # What a person did: the tests, and the history that replay_task takes.
        recording = await recorder.stop()
        with ctx.writing():
            files = await recorder.keep(recording)
        return ActionResult(
            extracted_content=f"Recorded {counted(recording.steps, 'step')}: "
            f"{', '.join(file.place for file in files)}. replay_task does them again, by the history.",
            page_content=recording.tests["python"],
            attachments=ctx.attach(*files),
        )
    recordings = await ctx.session.plugin(Recordings)
    with ctx.writing():
        ended = await recordings.stop(kind)
    recorded = "; ".join(f"{one.place} ({size_text(one.size)})" for one in ended)
    return ActionResult(extracted_content=f"Recorded {recorded}.", attachments=ctx.attach(*ended))


async def _person_recorder(ctx: ActionContext) -> Any:
    return await ctx.session.plugin(resolve_name(PERSON_RECORDER))
