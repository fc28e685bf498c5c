"""ONNX Runtime's LSTM with weights of 8 bits (its DynamicQuantizeLSTM), one step of one sequence.

It quantizes no other recurrent layer.  dy [1,1,H] is the state that the step starts from, h and c.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from bench.peers.one_step import named, start
from rnnlab.network import Network

OPSET = 14
IR_VERSION = 8  # of that operator set
INPUTS, OUTPUTS = ("x", "h", "c"), ("y", "h_n", "c_n")
GATES = (0, 3, 1, 2)  # ONNX orders an LSTM's gates i o f g; ours, as PyTorch's, are i f g o


def refuses(name: str, network: Network, T: int, B: int) -> str | None:
    """Why it cannot run that; None if it can."""
    return None if network.cell == "lstm" else f"ONNX Runtime quantizes no {network.cell}"


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays, see bench.peers."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        narrow = Path(folder) / "narrow.onnx"
        onnx.save(model_of(network), whole)
        quantize_dynamic(whole, narrow, weight_type=QuantType.QInt8, per_channel=True)
        kinds = [node.op_type for node in onnx.load(narrow).graph.node]
        assert kinds == ["DynamicQuantizeLSTM"], f"ONNX Runtime did not quantize the layer: {kinds}"
        session = onnxruntime.InferenceSession(narrow, options, providers=["CPUExecutionProvider"])
    feed = dict(zip(INPUTS, (x, *start(network, dy)), strict=True))

    def arrays(outcome):
        y, *state = outcome
        return named(y, tuple(state))

    return lambda: session.run(None, feed), arrays


def model_of(network: Network) -> onnx.ModelProto:
    """The network's first layer as an ONNX model of one step."""
    layer = network.layer(0)
    H = network.hidden_size
    tensors = {
        "W": _ordered(layer.weight_ih, H)[None],
        "R": _ordered(layer.weight_hh, H)[None],
        "B": np.concatenate([_ordered(layer.bias_ih, H), _ordered(layer.bias_hh, H)])[None],
    }
    state = [1, 1, H]
    shapes = {"x": [1, 1, network.input_size], "y": [1, 1, 1, H], "h": state, "c": state}
    shapes |= {"h_n": state, "c_n": state}

    def values(names):
        return [helper.make_tensor_value_info(key, onnx.TensorProto.FLOAT, shapes[key]) for key in names]

    node = helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], OUTPUTS, hidden_size=H)
    weights = [numpy_helper.from_array(np.ascontiguousarray(array), key) for key, array in tensors.items()]
    graph = helper.make_graph([node], "step", values(INPUTS), values(OUTPUTS), weights)
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)


def _ordered(array: np.ndarray, H: int) -> np.ndarray:
    gates = array.reshape(4, H, *array.shape[1:])
    return gates[[*GATES]].reshape(array.shape)
