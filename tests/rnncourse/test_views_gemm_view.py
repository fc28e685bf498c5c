"""The published products stand as they were read off; the view says what it draws."""

import pytest
from values_in import holds

from rnncourse.lab import svail_gemm
from rnncourse.views import gemm_view


def test_published_rates_stay_below_the_cards_peak_and_have_their_teeth():
    for size in svail_gemm.FORWARD:
        for library in svail_gemm.LIBRARIES:
            rates = svail_gemm.forward(size, library)
            assert len(rates) == len(svail_gemm.MINIBATCHES)
            assert 0 < min(rates) < max(rates) < svail_gemm.PEAK
    full = dict(zip(svail_gemm.MINIBATCHES, svail_gemm.FORWARD[2560], strict=True))[128]
    cublas, nervana = (a / b for a, b in zip(full, svail_gemm.ODD_2560[125], strict=True))
    assert cublas > 4  # as the post says
    assert nervana < 1.25


def test_a_size_or_a_library_that_was_not_measured_is_refused_with_those_that_were():
    with pytest.raises(ValueError, match="size is 512; the measured ones are 1024, 2048, 2560"):
        svail_gemm.forward(512, "cuBLAS")
    with pytest.raises(ValueError, match=r"'MKL'.*cuBLAS"):
        svail_gemm.forward(1024, "MKL")


def test_the_finding_states_both_machines():
    text = gemm_view.finding({1: 20.0, 64: 180.0}, 200.0, 2560)
    values = "2560 TitanX 32 cuBLAS 24 Nervana 51 256 cuBLAS 75 Nervana 83 1024 10 1 90 64"
    assert holds(text, *values.split())
