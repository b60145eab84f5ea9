"""What a policy works with: the goal, the elements of the page in reading order, and the tools."""

import html
import re

from tests.support.client import Browser, Element, elements_in


class Player(Browser):
    """A page in play; its elements are those of the latest look."""

    goal = ""

    def _remember(self, text: str, *, whole: bool) -> None:
        """Note nothing: the goals speak of the page as it was."""

    async def start(self, url: str) -> None:
        """Open an episode and read its goal."""
        await self.open(url)
        await self.look()

    async def look(self) -> None:
        """Read the page anew."""
        self.page = await self.snapshot()
        self.elements = {element.index: element for element in elements_in(self.page)}
        found = re.search(r'^<page .*\btitle="([^"]*)"', self.page, re.M)
        assert found, f"no title in\n{self.page}"
        self.goal = html.unescape(found[1])

    @property
    def ended(self) -> bool:
        """Whether the latest look found the episode at its end."""
        return self.goal == "The episode has ended."

    @property
    def quoted(self) -> list[str]:
        """What the goal has in quotes; a tool shows a title's double quotes as single ones."""
        return re.findall(r"'([^']*)'", self.goal.replace('"', "'"))

    def told(self, pattern: str) -> re.Match[str]:
        """What the goal says in this form."""
        found = re.search(pattern, self.goal)
        assert found, self.goal
        return found

    def one(self, role: str | None = None, name: str | None = None) -> Element:
        """The first element of this role and this exact name."""
        return self.element(role, name or re.compile(""))

    def named(self, name: str) -> list[Element]:
        """The elements of this name, whatever they are."""
        return self.all(None, name)

    async def select(self, selector: str) -> list[Element]:
        """The elements that a selector finds."""
        return elements_in(await self.do("find_elements", selector=selector, limit=100))

    def hinted(self, hint: str) -> list[Element]:
        """The elements with this hint, which have no name."""
        return [element for element in self.elements.values() if f'hint="{hint}"' in element.states]

    async def press(self, target: Element | str) -> str:
        """Click an element, or what will have this role and name."""
        return await self.do("click_element", index=target if isinstance(target, str) else target.index)

    async def press_button(self, name: str = "Submit") -> None:
        """Click the button of this name."""
        await self.press(self.one("button", name))

    async def enter(self, target: Element, text: str) -> str:
        """Put text into a field."""
        return await self.do("input_text", index=target.index, text=text)

    async def keys(self, keys: str) -> str:
        """Press a key or a combination."""
        return await self.do("send_keys", keys=keys)

    async def drag(self, source: Element, target: Element) -> str:
        """Drag one element onto another."""
        return await self.do("drag_element", index=source.index, target=target.index)

    def field(self, nth: int = 0) -> Element:
        """The text field at this place in reading order."""
        fields = {"textbox", "combobox", "searchbox", "spinbutton"}
        return [element for element in self.elements.values() if element.role in fields][nth]
