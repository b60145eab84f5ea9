"""A hidden value is found in every form, and nothing else is taken for it."""

import json
import logging
import re
import time
from base64 import b64encode

import pytest

from mcp_browser.privacy.hiding import Hidden, LogFormatter, hide, hide_in
from tests.privacy.forms import FORMS, VALUE, trace_of


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value", [VALUE, "Tr0ub\\dor&3 'ß'; 漢字😀", "-----KEY-----\nab/+cd==\n-----END-----", "ü" * 9]
)
def test_a_value_is_hidden_in_every_form(form: str, value: str) -> None:
    written = FORMS[form](value)
    for before, after in (("", ""), ("x = ", ", then"), ("?q=", "&y=1"), ("\n", "\n")):
        hidden = hide(f"{before}{written}{after}", {"w": value})
        assert hidden.startswith(before)
        assert hidden.endswith(after)
        # Of what base64 and lengths of spaces leave there may be some characters.
        rest = hidden.removeprefix(before).removesuffix(after)
        assert rest.count("<secret>w</secret>") == 1, rest
        assert len(rest.replace("<secret>w</secret>", "")) <= 7
        assert value != VALUE or trace_of(hidden) is None


@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_an_ellipsis_cuts_is_hidden(form: str) -> None:
    written = FORMS[form](VALUE)
    for kept in range(16, len(written), 5):
        assert trace_of(hide(f"it is {written[:kept]}… and more", {"w": VALUE})) is None
        # Of a form whose characters are long, three may be left.
        after = hide(f"it is …{written[-kept - 8 :]} and more", {"w": VALUE})
        assert "<secret>w</secret>" in after
    assert hide("S3… …%", {"w": VALUE}) == "S3… …%"


def test_a_text_without_the_value_is_left_as_it_is() -> None:
    encoded = b64encode(VALUE[:-6].encode()).decode()
    for text in ("S3c", "S3c ret Va", f"{VALUE[:-1]}!", "7 7", encoded, "x" * 9_000):
        assert hide(text, {"login": VALUE}) == text
    short = b64encode(b"1234").decode()
    assert hide(short, {"pin": "1234"}) == short, "any base64 could hold it by chance"


def test_a_name_that_was_put_in_is_not_taken_for_a_value() -> None:
    hidden = hide("long secret", {"one": "long", "two": "secret"})
    assert hidden == "<secret>one</secret> <secret>two</secret>"


def test_the_longest_value_is_hidden_first_and_every_text_of_json() -> None:
    hidden = hide_in({"hunter2 now": ["hunter2", 2, {"a": "hunter22"}]}, {"a": "hunter2", "b": "hunter22"})
    assert hidden == {"<secret>a</secret> now": ["<secret>a</secret>", 2, {"a": "<secret>b</secret>"}]}
    assert json.loads(hide(json.dumps({"a": f'"{VALUE}\\'}), {"w": VALUE})) == {"a": '"<secret>w</secret>\\'}


@pytest.mark.parametrize("text", ["\\" * 50_000, "%25" * 20_000, "&amp;" * 20_000, "S3c" + " " * 50_000])
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    hide(f"{text} S3c", {"login": VALUE, "odd": '"§$%&'})
    started = time.process_time()
    hide(f"{text} S3c", {"login": VALUE, "odd": '"§$%&'})
    assert time.process_time() - started < 1


def test_logs_hide_what_a_session_hides_in_tracebacks_too() -> None:
    hidden = Hidden()
    hidden.add({"login": VALUE})
    hidden.add({"login": "another one"})
    assert list(hidden) == ["login", "login.2"]
    try:
        raise ValueError(f"typed {VALUE}")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "at %s", (FORMS["plus-encoded"](VALUE),), None)
        record.exc_info = (type(error), error, None)
    told = LogFormatter().format(record)
    # Other tests of the process may have hidden the same value by another name.
    assert len(re.findall("<secret>[^<]+</secret>", told)) == 2
    assert VALUE not in told
    assert trace_of(told) is None
