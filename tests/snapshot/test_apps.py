"""Real applications from packages: names and roles as in Chromium, grids that draw only what is in view."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.snapshot.hand import Hand, View, snapshot_of
from tests.snapshot.oracle import Pair, pairs, same_words
from tests.support.apps import django, jupyterlab, python_documentation
from tests.support.bookshop import Bookshop
from tests.support.packages import npm_packages
from tests.support.site import Site

pytestmark = pytest.mark.apps

ORNAMENT = re.compile(r"^[^\w]+|[^\w]+$")

DIFFERENCES: dict[str, Callable[[Pair], bool]] = {
    "signs that a style sheet adds, such as an arrow, are no part of a name": lambda pair: same_words(
        ORNAMENT.sub("", pair.ours.name), ORNAMENT.sub("", pair.name)
    ),
    "the title of an icon names its link (accname 2I); Chromium gives no name": lambda pair: (
        pair.role == "link" and not pair.name
    ),
    "what has a listener and a role that takes no action is told as clickable": lambda pair: (
        pair.ours.role == "clickable"
    ),
}
"""Every kind of difference from Chromium's tree that is meant, by its reason."""

compared: list[Pair] = []
"""What has been compared in all applications so far."""


def judge(found: list[Pair], *, least: int) -> None:
    """Every element agrees with Chromium, or differs in a way that is explained."""
    assert len(found) >= least
    compared.extend(found)
    differing = [pair for pair in found if not pair.agrees]
    unexplained = [pair for pair in differing if not any(known(pair) for known in DIFFERENCES.values())]
    assert not unexplained, "\n".join([f"{len(differing)} of {len(found)} differ", *map(str, unexplained)])


async def until(hand: Hand, words: str) -> View:
    await hand.do("wait_for", text=words, timeout=50)
    return await hand.look()


async def test_names_in_django_admin_agree_with_chromium(hand: Hand, tmp_path: Path) -> None:
    with django(tmp_path) as admin:
        await hand.tab.goto(f"{admin.url}/admin/")
        view = await hand.look()
        await hand.do("input_text", index=view.index("Username:"), text=admin.user)
        password = next(node.index for node in view.elements if node.name.startswith("Password"))
        await hand.do("input_text", index=password, text=admin.password, submit=True)
        found: list[Pair] = []
        for path in ("", "auth/user/", "auth/user/1/change/", "auth/group/add/", "password_change/"):
            await hand.tab.goto(f"{admin.url}/admin/{path}")
            found += await pairs(hand)
        judge(found, least=100)


async def test_names_in_swagger_ui_agree_with_chromium(hand: Hand, site: Site) -> None:
    files = site.mount(
        "/swagger-ui-dist", npm_packages("swagger", "swagger-ui-dist@5.35.0") / "swagger-ui-dist"
    )
    shop = Bookshop(site, files)
    await hand.tab.goto(shop.url)
    view = await until(hand, "Bookshop")
    found = await pairs(hand)
    await hand.click(next(node.index for node in view.elements if "/books" in node.name))
    found += await pairs(hand)
    judge(found, least=10)


async def test_names_in_shoelace_agree_with_chromium(hand: Hand, site: Site) -> None:
    package = npm_packages("shoelace", "@shoelace-style/shoelace@2.20.1") / "@shoelace-style" / "shoelace"
    files = site.mount("/shoelace", package / "cdn")
    await hand.tab.goto(
        site.page((Path(__file__).parent / "shoelace.html").read_text().replace("{files}", files))
    )
    await until(hand, "Everything is here")
    await hand.script(
        "Promise.all(['sl-button', 'sl-tree', 'sl-dropdown'].map(tag => customElements.whenDefined(tag)))"
    )
    judge(await pairs(hand), least=25)


async def test_names_in_jupyterlab_agree_with_chromium(hand: Hand, tmp_path: Path) -> None:
    with jupyterlab(tmp_path) as lab:
        await hand.tab.goto(f"{lab.url}/lab")
        await until(hand, "Text File")
        judge(await pairs(hand), least=40)


@pytest.fixture(scope="module")
def python_docs(site: Site) -> str:
    return site.mount("/python", python_documentation())


async def test_names_in_the_python_documentation_agree_with_chromium(hand: Hand, python_docs: str) -> None:
    found: list[Pair] = []
    for page in ("index.html", "library/asyncio-task.html", "search.html"):
        await hand.tab.goto(f"{python_docs}/{page}")
        found += await pairs(hand)
    judge(found, least=300)


