"""What a web socket answers to a click is in the click's result, though other messages come before it."""

import json
import threading
import time
from collections.abc import Iterator

import pytest
from websockets.sync.server import ServerConnection, serve

from tests.snapshot.hand import Hand, words_of

pytestmark = pytest.mark.slow

PAGE = """
<p id=out>cold</p><p id=clock></p><div id=host></div><button id=go>Heat</button>
<script>
  const root = host.attachShadow({mode: 'open'});
  const socket = new WebSocket('URL');
  socket.onmessage = event => {
    const told = JSON.parse(event.data);
    if (told.busy) document.body.className = 'busy';
    if (told.out) (told.in === 'shadow' ? root : out).textContent = told.out;
    if (told.beat) clock.textContent = told.beat;
  };
  const ask = question => socket.send(JSON.stringify(question));
  setInterval(() => socket.readyState === 1 && ask({beat: 'tick'}), 100);
  go.onclick = () => ask(ASKED);
</script>
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server that says at once that it is busy, and after some seconds what it was asked to."""

    def answer(connection: ServerConnection) -> None:
        for message in connection:
            asked = json.loads(message)
            if "after" in asked:
                connection.send('{"busy": true}')
                time.sleep(asked["after"])
            for part in range(asked.get("parts", 0)):
                connection.send(json.dumps({"out": f"part {part}"}))
                time.sleep(0.1)
            connection.send(json.dumps({key: asked[key] for key in asked if key != "after"}))

    with serve(answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"
        server.shutdown()
        thread.join(5)


async def show(hand: Hand, url: str, asked: str, *, beats: bool = True) -> int:
    """Open the page and wait for its first heartbeat, or the only one; the index of the button that asks."""
    view = await hand.show(PAGE.replace("URL", url).replace("ASKED", asked))
    await hand.tab.page.wait_for_function("clock.textContent")
    if not beats:
        await hand.script("for (let id = 0; id < 99; id++) clearInterval(id)")
    return view.index("Heat")


@pytest.mark.parametrize(
    ("asked", "beats"),
    [
        ("{after: 2, in: 'out', out: 'warm'}", True),
        ("{after: 0.5, in: 'shadow', out: 'warm'}", True),
        ("{parts: 4, out: 'warm'}", False),
    ],
    ids=["after one that only says busy", "in a shadow tree", "in several messages"],
)
async def test_an_answer_is_in_the_result(hand: Hand, url: str, asked: str, beats: bool) -> None:
    assert "warm" in words_of(await hand.click(await show(hand, url, asked, beats=beats)))


async def test_a_socket_that_answers_nothing_to_see_is_waited_for_once(hand: Hand, url: str) -> None:
    index = await show(hand, url, "{after: 30}")
    began = time.monotonic()
    told = words_of(await hand.click(index))
    first = time.monotonic() - began
    began = time.monotonic()
    again = words_of(await hand.click(index))
    assert "no answer to see has come" in told, told
    assert "web socket" not in again
    assert time.monotonic() - began < first
