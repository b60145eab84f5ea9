"""The actions that end a task and ask a person; only the built-in agent has them."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, create_model

from mcp_browser.actions.answer_schema import AnswerSchema
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import InvalidArguments

DONE = "done"
CALL_USER = "call_user"


class DoneParams(ActionParams):
    success: bool = Field(description="all that was asked is done, and seen to be")
    text: str = Field(repr=False, description="the answer, or what was reached and what stands in the way")


def agent_actions(output_schema: dict[str, Any] | None = None) -> Registry:
    """The actions of an agent: `done`, its `data` fitting `output_schema`, and `call_user`."""
    registry = Registry(group="agent")
    schema = AnswerSchema(output_schema) if output_schema is not None else None
    model = DoneParams
    if schema is not None:
        described: Any = Annotated[Any, WithJsonSchema(schema.shown)]
        field = Field(default=None, description="the answer in this form")
        model = create_model("DoneWithDataParams", __base__=DoneParams, data=(described, field))

    @registry.action(
        param_model=model,
        effect="read",
        during_dialog=True,
        open_world=False,
        code=lambda code, params: code.print(params.text),
    )
    async def done(params: DoneParams) -> ActionResult:
        """End the task and report. Alone in its step."""
        reported: Any = params.model_dump().get("data")
        if schema is not None and params.success and (problems := schema.problems(reported)):
            raise InvalidArguments(
                f"done: data does not fit the form asked for: {'; '.join(problems)[:1000]}.",
                hint="Give it again, put right; with success=false where it cannot be had.",
            )
        data = {"data": reported} if reported is not None else None
        return ActionResult(is_done=True, success=params.success, extracted_content=params.text, data=data)

    @registry.action(effect="read", during_dialog=True)
    async def call_user(
        question: Annotated[str, Field(min_length=1)],
        choices: list[str] = Field(default_factory=list[str]),
        secret: str | None = Field(
            default=None,
            pattern=r"^[\w.-]{1,40}$",
            description="for a password or code: a name for it; you then type <secret>name</secret>",
        ),
    ) -> ActionResult:
        """Ask the person, where only they can go on."""
        data = {"question": question, "choices": choices, "secret": secret}
        return ActionResult(extracted_content=question, data=data)

    return registry
