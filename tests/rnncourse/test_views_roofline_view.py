"""The roofline view puts the recurrent product where FLOP per byte and the machine's two limits say."""

import pytest

from rnncourse.figures.picture import png
from rnncourse.lab.roofline import Roofline
from rnncourse.views.roofline_view import _moved, _roofs, finding, intensity

ROOF = Roofline(peak=200.0, bandwidth=20.0)  # GFLOP/s, GB/s


def test_intensity_is_flop_over_bytes_counted_by_hand():
    # h [3,8] times [8,8]: 2*3*8*8 FLOP; 24 + 64 + 24 numbers of 4 bytes
    assert intensity(3, 8) == pytest.approx(384 / 448)


def test_one_sequence_has_at_most_half_a_flop_per_byte():
    assert all(0.4 < intensity(1, H) < 0.5 for H in (64, 1024, 4096))


def test_finding_names_the_limit_and_the_size_of_the_weights():
    assert "memory is the limit" in finding(ROOF, 1, 1024)
    assert "4.2 MB" in finding(ROOF, 1, 1024)
    assert "arithmetic is the limit" in finding(ROOF, 256, 1024)


def test_figure_marks_the_product_on_the_roof_and_each_measurement():
    figure = _moved(_roofs(ROOF, {(1, 1024): 30.0, (64, 1024): 150.0}), ROOF, 4, 1024)
    assert [text.get_text() for text in figure.axes[0].texts][:2] == ["1", "64"]
    point = figure.axes[0].lines[-1].get_xydata()[0]
    assert point == pytest.approx([intensity(4, 1024), ROOF.attainable(intensity(4, 1024))])
    assert png(figure).startswith(b"\x89PNG")
