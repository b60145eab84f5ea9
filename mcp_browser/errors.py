"""What can go wrong: the caller of an action can mend an `ActionError`, whose message says how."""

from collections.abc import Callable


class McpBrowserError(Exception):
    """Anything that this package raises on purpose."""


class SettingsError(McpBrowserError):
    """A setting is wrong. The message is one line that names the setting and where it came from.

    The command line prints it and exits with code 2.
    """


class ModelError(McpBrowserError):
    """A chat model has not answered, or not usably.

    `message` says what happened, with the model's name, `hint` what to do about it. `retry_after` is when to
    try again, in seconds; None if unknown.
    """

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.hint = hint
        self.retry_after = retry_after


class ModelRateLimited(ModelError):
    """The model limits the rate of requests: ask again later."""


class ModelTimedOut(ModelError):
    """The model did not answer in time: ask again."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or has failed itself: ask again."""


class ModelRefused(ModelError):
    """The model will not answer such a request, ever: a key, a name or a request is wrong."""


class ContextTooLong(ModelError):
    """The conversation is longer than the model takes."""


class InvalidOutput(ModelError):
    """The answer does not have the requested form; the message, for the model, says why."""


class NoModel(ModelError):
    """No model is set up; the message says how to set one up."""


class ActionError(McpBrowserError):
    """An action could not be carried out, for a reason that the caller can act upon.

    `message` says what happened, with the element or URL concerned, `hint` what to try next. `notices` are
    sentences about what else happened in the session; the controller adds them.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.message = message
        self.hint = hint
        self.notices: tuple[str, ...] = ()

    def reword(self, change: Callable[[str], str]) -> None:
        """Change the texts of its message, hint and notices."""
        self.message, self.hint = change(self.message), change(self.hint)
        self.notices = tuple(map(change, self.notices))
        self.args = (f"{self.message} {self.hint}".rstrip(),)


class InvalidArguments(ActionError):
    """The arguments do not fit the action's schema."""


class UnknownAction(ActionError):
    """There is no action of that name, or it is not offered on this page."""


class StaleElement(ActionError):
    """The index names an element that is no longer on the page.

    `redrawn` is the index of the one that the page has drawn in its place, the only one of its role and name.
    """

    redrawn: int | None = None


class NotActionable(ActionError):
    """The element is there but cannot take the action.

    It is covered, disabled, hidden, detached, read-only, or of the wrong kind.
    """


class NotFound(ActionError):
    """A tab, text, option, file or match that is not there."""


class NavigationError(ActionError):
    """An address could not be opened."""


class BlockedUrl(ActionError):
    """An address is not allowed."""


class Refused(ActionError):
    """The policy forbids the action, or a person has to say yes and has not."""


class TakenOver(ActionError):
    """A person has the browser; nothing has been done."""


class DialogOpen(ActionError):
    """A JavaScript dialog is open and holds the page, until `handle_dialog`."""


class PremiseGone(ActionError):
    """An action of a list is not carried out: the page is not as it was shown before the list."""


class ScriptFailed(ActionError):
    """A script of the caller's threw, or is no JavaScript."""


class LimitReached(ActionError):
    """There is no room for another session, tab or call."""


class UnknownSession(ActionError):
    """The handle names no session of the caller, or one that has ended."""


class DeadlineExceeded(ActionError):
    """The time limit of the call, the action or a wait has passed."""


class BrowserUnavailable(ActionError):
    """No browser could be found, started or reached."""


class BrowserNotFound(BrowserUnavailable):
    """No browser was found on this machine."""


class ProfileInUse(BrowserUnavailable):
    """Another process holds the profile folder."""
