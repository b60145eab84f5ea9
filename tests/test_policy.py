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


@pytest.mark.parametrize(
    "name", ["Pay", "PAY NOW", "Pay € 5", "\u200bP\u200ba\u0301y\u2060 now", "Ｐａｙ", "Now: pay!"]
)
def test_a_name_is_found_by_its_words_however_it_is_written(name: str) -> None:
    assert decided(policy({"names": ["pay"]}), button(name)) == "ask"


@pytest.mark.parametrize("name", ["Payments", "Repay", "", "P a y"])
def test_other_words_are_other_names(name: str) -> None:
    assert decided(policy({"names": ["Pay"]}), button(name)) == "allow"


def test_stars_stand_for_anything_in_the_whole_name() -> None:
    rules = policy({"names": ["delete*"]})
    assert decided(rules, button("Deleted [1]")) == "ask"
    assert decided(rules, button("Undelete")) == "allow"


def test_what_an_element_shows_counts_as_its_name_does_unless_a_rule_allows() -> None:
    target = Target(role="button", name="Next", text="Pay now")
    assert decided(policy({"names": ["Pay"]}), target) == "ask"
    assert decided(policy({"names": ["Pay"], "decision": "allow"}, {"roles": ["button"]}), target) == "ask"


def test_the_first_rule_that_fits_decides() -> None:
    rules = policy(
        {"names": ["Send"], "origins": ["https://test.example"], "decision": "allow"},
        {"names": ["Send"], "decision": "deny"},
    )
    assert (
        decided(rules, button("Send", origin="https://test.example", page="https://test.example")) == "allow"
    )
    assert decided(rules, button("Send", origin=SHOP, page="https://test.example")) == "deny"


@pytest.mark.parametrize("place", [{"origin": SHOP}, {"page": SHOP}])
def test_the_frame_counts_and_the_page_around_it(place: dict[str, str]) -> None:
    assert decided(policy({"origins": ["https://*.example"]}), button("x", **place)) == "ask"


def test_what_cannot_be_looked_into_may_be_anything() -> None:
    rules = policy({"names": ["Next"], "decision": "allow"}, {"names": ["Pay"]})
    assert decided(rules, Target(role="iframe", unknown=True)) == "ask"


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
