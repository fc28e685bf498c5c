"""docs/frameworks.md from what the comparisons gave."""

from importlib.metadata import version

from rnnlab.exchange import LAYOUTS

HEAD = """# Recurrent layers of other frameworks

<!-- written by `make frameworks`; do not edit -->

A `Network` reads and writes the weights of these frameworks: `Network.from_torch(module_or_state_dict)` and
`network.to_torch()`, and the same for keras, flax, equinox, haiku, mlx and onnx. No framework is imported, arrays are
copied, and sequences are time-major `[T,B,I]` whatever the framework's own order. The tables are derived from
`rnnlab/exchange.py` and from runs on {machine}.

## What was compared

Random weights and biases, T, B, I, H of {sizes}; `y`, `dx` and every parameter's gradient against the reference in
float64. Reading and writing back changes no bit.

| framework | version | layer | cell | cases | largest error of y | of a gradient |
|---|---|---|---|---|---|---|
{compared}
{nodes}
{trained}
## How each stores a layer

The update gate keeps the state in h' = (1 − z)·n + z·h; where it takes the candidate, h' = z·n + (1 − z)·h, its
weights and bias change their sign on the way. "Reset" is where a GRU's reset gate acts: before or after the product.

| framework | cell | gates in order | weights | biases | reset | update gate keeps | added to the forget gate |
|---|---|---|---|---|---|---|---|
{properties}

So two layers called GRU can be two functions: with the same weights, a GRU that resets before its product and one that
resets after it give other numbers, and no rearrangement of weights makes them equal. `Network(reset=...)` says which one it is;
lesson 04 shows it on numbers of your own.

![A reset gate before the product scales columns of the weights, one after it scales rows: the same weights give two functions. The gate of unit 1 is closed in both panels. On the left no candidate reads the state of unit 1; on the right the candidate of unit 1 reads no state.](../rnncourse/drawings/two_resets.svg)

flax.nnx's GRUCell has no bias inside the reset gate: a Network with one is refused when it is written to nnx.

## What a Network does not express

| feature | answer |
|---|---|
| two directions | one Network for each: `from_torch(module, reverse=True)`, `from_onnx(node, arrays, reverse=True)`, Keras's `forward_layer`; run it on `x[::-1]` and turn `y`. A stack of such layers is read one layer at a time (`layer=1`), because a layer reads both directions below it |
| sequence lengths, masks | refused as an input of a node. No step reads a later one, so padding after an end changes nothing before it: take `y[lengths - 1, range(B)]`, and let `dy` be 0 after each end |
| projections, peepholes, clipped gates, coupled gates, layer normalisation, residual cells | refused by name |
| weights that other arrays determine: weight normalisation, parametrisations, pruning, low-rank additions | refused by name: make them plain weights first, for example by `torch.nn.utils.parametrize.remove_parametrizations` |
| some of a layer's biases | refused: all or none, and without any they are 0 |
| other nonlinearities | refused, also in a GRU's or LSTM's candidate; ReLU is read in a cell without gates |
| whole models | refused: pass a list of their recurrent layers, bottom layer first, or the path of one by `prefix` |
| whole numbers, floats of 8 bits or fewer | refused: quantised weights are nothing without their scales |
| dropout | only in training mode does it act: `module.eval()` first |
| PyTorch's `batch_first=True` | the weights are the same: pass `module.state_dict()`, and `x` as `[T,B,I]` |
"""


def page(results: dict, nodes: tuple | None, trained: dict | None, machine: str) -> str:
    """The page's text; a part that did not run is left out."""
    rows = []
    for name, (installed, cases, outcome) in results.items():
        for kind in dict.fromkeys(case.kind for case in cases):
            own = [(case, result) for case, result in zip(cases, outcome, strict=True) if case.kind == kind]
            cells = ", ".join(dict.fromkeys(case.cell for case, _ in own))
            y, gradient = (max(result[k] for _, result in own) for k in (0, 1))
            rows.append(
                f"| {name} | {installed} | {kind} | {cells} | {len(own)} | {y:.1e} | {gradient:.1e} |"
            )
    sizes = " · ".join(str(size) for size in dict.fromkeys(
        (*case.x.shape, case.y.shape[-1]) for _, cases, _ in results.values() for case in cases))  # fmt: skip
    return HEAD.format(
        machine=machine,
        sizes=sizes,
        compared="\n".join(rows),
        nodes=_nodes(*nodes) if nodes else "",
        trained=_trained(trained) if trained else "",
        properties="\n".join(
            _properties(layout)
            for layout in LAYOUTS
            if layout.cell != "rnn_relu" or layout.framework == "haiku"
        ),
    )


def _nodes(differences, refused) -> str:
    reasons = "".join(f"\n- `{name}`: {reason}" for name, reason in refused.items())
    return (
        f"\nOf the {len(differences) + len(refused)} node tests of onnx {version('onnx')} for RNN, GRU and LSTM, "
        f"{len(differences)} are expressed by networks, one for each direction; the largest difference is "
        f"{max(differences.values()):.1e}. Refused:\n{reasons}\n"
    )


def _trained(errors) -> str:
    rows = "".join(f"\n| {name} | {error:.1e} |" for name, error in errors.items())
    return f"| trained weights from a package | relative error of y beside PyTorch {version('torch')} |\n|---|---|{rows}\n"


def _properties(layout) -> str:
    gated = layout.cell == "gru"
    own = [gates for _, names, gates in layout.arrays if "weight_ih" in names]
    weights = "[G·H, I]" if layout.is_rows else "[I, G·H]"
    if len(own) > 1:
        weights = "[I, H] for each gate"
    if layout.arrays[0][1] == ("weight_ih", "weight_hh"):
        weights = "[I + H, G·H] in one"
    kinds = [(path, names) for path, names, _ in layout.arrays if "bias" in names[0]]
    biases = ", ".join(f"`{path}`" + (" (two)" if len(names) == 2 else "") for path, names in kinds)
    return (
        f"| {layout.framework} | {layout.cell} | {' '.join(layout.gates)} | {weights} | {biases} | "
        f"{layout.reset if gated else '–'} | {('candidate' if layout.swapped else 'state') if gated else '–'} | "
        f"{'1' if layout.forget else '–'} |"
    )
