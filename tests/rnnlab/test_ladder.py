"""Every rung computes the reference's numbers, for every cell, over shapes that bite."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from both_ways import both_ways, by_reference, errors, problem
from values_in import holds

from bench.gpu import tensor_layers
from bench.workload import rounded
from nbjudge.authoring.course import ROOT
from pocketgpu import cuda
from rnncourse.records import gpu_report
from rnncourse.views import step_view
from rnnlab import reference
from rnnlab.cells import SavedStep, find_cell, modes
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.ladder import RUNGS, Rung, find
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.ladder.properties import LedgerSizes as Sizes
from rnnlab.network import Network
from rnnlab.scaling.settings import RunSettings

CELLS = [(cell, "after") for cell in modes()] + [("gru", "before")]
CPU_RUNGS = [
    rung
    for rung in RUNGS
    if rung.properties.needs in ("cpu", "cuda")  # without a GPU, NumPy runs their plans
    if not all(rung.refuses(Network.create(cell, 2, 2, reset=reset), 1, 1) for cell, reset in CELLS)
]  # a rung that refuses everything needs what is not installed here
SHAPES = [
    (1, 1, 1, 1, 1),
    (1, 3, 4, 5, 2),
    (7, 3, 2, 5, 1),
    (5, 1, 6, 3, 3),
    (12, 5, 3, 8, 2),
]  # T, B, I, H, L


@pytest.fixture(autouse=True)
def unwatched():
    """Simulated kernels run without checks here; test_persistent.py watches them."""
    with cuda.settings(checks=False):
        yield


def problem_of(cell, reset, shape, dtype, precision=""):
    """A problem of the suite, in numbers of the dtype or the precision."""
    to_numbers = partial(rounded, dtype=precision) if precision else np.asarray
    return problem(cell, *shape, dtype=dtype, reset=reset, rounded=to_numbers)


RUNS = [
    (rung, cell, reset)
    for rung in CPU_RUNGS
    for cell, reset in CELLS
    if not rung.refuses(Network.create(cell, 2, 2, reset=reset), 1, 1)
    # where rounding moves a unit over the kink of ReLU its gradient jumps: see test_packed_bfloat16.py
    if not (rung.properties.precision and cell == "rnn_relu")
]


LONG_TO_COMPILE = (
    "packed_weights",
    "packed_bfloat16",
    "persistent",
    "numba_fused",
    "numba_parallel",
)  # each cell in each dtype


CASES = [  # what is long to compile is compiled in one dtype by the quick leg
    case
    if dtype == "float32" or run[0].name not in LONG_TO_COMPILE
    else pytest.param(*case, marks=pytest.mark.slow)
    for run in RUNS
    for shape in SHAPES
    for dtype in ("float32", "float64")
    if not (run[0].properties.precision and dtype == "float64")
    for case in [(*run, shape, dtype)]
]


@pytest.mark.parametrize(
    ("rung", "cell", "reset", "shape", "dtype"), CASES, ids=lambda value: getattr(value, "name", str(value))
)
def test_rung_agrees_with_the_reference_in_float64(rung, cell, reset, shape, dtype):
    example = problem_of(cell, reset, shape, dtype, rung.properties.precision)
    got, want = both_ways(rung.module, *example), by_reference(*example)
    tolerance = TOLERANCES[rung.properties.precision or dtype]
    assert {array.dtype for part in got for array in part} == {np.dtype(dtype)}
    of_outputs, of_gradients = errors(got, want)
    assert of_outputs <= tolerance.forward(shape[0])
    assert of_gradients <= tolerance.gradient


@pytest.mark.parametrize("rung", CPU_RUNGS, ids=lambda rung: rung.name)
def test_rung_reads_any_memory_layout_and_changes_nothing(rung):
    cell, reset = next(
        (cell, reset) for run, cell, reset in RUNS if run is rung and cell in ("gru", "min_gru")
    )
    precision = rung.properties.precision
    network, x, state, dy, dstate = problem_of(cell, reset, (6, 4, 3, 5, 2), "float32", precision)
    tolerance = TOLERANCES[precision or "float32"]
    scattered = lambda array: np.repeat(array, 2, axis=-1)[..., ::2]
    before = [array.copy() for array in (x, *state, dy, *dstate, *network.parameters.values())]
    y, _, saved = rung.module.forward(network, scattered(x), tuple(map(scattered, state)))
    dx, _, _ = rung.module.backward(network, saved, scattered(dy), tuple(map(scattered, dstate)))
    want_y, _, stored = reference.forward(network, x, state)
    assert relative_error(y, want_y) <= tolerance.forward(len(x))
    assert relative_error(dx, reference.backward(network, stored, dy, dstate)[0]) <= tolerance.gradient
    after = (x, *state, dy, *dstate, *network.parameters.values())
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("rung", CPU_RUNGS, ids=lambda rung: rung.name)
def test_what_is_no_network_and_what_is_no_sequence_is_refused_by_name(rung):
    network = Network.create(rung.cells[0], 2, 3)
    x = np.ones((4, 3, 2), "float32")
    for arguments, message in [
        ((Rung("a_model"), x), "network is a Rung"),
        ((network, x.tolist()), "x is a list"),
        ((network, None), "x is a NoneType"),
        ((network, np.ones((), "float32")), r"x has shape \(\)"),
        ((network, x[0]), r"x has shape \(3, 2\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            rung.module.forward(*arguments)


@pytest.mark.parametrize(
    "module", [reference, *(rung.module for rung in CPU_RUNGS)], ids=lambda m: m.__name__
)
def test_a_gradient_that_numpy_would_broadcast_is_refused(module):
    cell = "min_gru" if module is find("parallel_in_time").module else "lstm"
    network, x, state, dy, dstate = problem_of(cell, "after", (4, 3, 2, 5, 1), "float32")
    _, _, saved = module.forward(network, x, state)
    for bad_dy, bad_dstate, message in [
        (dy[:, :1], dstate, r"dy has shape \(4, 1, 5\), expected \(4, 3, 5\)"),
        (dy.astype("float64"), dstate, "dy has dtype float64, the network computes in float32"),
        (dy, tuple(part[:, :1] for part in dstate), r"dstate h has shape \(1, 1, 5\), expected \(1, 3, 5\)"),
        (
            dy,
            dstate + dstate[:1],
            rf"dstate of cell '{cell}' is a tuple .*, got a tuple of {len(dstate) + 1}",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            module.backward(network, saved, bad_dy, bad_dstate)


@pytest.mark.parametrize(
    "module", [reference, *(rung.module for rung in CPU_RUNGS)], ids=lambda m: m.__name__
)
def test_a_parameter_that_has_taken_anothers_place_must_have_its_shape(module):
    cell, reset = next(case[1:] for case in RUNS if module in (reference, case[0].module))
    network, x, state, dy, dstate = problem_of(cell, reset, (4, 3, 2, 5, 1), "float32")
    _, _, saved = module.forward(network, x, state)
    right = network.parameters["weight_ih_l0"]
    network.parameters["weight_ih_l0"] = right.T.copy()  # as other libraries lay it out: as many numbers
    for call in (
        lambda: module.forward(network, x, state),
        lambda: module.backward(network, saved, dy, dstate),
    ):
        with pytest.raises(ValueError, match="weight_ih_l0 has shape"):
            call()


@pytest.mark.parametrize(("cell", "reset"), CELLS)
def test_the_suite_works_where_units_are_neither_dead_nor_saturated(cell, reset):
    network, x, state, _, _ = problem_of(cell, reset, (12, 5, 3, 8, 2), "float64")
    y, _, _ = reference.forward(network, x, state)
    assert 0.1 < np.abs(y).mean() < (0.9 if find_cell(cell).reads_state else np.inf)


class CountingArray(np.ndarray):
    """An array that counts its matrix products, but for empty ones; what it makes counts too."""

    products = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = lambda value: value.view(np.ndarray) if isinstance(value, CountingArray) else value
        if out is not None:
            options["out"] = tuple(map(plain, out))
        result = getattr(ufunc, method)(*map(plain, inputs), **options)
        CountingArray.products += ufunc is np.matmul and result.size > 0
        return result.view(CountingArray) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function, types, inputs, options):
        result = super().__array_function__(function, types, inputs, options)
        count = lambda value: value.view(CountingArray) if isinstance(value, np.ndarray) else value
        return [count(part) for part in result] if isinstance(result, list | tuple) else count(result)


def products(call):
    CountingArray.products = 0
    result = call()
    return CountingArray.products, result


LEDGERS = [
    (rung, cell)
    for rung in RUNGS
    if rung.properties.ledger and (rung.properties.ledger.unit, rung.properties.package) == ("products", None)
    for cell in rung.cells
    if cell != "rnn_relu"  # the same products as rnn_tanh
    if rung.properties.cells or find_cell(cell).reads_state  # else a step has no recurrent product
]


@pytest.mark.parametrize(("rung", "cell"), LEDGERS, ids=lambda value: getattr(value, "name", value))
def test_the_ledger_counts_the_products_really_done(rung, cell):
    T, L = 5, 2
    reset = "after" if not rung.refuses(Network.create(cell, 2, 2, reset="after"), 1, 1) else "before"
    network, x, state, dy, dstate = problem_of(cell, reset, (T, 3, 4, 6, L), "float64")
    weights = {key: parameter.view(CountingArray) for key, parameter in network.parameters.items()}
    counting, sizes = network.with_parameters(weights), Sizes(T, B=3, H=6, G=network.gates)
    count, (_, _, saved) = products(lambda: rung.module.forward(counting, x.view(CountingArray), state))
    assert count == L * rung.properties.ledger.forward(sizes)
    count, _ = products(lambda: rung.module.backward(counting, saved, dy.view(CountingArray), dstate))
    assert count == L * rung.properties.ledger.backward(sizes)


WHO_COUNTS = {  # unit and package of a ledger -> the test that counts it, for all rungs with such a ledger
    ("products", None): test_the_ledger_counts_the_products_really_done,
    ("products", "numba"): "test_compiled.py: uncompiled",
    ("launches", None): "test_stages.py: operations of the plan",
    ("packings", "numba"): "test_packed.py: reads of the weights, uncompiled",
    ("weights", "numba"): "test_persistent.py: loads of the simulated kernel",
}


@pytest.mark.parametrize(
    "rung", [r for r in RUNGS if r.properties.needs in ("cpu", "cuda")], ids=lambda r: r.name
)
def test_every_rung_that_runs_here_has_a_ledger_that_a_test_counts(rung):
    ledger = rung.properties.ledger
    assert ledger, f"{rung.name} states no ledger in its PROPERTIES"
    assert (ledger.unit, rung.properties.package) in WHO_COUNTS


def numbers_kept(saved):
    """How many numbers hang on to what forward saved, each array counted once, states and inputs left out."""
    arrays = {}

    def walk(value):
        if isinstance(value, np.ndarray):
            base = value if value.base is None else value.base
            arrays[id(base)] = base.size
        elif isinstance(value, SavedStep):
            walk((value.gates, value.auxiliary))
        elif isinstance(value, list | tuple):
            for part in value:
                walk(part)

    walk([stored for _, stored in saved])
    return sum(arrays.values())


@pytest.mark.parametrize(
    ("name", "reset", "per_unit"),
    [
        ("gru_reset_after", "after", 3),  # r, z, n
        ("gru_store_product", "after", 3 + 3),  # r, z, U h; and the input product, alive anyway
        ("gru_batched_recompute", "after", 3),
        ("one_big_gemm", "after", 3 + 1),  # r, z, n; and U h, a copy: a view would keep 2 more alive
    ],
)
def test_a_variant_keeps_as_many_numbers_as_its_docstring_says(name, reset, per_unit):
    T, B, H = 4, 3, 6
    network, x, state, _, _ = problem_of("gru", reset, (T, B, 5, H, 1), "float64")
    _, _, saved = find(name).module.forward(network, x, state)
    assert numbers_kept(saved) == T * B * H * per_unit


@pytest.mark.parametrize(
    "rung", [rung for rung in RUNGS if rung.cells == ("gru",)], ids=lambda rung: rung.name
)
def test_a_variant_says_which_gru_it_is_not(rung):
    refusals = {r: rung.refuses(Network.create("gru", 2, 3, reset=r), 1, 1) for r in ("after", "before")}
    assert sorted(refusals.values(), key=bool)[0] is None
    assert "its product: reset=" in next(filter(None, refusals.values()))
    assert rung.refuses(Network.create("lstm", 2, 3), 1, 1) == f"{rung.name} runs gru, not lstm"


def test_every_rung_states_its_properties_and_stands_once():
    names = [rung.name for rung in RUNGS]
    assert len(set(names)) == len(names)
    for rung in RUNGS:
        assert rung.module.__doc__
        assert rung.properties.idea
        assert list(ROOT.glob(f"notebooks/source/{rung.properties.lesson}.py"))


def test_every_module_of_the_ladder_that_states_properties_is_a_rung():
    modules = [
        path for path in ROOT.glob("rnnlab/ladder/**/*.py") if "\nPROPERTIES = " in path.read_text("utf-8")
    ]
    assert {path.stem for path in modules} == {rung.name for rung in RUNGS}


def test_every_rung_that_a_picture_or_a_setting_names_is_one():
    named = {gpu_report.NAIVE, step_view.GRAPH, step_view.GRID, step_view.CLUSTER, RunSettings.rung}
    assert not (named | {*tensor_layers.NAMES}) - {rung.name for rung in RUNGS}


def test_properties_that_no_reader_would_understand_are_refused():
    with pytest.raises(ValueError, match="'gpu'"):
        RungProperties("an idea", "a_lesson", cells=None, needs="gpu")
    counted = "products, launches, weights or packings"
    with pytest.raises(ValueError, match=f"a ledger counts {counted}, not 'bytes'"):
        Ledger("bytes", lambda n: n.T)


def test_listing_the_rungs_loads_no_package_that_one_of_them_needs():
    code = """
import sys
from rnnlab import ladder
early = {*sys.modules}
packages = {rung.properties.package for rung in ladder.RUNGS} - {None} | {"cupy"}
assert not packages & {*sys.modules}, packages & {*sys.modules}
assert not any(f"rnnlab.ladder.{rung.name}" in early for rung in ladder.RUNGS)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_rung_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"'two_big_gemms'.*one_step"):
        find("two_big_gemms")


def test_a_rung_without_limits_refuses_nothing():
    assert Rung("one_big_gemm").refuses(Network.create("lstm", 3, 4), 5, 2) is None


def test_a_rung_whose_package_is_missing_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("rnnlab.ladder.importlib.util.find_spec", lambda name: None)
    reason = find("numba_fused").refuses(Network.create("lstm", 3, 4), 5, 2)
    assert holds(reason, "pip install", "numba")