def test_in_all_applications_together_98_of_100_elements_agree() -> None:
    if len(compared) < 300:
        pytest.skip("the tests of the applications have not run before")
    assert sum(pair.agrees for pair in compared) >= 0.98 * len(compared)


@pytest.mark.parametrize(
    "page", ["contents.html", "genindex-all.html", "library/stdtypes.html", "whatsnew/3.11.html"]
)
async def test_the_huge_pages_of_the_python_documentation_stay_within_the_budget(
    hand: Hand, python_docs: str, page: str
) -> None:
    result = await hand.do("go_to_url", url=f"{python_docs}/{page}")
    snapshot = snapshot_of(result)
    assert 3000 < len(View(snapshot).text) <= 6000 * 4 * 1.1
    assert snapshot.omitted > 100


async def test_a_link_deep_in_the_index_is_found_and_followed(hand: Hand, python_docs: str) -> None:
    await hand.tab.goto(f"{python_docs}/genindex-all.html")
    index = re.search(r"\[(\d+)\] link", await hand.find(pattern='^link "zip\\(\\)|zipfile'))
    assert index
    result = await hand.click(int(index[1]))
    assert result.observation is not None
    assert "genindex" not in result.observation.url


AG_GRID = """
<div id=grid style="height:420px"></div><script src="{files}/ag-grid-community.min.js"></script>
<script>
  const rowData = Array.from({length: 1000}, (_, n) => ({id: n, person: 'Person ' + n}));
  const approve = params => {
    const button = document.createElement('button');
    button.textContent = 'Approve ' + params.data.id;
    button.addEventListener('click', () => log.push(params.data.id));
    return button;
  };
  const columnDefs = [{field: 'id'}, {field: 'person'}, {headerName: 'Do', cellRenderer: approve}];
  agGrid.createGrid(grid, {rowData, columnDefs});
</script>
"""
HANDSONTABLE = """
<link rel=stylesheet href="{files}/handsontable.full.min.css"><div id=grid></div>
<script src="{files}/handsontable.full.min.js"></script>
<script>
  const data = Array.from({length: 1000}, (_, n) => ['Name ' + n, n, 'Note ' + n]);
  window.table = new Handsontable(grid, {data, rowHeaders: true, colHeaders: true, height: 400,
    licenseKey: 'non-commercial-and-evaluation', afterSelectionEnd: row => log.push(row)});
</script>
"""
GRIDS = ("ag-grid-community@36.2.0", "handsontable@18.1.1")


@pytest.mark.parametrize(
    ("grid", "html", "name", "wanted"),
    [
        ("ag-grid-community", AG_GRID, "Approve {}", [2, 30, 77]),
        ("handsontable", HANDSONTABLE, "Name {}", [3, 41, 90]),
    ],
)
async def test_a_grid_of_a_thousand_rows_is_worked_through_by_scrolling(
    hand: Hand, grid: str, html: str, name: str, wanted: list[int]
) -> None:
    files = hand.site.mount(f"/{grid}", npm_packages("grids", *GRIDS) / grid / "dist")
    await hand.tab.goto(hand.site.page("<script>window.log = []</script>" + html.replace("{files}", files)))
    view = await until(hand, name.format(0))
    indexed = r'\[(\d+)\] (?:button ")?'
    for number in wanted:
        found = None
        for _ in range(40):
            if found := re.search(indexed + name.format(rf"{number}\b"), view.text):
                break
            near = re.findall(indexed + name.format(r"\d+"), view.text)[-1]
            await hand.do("scroll", direction="down", pages=0.8, index=int(near))
            view = await hand.look()
        assert found, f"{number} never came:\n{view.text}"
        await hand.click(int(found[1]))
        view = await hand.look()
    assert await hand.log() == wanted


async def test_the_big_list_of_naughty_strings_leaves_the_format_whole(hand: Hand) -> None:
    package = npm_packages("blns", "blns@2.0.4") / "blns"
    (source,) = package.rglob("blns.json")
    strings: list[str] = json.loads(source.read_text(encoding="utf-8"))
    await hand.show("<div id=d></div>")
    await hand.script(
        """strings => { for (const [n, s] of strings.entries()) {
          const i = document.createElement('input'); i.ariaLabel = 'n' + n; i.value = s; i.title = s;
          const b = document.createElement('button'); b.textContent = s; d.append(i, b, s);
        } }""",
        strings,
    )
    view = await hand.look()
    assert len(view.of_role("textbox")) == len(strings) > 400
    lines = view.text.splitlines()
    assert sum(bool(re.match(r'\s*\*?\[\d+\] textbox "n\d+"', line)) for line in lines) == len(strings)
