import pytest
from pydantic import SecretStr

from mcp_browser.errors import SettingsError
from mcp_browser.server.http.auth.middleware import check_exposure
from mcp_browser.settings import AccessSettings

BEYOND = ["0.0.0.0", "::", "192.168.1.5", "browser.example.com", "", "localhost.evil.example"]
HERE = ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"]


@pytest.mark.parametrize("host", BEYOND)
def test_beyond_this_machine_somebody_must_ask_who_calls(host: str) -> None:
    with pytest.raises(SettingsError, match="--tokens FILE") as caught:
        check_exposure(AccessSettings(), host)
    assert "--insecure" in str(caught.value)
    check_exposure(AccessSettings(insecure=True), host)
    check_exposure(AccessSettings(token=SecretStr("a-token-0123456789")), host)
    check_exposure(AccessSettings(oauth_issuer="https://issuer.example", oauth_audience=("x",)), host)


@pytest.mark.parametrize("host", HERE)
def test_on_this_machine_nobody_needs_to_say_who_they_are(host: str) -> None:
    check_exposure(AccessSettings(), host)


def test_an_issuer_without_an_audience_would_let_in_tokens_for_others() -> None:
    with pytest.raises(SettingsError, match="oauth-issuer needs oauth-audience"):
        check_exposure(AccessSettings(oauth_issuer="https://issuer.example"), "localhost")
    with pytest.raises(SettingsError, match="need oauth-issuer"):
        check_exposure(AccessSettings(oauth_scopes=("browse",)), "localhost")
