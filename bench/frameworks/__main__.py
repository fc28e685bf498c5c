"""Compare networks with the frameworks whose weights they read, and write docs/frameworks.md from that.

python -m bench.frameworks [--fixtures]    in the environment that `make frameworks` sets up

Each framework runs a layer with random weights; the network that reads them must give the same outputs and
gradients, and writing it back must change no bit.  A framework that is not installed is skipped with a word.
--fixtures stores the small cases in tests/fixtures/frameworks.npz, which the course's own tests read.
"""

import functools
import json
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from bench.frameworks import checkpoints, distributions, exchange_trial, onnx_nodes, page
from bench.frameworks.distributions import Case

ROOT = Path(__file__).parents[2]

say = functools.partial(print, flush=True)


def main() -> int:
    """Run the cases of every distribution; 0 if all that ran agrees."""
    results, fixtures, wrong = {}, {}, 0
    for name, cases_of in distributions.DISTRIBUTIONS.items():
        distribution = name.split()[0]
        try:
            cases = list(cases_of())
            installed = version(distribution)
        except (ImportError, PackageNotFoundError) as reason:
            say(f"{name}: skipped, {reason}")
            continue
        outcome = [trial(case) for case in cases]
        failed = sum(not good for *_, good in outcome)
        wrong += failed
        results[name] = (installed, cases, outcome)
        say(f"{name} {installed}: {len(cases) - failed} passed, {failed} failed")
        fixtures |= {key: a for case in cases if len(case.x) == 6 for key, a in stored(case).items()}
    if "--fixtures" in sys.argv:
        versions = {name: result[0] for name, result in results.items()}
        path = ROOT / "tests/fixtures/frameworks.npz"
        np.savez_compressed(path, versions=json.dumps(versions), **fixtures)
    nodes = optional("onnx", onnx_nodes.run)
    if nodes:
        differences, refused = nodes
        failed = sum(difference > 1e-5 for difference in differences.values())
        wrong += failed
        say(f"onnx {version('onnx')}: {len(differences) - failed} passed, {failed} failed, refused {refused}")
    trained = optional("checkpoints", checkpoints.run)
    if trained:
        failed = sum(error > 2e-5 for error in trained.values())
        wrong += failed
        say(f"checkpoints: {len(trained) - failed} passed, {failed} failed")
    text = page.page(results, nodes, trained, f"Python {platform.python_version()}, NumPy {np.__version__}")
    (ROOT / "docs/frameworks.md").write_text(text, encoding="utf-8")
    return int(wrong > 0)


def trial(case: Case) -> tuple[float, float, bool, bool]:
    """Error of y, worst error of a gradient, does the way back change a bit, and whether all is well."""
    network = exchange_trial.network_of(case)
    output, gradient = exchange_trial.errors(case, network)
    changed = exchange_trial.way_back_changes(case, network)
    within = output <= exchange_trial.OUTPUT * len(case.x) ** 0.5 and gradient <= exchange_trial.GRADIENT
    return output, gradient, changed, within and not changed


def stored(case: Case) -> dict[str, np.ndarray]:
    """The case's arrays by a key that says all of it."""
    key = f"{case.framework}|{case.kind}|{case.cell}|{case.reset}"
    parts = {"x": case.x, "dy": case.dy, "y": case.y, "dx": case.dx}
    parts |= {f"arrays/{path}": a for path, a in exchange_trial.flat(case.arrays).items()}
    parts |= {f"gradients/{path}": a for path, a in exchange_trial.flat(case.gradients).items()}
    return {f"{key}/{name}": np.asarray(a) for name, a in parts.items()}


def optional(name: str, run: Callable):
    """The result of a part, or None with a word where a package is missing."""
    try:
        return run()
    except (ImportError, OSError) as reason:
        say(f"{name}: skipped, {reason}")
        return None


if __name__ == "__main__":
    sys.exit(main())
