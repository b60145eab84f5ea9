"""Points as models write them: pure functions."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_browser.actions.mouse import Coordinates, parse_coordinates
from mcp_browser.dom.models import Size
from mcp_browser.errors import InvalidArguments

VIEW = Size(width=1280, height=720)
sizes = st.builds(Size, width=st.integers(1, 8000), height=st.integers(1, 8000))


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("320,200", (320, 200)),
        (" 320 , 200 ", (320, 200)),
        ("(320,200)", (320, 200)),
        ("0,0", (0, 0)),
        ("0,0@640x360", (0, 0)),
        ("320,200@640x360", (640, 400)),
        ("320,200 @ 640 X 360", (640, 400)),
        ("(320,200)@640x360", (640, 400)),
        ("12.5,7.5@1280x720", (12, 8)),
        ("[0.25,0.3,0.25,0.3]", (320, 216)),
        ("[0,0,0,0]", (0, 0)),
        ("[0,0,1,1]", (640, 360)),
        ("[0,0]", (0, 0)),
        ("[0.5,0.5]", (640, 360)),
        ("[250,300,260,310]", (326, 220)),
        ("[0,0,1000,1000]", (640, 360)),
        ("(250,300,260,310)", (326, 220)),
        ("[100,50,140,70@640x360]", (240, 120)),
        ("[100,50,140,70]@640x360", (240, 120)),
        ("<point>320 200</point>", (320, 200)),
        ("<bbox>250 300 260 310</bbox>", (326, 220)),
        ("<|box_start|>(320,200)<|box_end|>", (320, 200)),
    ],
)
def test_every_way_to_write_a_point_is_understood(text: str, point: tuple[int, int]) -> None:
    assert parse_coordinates(text).in_view(VIEW) == point


NO_POINTS = (
    "[] () @ @1280x720 5 [5] 5@1280x720 a,b 1,b 1,2,3 1,2,3,4,5 1,2@ 1,2@0x5 1,2@5x0 1,2@axb 1,2@5 1,2@-5x5 "
    "1,2@1280x720@3x3 [1,2,3,4 1,2] [1,2) 1e3,4 nan,1 inf,1 0x10,2 1;2 1,,2 ,1,2 1,2, left,top "
    "[1,2,3,4@5x5]@5x5 NaN,NaN true,false {1,2}"
)


@pytest.mark.parametrize("text", ["", " ", "1 - 2", "\uff11,2" * 90, *NO_POINTS.split()])
def test_what_is_no_point_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(ValueError, match=r"x,y@WIDTHxHEIGHT"):
        parse_coordinates(text)


@pytest.mark.parametrize("value", [None, 5, True, {"x": 1, "y": 2}, [True, False], ["1", "2"], [None, 1]])
def test_what_is_no_text_is_refused_but_for_a_list_of_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="a point is"):
        parse_coordinates(value)
    assert parse_coordinates([250, 300, 260, 310]).in_view(VIEW) == (326, 220)
    assert parse_coordinates((0.5, 0.5)).in_view(VIEW) == (640, 360)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[320,200]", r"write 320,200 for pixels, \[320,200,320,200\] for thousandths"),
        ("0.5,0.25", r"write \[0\.5,0\.25\]"),
        *((box, "For a box in pixels add @WIDTHxHEIGHT") for box in ("[1100,20,1200,40]", "[-1,0,1,1]")),
        ("[0.5,0.5,1.5,2000]", "For a box in pixels add @WIDTHxHEIGHT"),
    ],
)
def test_what_could_be_pixels_or_parts_is_refused_with_the_way_to_write_it(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_coordinates(text)


@pytest.mark.parametrize("text", ["641,10@640x360", "10,361@640x360", "-1,10@640x360", "10,-0.5@640x360"])
def test_a_point_outside_of_the_picture_is_told_with_the_pictures_size(text: str) -> None:
    with pytest.raises(InvalidArguments, match="outside the picture, which is 640x360"):
        parse_coordinates(text).in_view(VIEW)


def test_without_a_size_pixels_are_those_of_the_picture_shown_last() -> None:
    point = parse_coordinates("320,180")
    assert point.in_view(VIEW, shown=Size(width=640, height=360)) == (640, 360)
    assert point.in_view(VIEW) == (320, 180)


@given(sizes, sizes, st.data())
def test_every_pixel_of_any_picture_is_in_the_view(picture: Size, view: Size, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, picture.width))
    y = data.draw(st.integers(0, picture.height))
    at = parse_coordinates(f"{x},{y}@{picture}").in_view(view)
    assert 0 <= at[0] < view.width
    assert 0 <= at[1] < view.height
    assert abs(at[0] - x * view.width / picture.width) <= 1
    assert abs(at[1] - y * view.height / picture.height) <= 1


@given(sizes, st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_thousandths_and_parts_of_the_sides_mean_the_same(
    view: Size, left: int, top: int, right: int, bottom: int
) -> None:
    assume(max(left, top, right, bottom) > 1)
    corners = (left, top, right, bottom)
    thousandths = parse_coordinates(list(corners))
    parts = parse_coordinates("[{:.4f},{:.4f},{:.4f},{:.4f}]".format(*(corner / 1000 for corner in corners)))
    assert thousandths.normalised
    assert parts.normalised
    assert all(abs(a - b) <= 1 for a, b in zip(thousandths.in_view(view), parts.in_view(view), strict=True))


@given(st.text(max_size=300) | st.from_regex(r"\A[\[(]?[0-9.,\s@x-]{0,40}[\])]?\Z"))
def test_any_text_is_a_point_or_refused(text: str) -> None:
    try:
        point = parse_coordinates(text)
    except ValueError:
        return
    assert isinstance(point, Coordinates)
    assert str(point) == text
    assert parse_coordinates(str(point)) == point
