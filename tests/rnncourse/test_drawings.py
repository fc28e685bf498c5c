"""Every drawing is sound SVG whose words have room, whose colours can be told, and which a lesson shows."""

import re
from itertools import combinations, groupby, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from matplotlib import font_manager
from PIL import ImageFont

import drawings
from drawings import ranks, schedules
from drawings.pen import Sheet
from nbjudge.authoring.course import ROOT
from ranks.simulated_transfers import ring
from rnncourse import drawings as derived
from rnncourse.figures import picture
from rnncourse.figures.pen import INK, QUIET, ROLES, SMALL, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES, MARGIN, MOST_STEPS = 40_000, 8, 12
ALT_WORDS, MOST_WORDS = (12, 70), 120  # of the alternative text; on the drawing
FONTS = {  # wider than what browsers choose: what has room in it has room everywhere
    bold: ImageFont.truetype(
        font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight)), 100
    )
    for bold, weight in ((False, 400), (True, 700))
}
LESSONS = sorted(path.stem for path in ROOT.glob("notebooks/source/*.py"))
SHOWN = re.compile(r'^drawings\.show\("(\w+)"\)$', re.M)


class Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other, slack=0.0):
        wide = min(self.right, other.right) - max(self.left, other.left)
        return wide > slack and min(self.bottom, other.bottom) - max(self.top, other.top) > slack

    def holds(self, other):
        sides = self.left <= other.left and other.right <= self.right
        return sides and self.top <= other.top and other.bottom <= self.bottom


def code_cells(stem):
    text = (ROOT / f"notebooks/source/{stem}.py").read_text(encoding="utf-8")
    return [cell for cell in text.split("# %%")[1:] if not cell.startswith(" [markdown]")]


def text_of(text):
    return "".join(text.itertext())


def area_of(text):
    """Room of a text element, as DejaVu Sans takes it."""
    size, x, y = (float(text.get(key)) for key in ("font-size", "x", "y"))
    width = FONTS[text.get("font-weight") is not None].getlength(text_of(text)) * size / 100
    left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
    return Area(left, y - 0.76 * size, left + width, y + 0.24 * size)


def shape_of(element):
    """Room of a filled rectangle or circle; None for anything else."""
    number = lambda key: float(element.get(key, 0))
    if element.tag == f"{SVG}rect":
        x, y = number("x"), number("y")
        return Area(x, y, x + number("width"), y + number("height"))
    if element.tag == f"{SVG}circle":
        x, y, r = number("cx"), number("cy"), number("r")
        return Area(x - r, y - r, x + r, y + r)
    return None


def strokes_of(element):
    """Upright and level parts of a path."""
    for path in re.findall(r"M[^M]*", element.get("d", "")):
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
        for (x, y), (to_x, to_y) in pairwise(points):
            if x == to_x or y == to_y:
                yield Area(min(x, to_x) - 1, min(y, to_y) - 1, max(x, to_x) + 1, max(y, to_y) + 1)


def faults(svg):
    """Words that leave the card, are too small, overlap, or are crossed by a line or by a shape's edge."""
    elements = list(ElementTree.fromstring(svg))
    height = float(ElementTree.fromstring(svg).get("viewBox").split()[3])
    texts = [(number, e) for number, e in enumerate(elements) if e.tag == f"{SVG}text"]
    card = Area(MARGIN, MARGIN, WIDTH - MARGIN, height - MARGIN)
    for number, text in texts:
        label, room = text_of(text), area_of(text)
        if room.left < card.left or room.right > card.right or room.bottom > card.bottom:
            yield f"«{label}» leaves the card"
        if float(text.get("font-size")) < SMALL:
            yield f"«{label}» is too small"
        yield from (f"{fault} «{label}»" for fault in around(elements, number, room))
    areas = [(text_of(text), area_of(text)) for _, text in texts]
    for (label, one), (others, other) in combinations(areas, 2):
        if one.meets(other, 1):
            yield f"«{label}» lies on «{others}»"


def around(elements, number, room):
    """Faults of one text with the shapes and lines behind and before it."""
    middle = Area((room.left + room.right) / 2 - 1, (room.top + room.bottom) / 2 - 1, 0, 0)
    middle = middle._replace(right=middle.left + 2, bottom=middle.top + 2)
    ground = [k for k in range(number) if shape_of(elements[k]) and shape_of(elements[k]).meets(middle)]
    for element in elements:
        edge = shape_of(element)
        if edge and edge.meets(room, 1) and not edge.holds(room):
            yield "an edge crosses"
    for element in elements[ground[-1] + 1 :]:
        if any(room.meets(stroke, 1) for stroke in strokes_of(element)):
            yield "a line crosses"


