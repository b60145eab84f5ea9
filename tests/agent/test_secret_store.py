"""Secrets: filled in, bound to domains, never told."""

import base64
import time
from pathlib import Path

import pytest

from mcp_browser.agent.secrets.store import Secret, Secrets, load_secrets, one_time_password
from mcp_browser.errors import BlockedUrl, InvalidArguments, SettingsError

KEY = "JBSWY3DPEHPK3PXP"


def around_now() -> set[str]:
    """The codes of this half minute and of those around it."""
    return {one_time_password(KEY, time.time() + shift) for shift in (-30, 0, 30)}


@pytest.mark.parametrize(
    ("seconds", "algorithm", "key", "code"),
    [
        (59, "SHA1", b"12345678901234567890", "94287082"),
        (1111111109, "SHA1", b"12345678901234567890", "07081804"),
        (1111111109, "SHA256", b"12345678901234567890123456789012", "68084774"),
        (20000000000, "SHA512", b"1234567890" * 6 + b"1234", "47863826"),
    ],
)
def test_codes_are_those_of_rfc_6238(seconds: int, algorithm: str, key: bytes, code: str) -> None:
    secret = base64.b32encode(key).decode()
    address = f"otpauth://totp/x?secret={secret}&digits=8&algorithm={algorithm}"
    assert one_time_password(address, seconds) == code


@pytest.mark.parametrize("text", ["", "no base 32!", "otpauth://hotp/x?secret=JBSWY3DP", "otpauth://totp/x"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"key|time-based"):
        one_time_password(text, 0)


def secrets() -> Secrets:
    return Secrets(
        {
            "login": Secret.model_validate({"value": "hunter2!", "origins": ["*.example.com"]}),
            "code": Secret.model_validate({"totp": KEY, "origins": ["example.com"]}),
        }
    )


def test_a_name_becomes_its_value_wherever_it_stands() -> None:
    filled = secrets().fill_in(
        {"text": "a <secret>login</secret> b", "more": [{"x": "<secret> login </secret>"}], "n": 1},
        url="https://shop.example.com/login",
    )
    assert filled == {"text": "a hunter2! b", "more": [{"x": "hunter2!"}], "n": 1}


def test_other_domains_do_not_get_it() -> None:
    for url in (
        *("https://example.com.evil.org/", "https://evil.org/?example.com", "http://shop.example.com/"),
        *("https://shop.example.com:8443/", "file:///etc", "about:blank"),
    ):
        with pytest.raises(BlockedUrl, match=r"may not be used"):
            secrets().fill_in({"text": "<secret>login</secret>"}, url=url)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArguments, match="login, code"):
        secrets().fill_in({"text": "<secret>pin</secret>"}, url="https://example.com/")
    with pytest.raises(InvalidArguments, match="pin"):
        secrets().only(["pin"])


def test_a_one_time_password_is_made_of_a_key_or_an_address_and_hidden() -> None:
    kept = secrets()
    filled = kept.fill_in({"text": "<secret>code</secret>"}, url="https://example.com/")
    assert filled["text"] in around_now()
    assert kept.hide(f"You typed {filled['text']}.") == "You typed <secret>code</secret>."
    address = f"otpauth://totp/Shop:ann?secret={KEY}"
    assert Secret.model_validate({"totp": address, "origins": ["*"]}).reveal() in around_now()


@pytest.mark.parametrize(
    ("origin", "fitting", "others"),
    [
        ("a.org", ["https://a.org/x"], ["http://a.org/", "https://a.org:444/", "https://b.a.org/"]),
        ("http://a.org:81", ["http://a.org:81/"], ["https://a.org:81/", "http://a.org/"]),
        (
            "https://*.a.org:*",
            ["https://x.a.org:9/", "https://a.org/"],
            ["http://x.a.org:9/", "https://ba.org/"],
        ),
        ("a.org:8443", ["https://A.org:8443/"], ["http://a.org:8443/", "https://a.org/"]),
        ("127.0.0.1", ["http://127.0.0.1:81/", "https://127.0.0.1/"], ["http://127.0.0.2/"]),
        ("http://127.0.0.1:81", ["http://127.0.0.1:81/"], ["http://127.0.0.1:82/"]),
        ("[::1]:81", ["http://[::1]:81/"], ["http://[::1]:82/"]),
    ],
)
def test_scheme_and_port_count(origin: str, fitting: list[str], others: list[str]) -> None:
    secret = Secret.model_validate({"value": "x", "origins": [origin]})
    assert [url for url in (*fitting, *others) if secret.allowed_on(url)] == fitting


def test_who_may_not_use_a_secret_does_not_learn_of_it() -> None:
    mine = Secret.model_validate({"value": "x", "origins": ["a.org"], "principals": ["alice", "team-*"]})
    kept = Secrets({"login": mine})
    assert kept.of("team-one").names == kept.of("alice").names == ("login",)
    for name in ("bob", "oauth:alice", "anonymous"):
        with pytest.raises(InvalidArguments, match="Secrets: none"):
            kept.of(name).only(["login"])


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_secrets_come_from_a_file_and_nothing_printed_shows_a_value(tmp_path: Path) -> None:
    kept = load_secrets(write(tmp_path / "s.toml", '[login]\nvalue = "hunter2!"\norigins = ["a.org"]\n'))
    assert kept.names == ("login",)
    assert "hunter2!" not in repr(kept._secrets)


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ("[a]\nvalue = 'x'\norigins = ['a']\n", 0o644, "chmod 600"),
        ("[a]\nvalue = 'hush'\n", 0o600, "a.origins"),
        ("[a]\norigins = ['a']\n", 0o600, "either value or totp"),
        ("[a]\nvalue = 'hush'\ntotp = 'y'\norigins = ['a']\n", 0o600, "either value or totp"),
        ("[a\n", 0o600, "cannot read"),
    ],
)
def test_a_wrong_file_says_what_is_wrong_and_shows_no_value(
    tmp_path: Path, text: str, mode: int, told: str
) -> None:
    with pytest.raises(SettingsError, match=told) as caught:
        load_secrets(write(tmp_path / "s.toml", text, mode))
    assert "hush" not in str(caught.value)
    with pytest.raises(SettingsError, match="cannot read"):
        load_secrets(tmp_path / "none.toml")
