#!/usr/bin/env bash
# Versions:  onnx 1.23.2, NumPy 2.4.6
# Expected:  onnx's own evaluator takes the input sequence_lens of GRU, LSTM and RNN into account, and the node tests named
#            test_rnn_seq_length and test_gru_seq_length test it.
# Guess:     the tests pass lengths, some shorter than the sequences; the evaluator's last state is the state at each length.
# Seen:      the evaluator ignores the lengths of all three operators, without a word: its last state includes the padding. The
#            two node tests with the name leave the input away, and the one that passes lengths, test_lstm_with_peepholes,
#            passes those of whole sequences: a backend that ignores them passes all. onnxruntime 1.32 does honour it.
# Why here:  docs/frameworks.md counts these tests as expressed by networks, which have no lengths: right only because the tests
#            have none. onnx.reference is not an oracle for padded minibatches.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check onnx==1.23.2 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import contextlib
import io
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
T, B, I, H = 5, 2, 3, 4
rng = np.random.default_rng(0)
draw = lambda *shape: rng.normal(size=shape).astype("float32")


def last_states(kind, gates, x):
    """Y_h [B,H] without lengths, and with the length of the second sequence two steps shorter."""
    stored = {"W": draw(1, gates * H, I), "R": draw(1, gates * H, H), "B": draw(1, 2 * gates * H)}
    weights = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    results = []
    for lengths in (None, np.array([T, T - 2], "int32")):
        names, feeds = ["X", *stored], {"X": x}
        inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [T, B, I])]
        if lengths is not None:
            names, feeds = [*names, "lengths"], {"X": x, "lengths": lengths}
            inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, [B]))
        node = helper.make_node(kind, names, ["", "Y_h"], hidden_size=H)
        output = helper.make_tensor_value_info("Y_h", TensorProto.FLOAT, [1, B, H])
        graph = helper.make_graph([node], "g", inputs, [output], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        onnx.checker.check_model(model)
        results.append(ReferenceEvaluator(model).run(None, feeds)[0][0])
    return results


x = draw(T, B, I)
ignored = {kind: np.array_equal(*last_states(kind, gates, x)) for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))}
with contextlib.redirect_stderr(io.StringIO()):
    from onnx.backend.test.case.node import collect_testcases

    cases = collect_testcases(None)
recurrent = {case.name: case for case in cases if case.model.graph.node[0].op_type in ignored}
named = [name for name in recurrent if "seq_length" in name]
passed = {}
for name, case in recurrent.items():
    inputs = dict(zip((i.name for i in case.model.graph.input), case.data_sets[0][0], strict=True))
    wanted = [*case.model.graph.node[0].input, "", ""][4]
    if wanted:
        passed[name] = sorted(set(inputs[wanted].tolist())), len(inputs["X"])
print(f"lengths ignored: {ignored}; {len(recurrent)} node tests, named after lengths {named}; (lengths, steps) {passed}")
whole = all(lengths == [steps] for lengths, steps in passed.values())
sys.exit(0 if all(ignored.values()) and len(named) == 2 and not set(named) & set(passed) and whole else 1)
PROGRAM