def contrast(one, other):
    """WCAG's ratio of two colours."""

    def light(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_words_of_a_drawing_have_room_and_nothing_crosses_them(name):
    assert not list(faults(drawings.DRAWINGS[name]().tag()))


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_has_a_title_a_finding_few_words_and_nothing_that_another_could_meet(name):
    sheet = drawings.DRAWINGS[name]()
    svg, root = sheet.tag(), ElementTree.fromstring(sheet.tag())
    assert root.find(f"{SVG}title").text == sheet.title
    assert root.find(f"{SVG}desc").text == sheet.alt == root.get("aria-label")
    assert ALT_WORDS[0] <= len(sheet.alt.split()) <= ALT_WORDS[1]
    assert sheet.alt.endswith(".")
    assert sum(len(text_of(text).split()) for text in root.iter(f"{SVG}text")) <= MOST_WORDS
    assert len(svg.encode()) < MOST_BYTES
    assert not re.search(r'\bid="|<style|<script|currentColor|url\(', svg)


@pytest.mark.parametrize("draw", ["small", "outside", "over", "crossed", "narrow", "edge"])
def test_the_tests_of_drawings_see_a_bad_one(draw):
    s = Sheet("bad", "bad", 200)
    s.text(100, 100, "words that are long", size=12 if draw == "small" else SMALL)
    if draw == "outside":
        s.text(890, 50, "outside")
    if draw == "over":
        s.text(110, 104, "over")
    if draw == "crossed":
        s.line((20, 95), (300, 95))
    if draw == "narrow":
        s.box(300, 100, 40, 30, label="too narrow")
    if draw == "edge":
        s.box(120, 60, 90, 80)
    assert list(faults(s.tag()))


@pytest.mark.parametrize("name", ROLES)
def test_edges_and_words_of_a_role_stand_out(name):
    role = ROLES[name]
    assert contrast(role.edge, picture.CARD) >= 4
    assert min(contrast(role.text, picture.CARD), contrast(role.letters, role.solid)) >= 4.5
    assert contrast(INK, role.pale) >= 7
    assert contrast(QUIET, picture.CARD) >= 4.5


@pytest.mark.parametrize("stem", LESSONS)
def test_a_lesson_opens_with_a_drawing(stem):
    cells = [cell for cell in code_cells(stem) if cell.strip() and "paths.test" not in cell]
    opening = cells[:3]
    assert SHOWN.search("".join(opening))


def test_the_lessons_show_every_drawing_once():
    names = [name for stem in LESSONS for cell in code_cells(stem) for name in SHOWN.findall(cell)]
    assert sorted(names) == sorted(drawings.DRAWINGS)


def test_a_lesson_shows_the_file_that_the_script_wrote_with_its_alternative_text(monkeypatch):
    displayed = []
    monkeypatch.setattr(derived, "display", displayed.append)
    for name, draw in drawings.DRAWINGS.items():
        derived.show(name)
        assert displayed[-1]._repr_mimebundle_()["text/html"].startswith(draw().tag())
        assert repr(displayed[-1]) == draw().alt


def test_moving_the_slider_of_a_drawing_shows_its_steps_and_their_sentences(monkeypatch):
    views = {}
    monkeypatch.setattr(derived, "display", lambda view: None)
    monkeypatch.setattr(
        derived, "slider_view", lambda *view, **sliders: views.update({name: (*view, sliders)})
    )
    for name, slider in drawings.STEPPERS.items():
        derived.show(name)
        draw, describe, sliders = views[name]
        assert sliders == {slider.label: slider}
        for value in slider.values:
            sheet, step = drawings.DRAWINGS[name](**{slider.label: value}), {slider.label: value}
            assert (draw(**step).tag(), describe(**step)) == (sheet.tag(), sheet.now)


def test_an_unknown_drawing_is_refused_and_the_place_of_the_names_stated():
    with pytest.raises(ValueError, match="'moon'"):
        derived.show("moon")


@pytest.mark.parametrize("name", drawings.STEPPERS)
def test_every_step_of_a_drawing_has_room_and_a_sentence_of_its_own(name):
    slider = drawings.STEPPERS[name]
    sheets = [drawings.DRAWINGS[name](**{slider.label: value}) for value in slider.values]
    assert not [fault for sheet in sheets for fault in faults(sheet.tag())]
    assert len({sheet.now for sheet in sheets}) == len({sheet.tag() for sheet in sheets}) == len(sheets)
    assert len(sheets) <= MOST_STEPS
    assert all(re.fullmatch(r"[A-Z].*\.", sheet.now) for sheet in sheets)
    assert drawings.DRAWINGS[name]().now == sheets[slider.start].now


@pytest.mark.parametrize("turn", range(schedules.TURNS))
def test_every_turn_of_the_wavefront_lights_the_cells_that_its_sentence_names(turn):
    sheet = schedules.wavefront(turn)
    circles = sum(e.tag == f"{SVG}circle" for e in ElementTree.fromstring(sheet.tag()))
    assert circles == sheet.now.count("layer") == min(turn + 1, schedules.LAYERS, schedules.TURNS - turn)


def test_the_ring_that_is_drawn_sends_the_chunks_of_the_schedule():
    sums = [[{rank} for _ in range(ranks.RANKS)] for rank in range(ranks.RANKS)]
    for step, transfers in groupby(ring(ranks.RANKS).transfers(), key=lambda transfer: transfer[0]):
        before = [row[:] for row in sums]
        for _, source, target, chunk in transfers:
            sums[target][chunk] = before[source][chunk] | before[target][chunk]
        assert [[len(chunk) for chunk in row] for row in sums] == ranks.counts_after(step)
    assert step == ranks.STEPS - 1


def test_indices_are_lowered_and_the_line_goes_on_where_it_was():
    s = Sheet("index", "index", 100)
    s.text(20, 40, "h_{t} + W^{a}")
    (text,) = ElementTree.fromstring(s.tag()).iter(f"{SVG}text")
    shifts = [float(span.get("dy", 0)) for span in text]
    assert text_of(text) == "ht + Wa"
    assert shifts[0] > 0
    assert sum(shifts[:2]) == pytest.approx(0)
    assert sum(shifts) < 0
