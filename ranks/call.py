"""A function on real ranks: `call_on_ranks` runs a learner's function beside the others of its kind.

The function travels as source text, arrays as npz files without pickles; it is called as
function(comm, **arrays) on every rank, and what it returns comes back from every rank.
"""

import inspect
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ranks.faults import COMPUTING, Pen
from ranks.launch import SECONDS, RankLaunch, folder_for
from ranks.rank import PROGRAM

Arrays = Mapping[str, np.ndarray]
RESULT = "result"  # the name of an array that is returned alone


def call_on_ranks(
    function: Callable | str,
    arguments: Sequence[Arrays],
    *,
    name: str | None = None,
    seconds: float = SECONDS,
) -> list[Any]:
    """What function(comm, **arguments[rank]) returns on each rank: an array, or a dict of arrays.

    function: a function that needs no names but its own and np, or source text that defines `name`.
    arguments: arrays of any shapes, for each rank.  Raises RankFailure if a rank fails or if they take longer
    than so many seconds: a deadlock looks so.
    """
    source = function if isinstance(function, str) else textwrap.dedent(inspect.getsource(function))
    text = {"source": source, "name": name or function.__name__}
    with folder_for(len(arguments)) as folder:
        (folder / PROGRAM).write_text(f"{__name__}:call_here", encoding="utf-8")
        (folder / "call.json").write_text(json.dumps(text), encoding="utf-8")
        for rank, arrays in enumerate(arguments):
            np.savez(folder / f"inputs{rank}.npz", **arrays)
        RankLaunch(folder, len(arguments), limit=seconds).wait()
        return [_load(folder / f"outputs{rank}.npz") for rank in range(len(arguments))]


def call_here(folder: Path, comm: Any, pen: Pen) -> None:
    """Run this rank's part of `call_on_ranks`."""
    text = json.loads((folder / "call.json").read_text(encoding="utf-8"))
    rank = comm.Get_rank()
    with np.load(folder / f"inputs{rank}.npz", allow_pickle=False) as archive:
        arrays = dict(archive)
    names: dict[str, Any] = {"np": np}
    exec(compile(text["source"], f"<{text['name']}>", "exec"), names)
    pen.write(COMPUTING)
    result = names[text["name"]](comm, **arrays)
    if not isinstance(result, Mapping):
        result = {} if result is None else {RESULT: np.asarray(result)}
    np.savez(folder / f"outputs{rank}.npz", **result)
    comm.Barrier()  # no rank ends while another may still send to it


def _load(path: Path) -> Any:
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    return arrays[RESULT] if arrays.keys() == {RESULT} else arrays
