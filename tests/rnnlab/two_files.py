"""A copy of rnnlab with new cells in two of its files, and what its rungs then compute."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures"
CHANGED = {"cells.py": "new_cells.py", "graphs/cells.py": "new_equations.py"}  # file of rnnlab: what it gets
TABLES = {"cells.py": "CELLS |= NEW_CELLS\n", "graphs/cells.py": "EQUATIONS |= NEW_EQUATIONS\n"}
SIZES = T, B, I, H, L = 4, 3, 2, 5, 2


def copy_with_new_cells(folder):
    """rnnlab and what it imports in a folder, with two files changed and then what is derived from them."""
    ignored = shutil.ignore_patterns("__pycache__", "data")
    for package in ("pocketgpu", "ranks", "rnnlab"):
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    for name, added in CHANGED.items():
        path = folder / "rnnlab" / name
        text = path.read_text(encoding="utf-8") + (FIXTURES / added).read_text(encoding="utf-8")
        path.write_text(text + TABLES[name], encoding="utf-8")
    run_in(folder, "from rnnlab.emit import files; files.write()")


def run_in(folder, program, **variables):
    """What a program prints in a fresh process that imports the copy."""
    places = folder, ROOT, ROOT / "tests", FIXTURES, ROOT / "tests/rnnlab"
    path = os.pathsep.join(map(str, places))
    environment = os.environ | {"PYTHONPATH": path} | variables
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def errors_of(folder, cells, rungs, **variables):
    """{rung: {cell: the largest relative error of what it computes, or why it refuses}} in the copy."""
    program = f"import two_files; two_files.print_errors({cells!r}, {rungs!r})"
    return json.loads(run_in(folder, program, **variables).splitlines()[-1])


def emulated_errors_of(folder, shapes):
    """{shape: how much larger than its tolerance the error is} of CUDA C++ kernels on emulated threads.

    shapes: (cell, dtype, constants of a grid or a cluster).
    """
    program = f"import two_files; two_files.print_emulated_errors({shapes!r})"
    return json.loads(run_in(folder, program).splitlines()[-1])


def print_emulated_errors(shapes):
    import test_persistent_cuda as emulated

    from rnnlab.compare import TOLERANCES
    from rnnlab.kernels.persistence.shapes import ClusterShape, GridShape

    sizes = 3, 8, 64
    errors = {}
    for cell, dtype, constants in shapes:
        shape = (GridShape if len(constants) > 1 else ClusterShape)(cell, sizes[2], dtype, *constants)
        inputs = emulated.problem(cell, dtype, sizes)
        got = emulated.ran(shape, emulated.EmulatedChip(dtype, Path.cwd()), *inputs)
        want = emulated.wanted(*inputs)
        most = TOLERANCES[dtype].forward(sizes[0]), TOLERANCES[dtype].gradient
        errors[str(shape)] = max(
            emulated.worst(*part) / limit for *part, limit in zip(got, want, most, strict=True)
        )
    print(json.dumps(errors))


def spills_of(folder, cells, in_cpp):
    """Bytes that each kernel of these cells spills, compiled for sm_90: in Python, and some in CUDA C++."""
    program = f"import two_files; two_files.print_spills({cells!r}, {in_cpp!r})"
    return json.loads(run_in(folder, program).splitlines()[-1])


def print_spills(cells, in_cpp):
    from numba import float32, int32

    from pocketgpu.compiling.report import compile_report
    from pocketgpu.devices import find
    from rnnlab.kernels.persistence import numba_layer, shapes
    from rnnlab.kernels.persistence.tiles import tiles_for
    from rnnlab.network import Network

    spills = {}
    for cell in cells:
        network = Network.create(cell, 1, 256)
        kernels = numba_layer.kernels_of(network, tiles_for(network.gates, 256, 132, 9))
        for kernel, arrays in zip(kernels, (4, 9), strict=True):
            flat = [float32[::1]] * arrays
            types = (float32[:, ::1], *flat, int32[::1], int32[::1], int32, int32)
            (compiled,) = compile_report(kernel, types, arch="sm_90")
            spills[f"{cell} {arrays}"] = compiled.spill_stores
    for cell in in_cpp:
        sizes = cell, 256, "bfloat16"
        for shape in (shapes.grid_shape(*sizes, 8, find("H200")), shapes.cluster_shape(*sizes, find("H200"))):
            for compiled in compile_report(shape.source, arch="sm_90", options=shape.options):
                spills[f"{shape.name} {cell} {compiled.kernel}"] = compiled.spill_stores
    print(json.dumps(spills))


def print_errors(cells, rungs):
    import rnnlab
    from rnnlab.ladder import RUNGS

    assert Path(rnnlab.__file__).parents[1] == Path.cwd()
    chosen = [rung for rung in RUNGS if rung.name in rungs]
    errors = {rung.name: {cell: _error(rung, cell) for cell in cells} for rung in chosen}
    if "inference" in rungs:
        errors["inference"] = {cell: _error_of_steps(cell) for cell in cells}
    print(json.dumps(errors))


def print_narrow_steps(cell, weights):
    from rnnlab.ladder.inference import Inference
    from rnnlab.network import Network

    try:
        print(Inference(Network.create(cell, I, H), weights).nbytes)
    except ValueError as error:
        print(error)


def _error_of_steps(cell):
    """The error of a network's compiled steps, for units so few and so many that another product is taken."""
    import numpy as np

    from rnnlab import reference
    from rnnlab.compare import relative_error
    from rnnlab.ladder.inference import Inference
    from rnnlab.network import Network

    errors = []
    for units in (H, 600):
        network = Network.create(cell, I, units, 2, dtype="float64", seed=3)
        x = np.random.default_rng(7).normal(size=(2, B, I))
        want, final, _ = reference.forward(network, x)
        stepper = Inference(network)
        state = network.zero_state(B)
        for x_t, wanted in zip(x, want, strict=True):
            y, state = stepper.step(x_t, state)
            errors.append(relative_error(y, wanted))
        errors += map(relative_error, state, final)
    return max(errors)


def _error(rung, cell):
    import numpy as np

    from rnnlab import reference
    from rnnlab.compare import relative_error
    from rnnlab.network import Network

    network = Network.create(cell, I, H, L, dtype="float64", gain=2.0, seed=3)
    rng = np.random.default_rng(7)
    x = rng.normal(size=(T, B, I))
    dy = rng.normal(size=(T, B, H))
    state, dstate = (tuple(rng.normal(size=(L, B, H)) for _ in network.properties.states) for _ in range(2))
    if reason := rung.refuses(network, T, B):
        return reason
    y, final, saved = rung.module.forward(network, x, state)
    dx, first, gradients = rung.module.backward(network, saved, dy, dstate)
    want_y, want_final, stored = reference.forward(network, x, state)
    want_dx, want_first, wanted = reference.backward(network, stored, dy, dstate)
    pairs = [(y, want_y), (dx, want_dx), *zip((*final, *first), (*want_final, *want_first), strict=True)]
    pairs += [(gradients[name], wanted[name]) for name in wanted]
    return max(relative_error(*pair) for pair in pairs)
