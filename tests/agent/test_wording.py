"""What answers admit, by their words alone."""

import pytest

from mcp_browser.agent.claims.seen import Seen
from mcp_browser.agent.claims.wording import SAYS_IT_FAILED, SAYS_NOT_YET


@pytest.mark.parametrize(
    "answer",
    [
        "Det gick inte att beställa.",
        "Det lykkedes ikke at bestille.",
        "En voinut tilata.",
        "Sipariş verilemedi.",
        "Objednávku se nepodařilo odeslat.",
        "Nem sikerült megrendelni.",
        "Nu am putut comanda.",
        "Gagal memesan.",
        "Не вдалося замовити.",
        "لم أتمكن من إتمام الطلب.",
        "לא הצלחתי להזמין.",
        "मैं ऑर्डर नहीं कर सका।",
        "Tôi không thể đặt hàng.",
        "ไม่สามารถสั่งซื้อได้",
        "The payment was declined.",
        "Access denied by the site.",
    ],
)
def test_a_failure_is_admitted_in_many_languages(answer: str) -> None:
    assert SAYS_IT_FAILED.search(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Ordered; I did not need to log in.",
        "I recommend the green tea; I would add that it is cheaper.",
        "We could see 3 teas.",
        "Beställt, nummer 4711.",
        "Objednáno.",
        "Sipariş verildi.",
    ],
)
def test_a_success_admits_nothing(answer: str) -> None:
    assert not SAYS_IT_FAILED.search(answer)
    assert not SAYS_NOT_YET.search(answer)


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("12.5", True),
        ("12,50", True),
        ("125.0", False),
        ("125", False),
        ("1250", True),
        ("1,250", True),
        ("9.80", True),
        ("98", False),
        ("4711", True),
    ],
)
def test_a_number_is_known_however_written_and_no_tenfold_of_it(value: str, known: bool) -> None:
    seen = Seen()
    seen.add("Red tea 12.50 € 9.80 €, in total 1,250.00; the number is 4711.")
    assert seen.has(value) is known
