"""The chip view: what fits where, and how many multiprocessors keep weights."""

from values_in import holds

from rnncourse.views import chip_view


def test_a_layer_that_fits_into_a_cluster_is_said_to():
    text = chip_view.finding("lstm", 512, 4, "H200")
    assert holds(text, "lstm", "512", "4", "H200", "4.00", "MiB", "16", "float32", "64", "132", "64")


def test_a_layer_that_fits_nowhere_is_said_to():
    text = chip_view.finding("gru", 2048, 4, "A100")
    assert holds(text, "48.00", "MiB")
    assert holds(text, "3", "2048")


def test_two_bytes_a_weight_are_the_tensor_cores_kernels():
    text = chip_view.finding("lstm", 2048, 2, "H200")
    assert holds(text, "bfloat16", "128", "132")
    assert "T4 has compute capability 7.5" in chip_view.finding("lstm", 64, 2, "T4")


def test_every_multiprocessor_is_a_square_and_every_position_can_be_drawn():
    figure = chip_view.figure_chip("rnn_tanh", 1152, 4, "TitanX")
    assert figure.axes[1].images[0].get_array().size >= 24
    for cell in chip_view.CELLS:
        assert chip_view.figure_chip(cell, 64, 2, "T4").axes
