"""The rules of a policy file, without a browser."""

from pathlib import Path

import pytest

from mcp_browser.errors import SettingsError
from mcp_browser.policy import Policy, Rule, Target, load_policy

SHOP = "https://shop.example"


def policy(*rules: dict[str, object]) -> Policy:
    return Policy.model_validate({"rule": rules})


def decided(rules: Policy, target: Target, action: str = "click_element") -> str:
    found = rules.decide(action, target)
    return found[1].decision if found else "allow"


def button(name: str, *, origin: str = "null", page: str = "null") -> Target:
    return Target(role="button", name=name, origin=origin, page=page)


RuleOf = dict[str, object]
PAY: RuleOf = {"names": ["Pay"]}
NEXT: RuleOf = {"names": ["Next"], "decision": "allow"}
TEST = "https://test.example"
SENDING: list[RuleOf] = [
    {"names": ["Send"], "origins": [TEST], "decision": "allow"},
    {"names": ["Send"], "decision": "deny"},
]
WORDS = ("Pay", "PAY NOW", "Pay € 5", "\u200bP\u200ba\u0301y\u2060 now", "Ｐａｙ", "Now: pay!")
SHOWS_PAY = Target(role="button", name="Next", text="Pay now")


@pytest.mark.parametrize(
    ("rules", "target", "decision"),
    [
        *(([{"names": ["pay"]}], button(name), "ask") for name in WORDS),
        *(([PAY], button(name), "allow") for name in ("Payments", "Repay", "", "P a y")),
        # Stars stand for anything in the whole name.
        ([{"names": ["delete*"]}], button("Deleted [1]"), "ask"),
        ([{"names": ["delete*"]}], button("Undelete"), "allow"),
        # What an element shows counts as its name does, unless a rule allows.
        ([PAY], SHOWS_PAY, "ask"),
        ([{**PAY, "decision": "allow"}, {"roles": ["button"]}], SHOWS_PAY, "ask"),
        (SENDING, button("Send", origin=TEST, page=TEST), "allow"),
        (SENDING, button("Send", origin=SHOP, page=TEST), "deny"),
        # The frame counts, and the page around it.
        ([{"origins": ["https://*.example"]}], button("x", origin=SHOP), "ask"),
        ([{"origins": ["https://*.example"]}], button("x", page=SHOP), "ask"),
        # What cannot be looked into may be anything.
        ([NEXT, PAY], Target(role="iframe", unknown=True), "ask"),
    ],
)
def test_the_first_rule_that_fits_decides(rules: list[RuleOf], target: Target, decision: str) -> None:
    assert decided(policy(*rules), target) == decision


def test_actions_that_only_read_have_to_be_named() -> None:
    everything, named = policy({"origins": ["*"]}), policy({"actions": ["get_*"]})
    assert everything.decide("get_cookies", Target(), changes=False) is None
    assert named.decide("get_cookies", Target(), changes=False) is not None


@pytest.mark.parametrize(
    ("origin", "pattern", "fits"),
    [
        ("http://shop.example", SHOP, False),
        (SHOP, "https://*", True),
        (f"{SHOP}:8443", "https://*", True),
        (f"{SHOP}:8443", "https://*.example", False),
        (f"{SHOP}:8443", "https://shop.ex*", True),
        (f"{SHOP}:8443", f"{SHOP}:8*", True),
        ("http://shop.example", "*://shop.example", True),
        ("https://xn--bcher-kva.example", "https://Bücher.example", True),
        (SHOP, "ftp://shop.example", False),
        ("null", "null", True),
        ("file://", "file://", True),
        ("null", "https://*", False),
        ("file://", "*", True),
    ],
)
def test_origins_of_rules(origin: str, pattern: str, fits: bool) -> None:
    assert Rule.model_validate({"origins": [pattern]}).fits(Target(origin=origin, page=origin)) is fits


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "rule"),
        ("rule = 1", "rule"),
        ("[[rule]]\nnmes = ['Pay']", "rule 1 nmes: Extra inputs"),
        ("[[rule]]\norigins = ['shop.example/x']", "no origin such as"),
        ("[[rule]]\ndecision = 'maybe'", "'allow', 'ask' or 'deny'"),
        ("[[rule]]\nnames = ['']", "an empty text"),
        ("[[", "is no TOML"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_policy(path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_policy(tmp_path / "none.toml")


def test_a_rule_about_an_action_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingsError, match="there is no action 'clik_\\*'"):
        policy({"actions": ["clik_*"]}).check_actions(("click_element",))
