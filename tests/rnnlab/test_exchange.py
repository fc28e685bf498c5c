"""Weights of other frameworks give their outputs and gradients, and come back without a changed bit.

tests/fixtures/frameworks.npz holds what each framework computed: `python -m bench.frameworks --fixtures`.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rnnlab import exchange, reference
from rnnlab.compare import relative_error
from rnnlab.network import Network

STORED = np.load(Path(__file__).parents[1] / "fixtures/frameworks.npz", allow_pickle=False)
CASES = sorted({name.split("/")[0] for name in STORED if "|" in name})
READ = {"linen": "from_flax", "nnx": "from_flax"}


def below(key, part):
    start = f"{key}/{part}/"
    return {name.removeprefix(start): STORED[name] for name in STORED if name.startswith(start)}


def as_stored(key, arrays):
    """The arrays in the form in which the framework hands them out."""
    return list(arrays.values()) if key.startswith("keras") else exchange.nested(arrays)


def network_of(key, arrays):
    framework, _, cell, reset = key.split("|")
    read = getattr(Network, READ.get(framework, f"from_{framework}"))
    return read(as_stored(key, arrays), cell=cell, reset=reset)


@pytest.mark.parametrize("key", CASES)
def test_a_layer_of_another_framework_gives_its_outputs_and_gradients(key):
    network = network_of(key, below(key, "arrays"))
    exact = network.astype("float64")
    x, dy, want, want_dx = (STORED[f"{key}/{name}"] for name in ("x", "dy", "y", "dx"))
    y, _, saved = reference.forward(exact, x.astype("float64"))
    dx, _, gradients = reference.backward(exact, saved, dy.astype("float64"))
    assert relative_error(want, y) < 2e-6
    assert relative_error(want_dx, dx) < 1e-5
    theirs = network_of(key, below(key, "gradients")).parameters
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"):
        assert relative_error(theirs[name], gradients[name]) < 1e-5, name


@pytest.mark.parametrize("key", CASES)
def test_what_was_read_is_written_back_without_a_changed_bit(key):
    framework = key.split("|")[0]
    arrays = below(key, "arrays")
    network = network_of(key, arrays)
    target = "linen" if key.startswith("nnx|LSTMCell") else framework  # stored alike
    layers = exchange.write(target, network)
    assert len(layers) == 1
    written = sorted(layers[0].items()) if not framework == "keras" else list(layers[0].items())
    end = lambda path: (
        path.split("cell/")[-1].removeprefix("vanilla_rnn/").removeprefix("gru/").removeprefix("lstm/")
    )
    stored = arrays.items() if framework == "keras" else sorted(arrays.items(), key=lambda item: item[0])
    trimmed = {end(path).replace("if_/", "if/").removesuffix("_l0"): array for path, array in stored}
    values = trimmed.values() if framework == "keras" else [trimmed[path] for path, _ in written]
    assert len(trimmed) == len(written)
    assert all(np.array_equal(a, b) for (_, a), b in zip(written, values, strict=True))


PAIRS = [
    (cell, reset, framework)
    for framework in {layout.framework: 0 for layout in exchange.LAYOUTS}
    for cell, reset in {
        (layout.cell, layout.reset): 0 for layout in exchange.LAYOUTS if layout.framework == framework
    }
]


@pytest.mark.parametrize(("cell", "reset", "framework"), PAIRS)
def test_a_network_that_is_written_and_read_computes_the_same(cell, reset, framework):
    network = Network.create(cell, 3, 5, 2, reset=reset, dtype="float64", seed=4)
    if framework == "nnx" and cell == "gru":  # no bias inside its reset gate
        inner = {
            f"bias_hh_l{k}": np.r_[network.parameters[f"bias_hh_l{k}"][:10], np.zeros(5)] for k in (0, 1)
        }
        network = network.with_parameters(network.parameters | inner)
    x = np.random.default_rng(2).normal(size=(4, 3, 3))
    layers = exchange.write(framework, network)
    source = network.to_torch() if framework == "torch" else layers
    parts = exchange.read(framework, source, cell=cell, reset=reset)
    again = Network(cell, 3, 5, parts.parameters, 2, reset, "float64")
    assert relative_error(reference.forward(again, x)[0], reference.forward(network, x)[0]) < 1e-15


def test_a_network_shares_no_memory_with_what_it_was_read_from_or_written_to():
    stored = Network.create("gru", 3, 5).parameters
    network = Network.from_torch(stored)
    written = network.to_torch()
    stored["weight_ih_l0"][:] = 0
    written["weight_hh_l0"][:] = 0
    assert network.parameters["weight_ih_l0"].all()
    assert network.parameters["weight_hh_l0"].all()


def test_a_gru_inside_a_larger_model_is_found_and_two_are_told_apart_by_prefix():
    one, two = (Network.create("gru", 3, 5, seed=seed) for seed in (1, 2))
    state = {f"encoder.{name}": a for name, a in one.parameters.items()} | {
        "head.weight": np.ones((2, 5), "f4")
    }
    assert np.array_equal(Network.from_torch(state).parameters["bias_ih_l0"], one.parameters["bias_ih_l0"])
    state |= {f"decoder.{name}": a for name, a in two.parameters.items()}
    with pytest.raises(ValueError, match=r"encoder.*prefix|prefix.*encoder"):
        Network.from_torch(state)
    with pytest.raises(ValueError, match=r"'other'.*encoder/weight_ih_l0"):
        Network.from_torch(state, prefix="other")
    chosen = Network.from_torch(state, prefix="decoder")
    assert np.array_equal(chosen.parameters["bias_ih_l0"], two.parameters["bias_ih_l0"])


class Module:
    """A module of PyTorch as far as it is read."""

    def __init__(self, parts=None, **settings):
        self.parts = parts or {}
        self.get_submodule = self.part
        vars(self).update(settings)

    def part(self, path):
        first, _, rest = path.partition(".")
        return self.parts[first].part(rest) if path else self

    def modules(self):
        return [self, *(inner for part in self.parts.values() for inner in part.modules())]

    def state_dict(self):
        own = {name: a for name, a in vars(self).items() if name.startswith(("weight", "bias"))}
        inner = {f"{k}.{name}": a for k, part in self.parts.items() for name, a in part.state_dict().items()}
        return own | inner


def test_a_module_inside_a_larger_one_brings_its_own_settings():
    plain, relu = (
        Module(nonlinearity=word, **Network.create(f"rnn_{word}", 3, 5).parameters)
        for word in ("tanh", "relu")
    )
    assert Network.from_torch(Module({"a": relu})).cell == "rnn_relu"
    for prefix, cell in (("a", "rnn_tanh"), ("b.c", "rnn_relu"), ("b.", "rnn_relu")):
        assert Network.from_torch(Module({"a": plain, "b": Module({"c": relu})}), prefix=prefix).cell == cell
    with pytest.raises(ValueError, match="dropout"):
        Network.from_torch(Module({"a": Module(training=True, dropout=0.5, **relu.state_dict())}))


def test_a_layer_that_is_missing_between_two_is_not_passed_over():
    parameters = Network.create("gru", 5, 5, 3).parameters
    holey = {name: a for name, a in parameters.items() if not name.endswith("l1")}
    with pytest.raises(ValueError, match=r"0, 2"):
        Network.from_torch(holey)
    assert Network.from_torch(holey, layer=2).layers == 1


def test_weights_without_biases_are_read_with_zeros():
    weights = {name: a for name, a in Network.create("lstm", 3, 5).parameters.items() if "weight" in name}
    assert not Network.from_torch(weights).parameters["bias_hh_l0"].any()


def test_two_directions_are_read_one_at_a_time():
    onward, back = (Network.create("lstm", 3, 5, seed=seed).parameters for seed in (1, 2))
    state = onward | {f"{name}_reverse": a for name, a in back.items()}
    for reverse, want in ((False, onward), (True, back)):
        got = Network.from_torch(state, reverse=reverse).parameters
        assert all(np.array_equal(got[name], want[name]) for name in want)


def with_extra(**more):
    return Network.create("lstm", 3, 5).parameters | {name: np.ones(5, "f4") for name in more}


def without(name, cell="lstm", **more):
    """The parameters of a layer without one of them, and with others."""
    return {n: a for n, a in Network.create(cell, 3, 5).parameters.items() if n != name} | more


class Array:
    """An array of a framework whose type NumPy does not have."""

    def __init__(self, values, dtype):
        self.values = values
        self.dtype = dtype
        self.shape = values.shape

    def tolist(self):
        return self.values.tolist()


ONE = np.ones(5, "f4")
NARROW = {"weight_ih": Array(np.ones((15, 3)), "lib.float8_e4m3fn"), "weight_hh": np.ones((15, 5), "f4")}
MLX_GRU = exchange.write("mlx", Network.create("gru", 3, 5))[0]
NNX_RNN = exchange.nested(exchange.write("nnx", Network.create("rnn_tanh", 3, 5))[0])
SQUARE = np.ones((15, 5), "f4")
TWO_WAYS = {"W": np.ones((2, 15, 3), "f4"), "R": np.ones((2, 15, 5), "f4")}
SECOND_IS_RELU = ["Sigmoid", "Tanh", "Sigmoid", "Relu"]
REFUSED = {  # what a network cannot express: (how it is read, the word that the refusal must hold)
    "two directions": (lambda: Network.from_torch(with_extra(bias_hh_l0_reverse=1)), "bias_hh_l0_reverse"),
    "projection": (lambda: Network.from_torch(with_extra(weight_hr_l0=1)), "weight_hr_l0"),
    "layer norm": (lambda: Network.from_torch(with_extra(norm_weight=1)), "norm_weight"),
    "clip": (lambda: onnx("LSTM", clip=3.0), "clip"),
    "coupled gates": (lambda: onnx("LSTM", input_forget=1), "input_forget"),
    "direction": (lambda: onnx("GRU", direction="reverse"), "reverse"),
    "activation": (lambda: onnx("GRU", activations=["HardSigmoid", "Tanh"]), "hardsigmoid"),
    "operator": (lambda: onnx("Conv"), "Conv"),
    "hard sigmoid": (lambda: Network.from_keras(layer(recurrent_activation="hard_sigmoid")), "hard_sigmoid"),
    "relu with gates": (
        lambda: Network.from_keras(layer(activation="relu", recurrent_activation="sigmoid")),
        "relu",
    ),
    "whole model": (lambda: Network.from_keras(layer(layers=[])), "model"),
    "both directions": (lambda: Network.from_keras(layer(merge_mode="concat")), "two directions"),
    "whole numbers": (lambda: Network.from_torch({"weight_ih_l0": np.ones((5, 3), "int8")}), "int8"),
    "other direction": (lambda: onnx("GRU", direction="reverse", reverse=False), "reverse"),
    "second direction's function": (
        lambda: onnx("GRU", direction="bidirectional", reverse=True, activations=SECOND_IS_RELU),
        "relu",
    ),
    "batch first": (
        lambda: Network.from_torch(SimpleNamespace(batch_first=True, **with_extra())),
        "batch_first",
    ),
    "backwards": (lambda: Network.from_keras(layer(go_backwards=True)), "go_backwards"),
    "one bias of two": (lambda: Network.from_torch(without("bias_hh_l0")), "bias_ih_l0"),
    "a bias computed from another": (
        lambda: Network.from_torch(without("bias_hh_l0", **{"parametrizations.bias_hh_l0.original": ONE})),
        "parametrizations",
    ),
    "weight norm": (
        lambda: Network.from_torch(without("weight_hh_l0", weight_hh_l0_g=ONE)),
        "weight_hh_l0_g",
    ),
    "norm in a cell": (
        lambda: Network.from_torch(
            Module({"norm_i": Module(weight=ONE)}, weight_ih=np.ones((15, 3), "f4"), weight_hh=SQUARE)
        ),
        "norm_i",
    ),
    "norm in a cell of MLX": (lambda: Network.from_mlx(MLX_GRU | {"ln": {"weight": ONE}}), "ln"),
    "no inner bias in MLX": (lambda: Network.from_mlx({n: MLX_GRU[n] for n in ("Wx", "Wh", "b")}), "Wh"),
    "low rank": (
        lambda: Network.from_flax(NNX_RNN | {"dense_h": NNX_RNN["dense_h"] | {"lora_a": ONE}}),
        "lora_a",
    ),
    "a later layer of another size": (
        lambda: Network.from_torch(without("", weight_ih_l1=np.ones((20, 7), "f4"), weight_hh_l1=ONE)),
        "_l1",
    ),
    "8-bit floats": (lambda: Network.from_torch(NARROW), "float8_e4m3fn"),
    "packed weights": (lambda: Network.from_torch({"_all_weight_values.0.param": ONE}), "quantised"),
    "weights of two layers": (lambda: Network.from_keras([ONE] * 6), "6"),
    "a layer around another": (lambda: Network.from_keras(layer(name="own")), "SimpleNamespace"),
    "cells in one layer": (
        lambda: Network.from_keras(layer(cell={"config": {"cells": [], "activation": "tanh"}})),
        "cells",
    ),
    "a cell that the layer contradicts": (
        lambda: Network.from_torch(Module(nonlinearity="relu", **without("", "rnn_relu")), cell="rnn_tanh"),
        "rnn_relu",
    ),
    "reverse": (
        lambda: Network.from_flax(SimpleNamespace(cell=SimpleNamespace(**NNX_RNN), reverse=True)),
        "reverse",
    ),
    "two directions in arrays": (lambda: Network.from_onnx("GRU", TWO_WAYS), "direction"),
    "functions of one direction": (
        lambda: Network.from_onnx(
            "GRU", TWO_WAYS, direction="bidirectional", reverse=True, activations=["Sigmoid", "Tanh"]
        ),
        "sigmoid",
    ),
    "an attribute of no operator": (lambda: onnx("GRU", linear_before=1), "linear_before"),
    "nothing": (lambda: Network.from_torch([]), "none"),
    "the name of a file": (lambda: Network.from_torch("model.pt"), "none"),
}


def onnx(kind, **attributes):
    G = {"GRU": 3, "LSTM": 4}.get(kind, 1)
    D = 2 if attributes.get("direction") == "bidirectional" else 1
    arrays = {"W": np.ones((D, G * 5, 3), "f4"), "R": np.ones((D, G * 5, 5), "f4")}
    return Network.from_onnx(kind, arrays, **attributes)


def layer(**settings):
    return SimpleNamespace(get_config=lambda: settings, get_weights=list, weights=[])


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_network_cannot_express_is_refused_by_name(name):
    read, word = REFUSED[name]
    with pytest.raises(ValueError, match=word):
        read()


def test_a_cell_in_a_list_of_a_model_brings_its_own_settings():
    arrays = exchange.write("mlx", Network.create("rnn_relu", 3, 5))[0]
    inner = SimpleNamespace(nonlinearity=SimpleNamespace(__name__="relu"), **arrays)
    model = SimpleNamespace(layers=[SimpleNamespace(weight=ONE), inner], reverse=True, activation="gelu")
    assert Network.from_mlx(model).cell == "rnn_relu"


def test_arrays_that_belong_to_other_layers_do_not_matter():
    linen = exchange.nested(exchange.write("linen", Network.create("gru", 3, 5))[0])
    head = {"dense_head": {"kernel": np.ones((5, 2), "f4")}, "steps": {"count": np.ones(1, "int64")}}
    assert Network.from_flax({"params": {"rnn": {"cell": linen}, **head}}).cell == "gru"


def test_bfloat16_is_read_from_a_framework_that_numpy_cannot_convert():
    arrays = {name: Array(np.round(a, 1), "lib.bfloat16") for name, a in MLX_GRU.items()}
    network = Network.from_mlx(arrays)
    assert network.dtype == "float32"
    assert np.array_equal(network.parameters["weight_hh_l0"], np.round(MLX_GRU["Wh"], 1))


def test_the_forward_layer_of_two_directions_is_read():
    names = ("kernel", "recurrent_kernel")
    settings = {"activation": "tanh", "recurrent_activation": "sigmoid", "zero_output_for_mask": True}
    source = SimpleNamespace(
        get_config=lambda: settings,
        get_weights=lambda: [np.ones((3, 20), "f4"), np.ones((5, 20), "f4")],
        weights=[SimpleNamespace(path=f"forward_lstm/lstm_cell/{name}") for name in names],
    )
    assert Network.from_keras(source).cell == "lstm"


def test_an_activation_is_that_of_the_direction_that_is_read():
    onward = onnx("GRU", direction="bidirectional", reverse=False, activations=SECOND_IS_RELU)
    assert onward.cell == "gru"
    functions = ["Tanh", "Relu"]
    arrays = {"W": np.ones((2, 5, 3), "f4"), "R": np.ones((2, 5, 5), "f4")}
    for reverse, cell in ((False, "rnn_tanh"), (True, "rnn_relu")):
        options = {"direction": "bidirectional", "activations": functions, "reverse": reverse}
        assert Network.from_onnx("RNN", arrays, **options).cell == cell


@pytest.mark.parametrize(
    ("cell", "settings", "expected"),
    [
        ("simple_rnn_cell", {"activation": "relu"}, ("rnn_relu", "after")),
        (
            "gru_cell",
            {"activation": "tanh", "recurrent_activation": "sigmoid", "reset_after": False},
            ("gru", "before"),
        ),
        (
            "gru_cell",
            {"activation": "tanh", "recurrent_activation": "sigmoid", "reset_after": True},
            ("gru", "after"),
        ),
    ],
)
def test_a_cell_in_a_keras_layer_brings_its_own_settings(cell, settings, expected):
    G = 3 if cell == "gru_cell" else 1
    arrays = {"kernel": np.ones((3, G * 5), "f4"), "recurrent_kernel": np.ones((5, G * 5), "f4")}
    weights = [SimpleNamespace(path=f"rnn/{cell}/{name}") for name in arrays]
    config = {"name": "rnn", "go_backwards": False, "cell": {"class_name": cell, "config": settings}}
    source = SimpleNamespace(
        get_config=lambda: config, get_weights=lambda: list(arrays.values()), weights=weights
    )
    network = Network.from_keras(source)
    assert (network.cell, network.reset) == expected


def test_layers_with_different_nonlinearities_are_refused_though_their_arrays_are_alike():
    arrays = [np.ones((5, 5), "f4"), np.ones((5, 5), "f4")]
    names = ("kernel", "recurrent_kernel")
    stack = [
        SimpleNamespace(
            get_config=lambda word=word: {"activation": word},
            get_weights=lambda: arrays,
            weights=[SimpleNamespace(path=f"rnn/{name}") for name in names],
        )
        for word in ("tanh", "relu")
    ]
    with pytest.raises(ValueError, match="rnn_relu"):
        Network.from_keras(stack)
    assert Network.from_keras(stack[:1] * 2).layers == 2


@pytest.mark.parametrize(("before", "reset"), [({}, "before"), ({"linear_before_reset": 1}, "after")])
def test_an_onnx_gru_resets_before_its_product_unless_told_otherwise(before, reset):
    assert onnx("GRU", **before).reset == reset


def test_a_node_is_read_through_its_attributes_and_the_names_of_its_inputs():
    attribute = SimpleNamespace(name="linear_before_reset", type=2, i=1)
    node = SimpleNamespace(op_type="GRU", input=["x", "kernel", "recurrent", ""], attribute=[attribute])
    arrays = {"kernel": np.ones((1, 15, 3), "f4"), "recurrent": np.ones((1, 15, 5), "f4")}
    network = Network.from_onnx(node, arrays)
    assert (network.cell, network.reset, network.input_size) == ("gru", "after", 3)


def test_a_cell_that_a_framework_does_not_have_is_not_written():
    with pytest.raises(ValueError, match="equinox"):
        Network.create("rnn_tanh", 3, 5).to_equinox()
    with pytest.raises(ValueError, match="before"):
        Network.create("gru", 3, 5, reset="before").to_torch()
    with pytest.raises(ValueError, match="min_gru"):
        Network.create("min_gru", 3, 5).to_onnx()
    with pytest.raises(ValueError, match="bias_hh"):
        Network.create("gru", 3, 5).to_flax("nnx")
