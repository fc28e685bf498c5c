"""Vectors of a cell: an LSTM with learned peepholes, against ONNX Runtime, PyTorch and its own network."""

from pathlib import Path

import numpy as np
import pytest
from new_cells import NEW_CELLS

from rnnlab import newton, reference
from rnnlab.cells import CELLS
from rnnlab.graphs.graph import Sketch, run
from rnnlab.graphs.mirror import gradients
from rnnlab.network import Network, layer_network
from rnnlab.scaling.overlap import buckets
from rnnlab.training.checkpoint import load, save
from rnnlab.training.model import Model

WANTED = np.load(Path(__file__).parents[1] / "fixtures/peepholes.npz", allow_pickle=False)
PARAMETERS = "weight_ih", "weight_hh", "bias_ih", "bias_hh", "p_i", "p_f", "p_o"


@pytest.fixture(autouse=True)
def cell(monkeypatch):
    monkeypatch.setitem(CELLS, "peephole_lstm", NEW_CELLS["peephole_lstm"])


def network_of(dtype):
    parameters = {f"{name}_l0": WANTED[name].astype(dtype) for name in PARAMETERS}
    return Network("peephole_lstm", 4, 5, parameters, dtype=dtype)


def test_its_outputs_are_those_of_onnx_runtime():
    network = network_of("float32")
    y, (h, c), _ = reference.forward(network, WANTED["x"], (WANTED["h0"][None], WANTED["c0"][None]))
    for got, name in ((y, "y"), (h[0], "hT"), (c[0], "cT")):
        np.testing.assert_allclose(got, WANTED[name], rtol=0, atol=1e-6)


def test_its_gradients_are_those_of_pytorch():
    network = network_of("float64")
    wide = {name: WANTED[name].astype("float64") for name in ("x", "h0", "c0")}
    y, _, saved = reference.forward(network, wide["x"], (wide["h0"][None], wide["c0"][None]))
    dstate = WANTED["dhT"][None], WANTED["dcT"][None]
    dx, (dh, dc), derived = reference.backward(network, saved, WANTED["dy"], dstate)
    got = {name: derived[f"{name}_l0"] for name in PARAMETERS} | {"x": dx, "h0": dh[0], "c0": dc[0]}
    np.testing.assert_allclose(y, WANTED["y64"], rtol=1e-12)
    for name, gradient in got.items():
        np.testing.assert_allclose(gradient, WANTED[f"d{name}"], rtol=1e-10, atol=1e-13, err_msg=name)


def test_all_steps_at_once_give_the_gradients_of_a_loop():
    network = network_of("float64")
    x = WANTED["x"].astype("float64")
    dx, _, derived = newton.backward(network, x, None, WANTED["dy"])
    want_dx, _, wanted = reference.backward(network, reference.forward(network, x)[2], WANTED["dy"])
    np.testing.assert_allclose(dx, want_dx, atol=1e-13)
    assert derived.keys() == wanted.keys() == network.parameters.keys()
    for name in wanted:
        np.testing.assert_allclose(derived[name], wanted[name], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("is_first", [False, True])
def test_a_vector_on_either_side_multiplies_every_row(is_first):
    rng = np.random.default_rng(3)
    g = Sketch(h=(4, 3), v=(3,), b=(3,))
    g.y = (g.v * g.h if is_first else g.h * g.v) + g.b
    graph = g.graph("y")
    values = {"h": rng.normal(size=(4, 3)), "v": rng.normal(size=3), "b": rng.normal(size=3)}
    dy = rng.normal(size=(4, 3))
    np.testing.assert_allclose(run(graph, values)["y"], values["h"] * values["v"] + values["b"])
    d = gradients(graph, values, {"y": dy})
    np.testing.assert_allclose(d["v"], np.sum(dy * values["h"], 0))
    np.testing.assert_allclose(d["h"], dy * values["v"])
    np.testing.assert_allclose(d["b"], dy.sum(0))


@pytest.mark.parametrize("size", [(4,), (2, 3), (1,)])
def test_a_vector_of_another_size_is_refused(size):
    g = Sketch(h=(4, 3), v=size)
    with pytest.raises(ValueError, match=r"\(4, 3\)"):
        _ = g.h * g.v


def test_a_network_with_vectors_is_made_kept_and_checked(tmp_path):
    network = Network.create("peephole_lstm", 3, 5, 2, init="orthogonal", gain=0.9)
    assert network.parameters["p_f_l1"].shape == (5,)
    assert not network.parameters["p_f_l1"].any()
    assert network.layer(1)._fields == PARAMETERS
    model = Model.create("peephole_lstm", 3, 5, 1, layers=2)
    in_buckets = [name for bucket in buckets(model).values() for name in bucket]
    assert sorted(in_buckets) == sorted(model.parameters)
    save(tmp_path / "network", network.parameters)
    again = network.with_parameters(load(tmp_path / "network"))
    np.testing.assert_array_equal(again.parameters["weight_hh_l1"], network.parameters["weight_hh_l1"])
    alone = layer_network(network, 1)
    assert alone.parameters["p_o_l0"] is network.parameters["p_o_l1"]
    with pytest.raises(ValueError, match=r"p_i_l0.*\(6,\).*\(5,\)"):
        network.with_parameters(network.parameters | {"p_i_l0": np.zeros(6, "float32")})
    with pytest.raises(ValueError, match="p_o_l1"):
        network.with_parameters({name: p for name, p in network.parameters.items() if name != "p_o_l1"})


@pytest.mark.parametrize("framework", ["torch", "onnx", "keras"])
def test_a_framework_is_not_given_a_cell_that_it_lacks(framework):
    with pytest.raises(ValueError, match=f"{framework}.*peephole_lstm"):
        getattr(network_of("float32"), f"to_{framework}")()
