"""What is taken for a secret, and what is not."""

import json

import pytest

from mcp_browser.privacy.redaction import MARK, Redactor, is_secret_cookie, is_secret_name

SECRETS = """password user[password] accessToken X-Api-Key PHPSESSID connect.sid csrfmiddlewaretoken
    X-Amz-Signature session_id card_number client_secret pin otp""".split()
OTHERS = "author authorId passenger max_tokens token_type compass sidebar monkey assessment".split()


@pytest.mark.parametrize("name", SECRETS + OTHERS)
def test_names_of_secrets_are_known_and_words_that_look_like_them_are_not_taken(name: str) -> None:
    assert is_secret_name(name) == (name in SECRETS)


def test_a_cookie_that_scripts_may_not_read_is_a_secret() -> None:
    assert is_secret_cookie("anything", http_only=True)
    assert is_secret_cookie("remember_me", http_only=False)
    assert not is_secret_cookie("theme", http_only=False)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://x.io/a?token=abc&page=2", f"https://x.io/a?token={MARK}&page=2"),
        ("https://x.io/cb?code=zz9&state=1", f"https://x.io/cb?code={MARK}&state=1"),
        ("https://ann:hunter2@x.io/", f"https://ann:{MARK}@x.io/"),
        ("https://x.io/#access_token=qqq&x=1", f"https://x.io/#access_token={MARK}&x=1"),
        ("https://x.io/author/12?sort=name", "https://x.io/author/12?sort=name"),
    ],
)
def test_addresses_lose_their_secrets_and_nothing_else(url: str, told: str) -> None:
    assert Redactor().url(url) == told


def test_headers_keep_names_schemes_and_cookie_attributes() -> None:
    headers = {
        ("Authorization", "Bearer abcdefghijk"): f"Bearer {MARK}",
        ("Cookie", "a=b; sid=verysecret1"): f"a={MARK}; sid={MARK}",
        ("Set-Cookie", "sid=verysecret1; Path=/; HttpOnly\nx=y"): f"sid={MARK}; Path=/; HttpOnly\nx={MARK}",
        ("X-Api-Key", "k1"): MARK,
        ("Content-Type", "text/html"): "text/html",
        ("Accept-Language", "de"): "de",
    }
    assert Redactor().headers(headers) == [(name, told) for (name, _), told in headers.items()]


def test_json_loses_its_secrets_at_any_depth() -> None:
    kept = {"user": "ann", "session": {"id": 5, "theme": "dark"}, "tokens_used": None}
    secret = {"password": "hunter2", "credentials": {"any": "thing"}, "pin": 1234}
    body = {**kept, **secret, "deep": [{"refreshToken": "abc", "count": 3}]}
    told = json.loads(Redactor().body(json.dumps(body), "application/json"))
    redacted = {"password": MARK, "credentials": {"any": MARK}, "pin": MARK}
    assert told == {**kept, **redacted, "deep": [{"refreshToken": MARK, "count": 3}]}


def test_json_without_secrets_stays_as_it_was() -> None:
    body = '{ "title":   "Emma" }'
    assert Redactor().body(body, "application/json") == body


@pytest.mark.parametrize(
    ("body", "mime_type"),
    [
        ("user=ann&password=hunter2", "application/x-www-form-urlencoded"),
        (
            '--B\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--B--',
            "multipart/form-data",
        ),
        ('<input type=password value="hunter2">', "text/html"),
        ("<input value=hunter2 name=csrfmiddlewaretoken>", "text/html"),
        ('<meta name="csrf-token" content="hunter2">', "text/html"),
        ("<login><password>hunter2</password></login>", "application/xml"),
        ('var config = {password: "hunter2"}', "text/javascript"),
        ("password: hunter2", "text/plain"),
        ('{"password": "hunter2"', "application/json"),
        ('data: {"token": "hunter2"}', "text/event-stream"),
    ],
)
def test_bodies_of_every_kind_lose_their_secrets(body: str, mime_type: str) -> None:
    told = Redactor().body(body, mime_type)
    assert "hunter2" not in told
    assert MARK in told


@pytest.mark.parametrize(
    "secret",
    [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "sk-live-0123456789abcdef",
        "ghp_0123456789abcdefghijABCDEFGHIJ",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_are_known_by_their_form(secret: str) -> None:
    assert secret not in Redactor().text(f"it says {secret} here")


def test_what_one_part_gives_away_is_taken_out_of_the_others() -> None:
    redactor = Redactor()
    redactor.headers([("Set-Cookie", "sid=verysecret1; Path=/")])
    told = redactor.body("<p>Your session is verysecret1</p>", "text/html")
    assert told == f"<p>Your session is {MARK}</p>"


def test_a_sentence_about_a_session_stays() -> None:
    text = "The session: started. Auth: ok, pass: 12"
    assert Redactor().text(text) == text


def test_everything_is_shown_where_that_is_wanted() -> None:
    redactor = Redactor(show=True)
    assert redactor.url("https://x.io/?token=abc") == "https://x.io/?token=abc"
    assert redactor.headers([("Cookie", "a=b")]) == [("Cookie", "a=b")]
    assert redactor.body('{"password": "x"}') == '{"password": "x"}'
    assert redactor.text("password=x") == "password=x"
