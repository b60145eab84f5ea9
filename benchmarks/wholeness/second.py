"""The half of the pages that is held out while building, and measured at the end."""

from benchmarks.wholeness.page import Page

SECOND: tuple[Page, ...] = ()
