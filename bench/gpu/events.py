"""Time on the GPU's own clock, between two CUDA events."""

from collections.abc import Callable, Iterable


def seconds(runs: Iterable[Callable[[], None]], repeats: int, stream: object | None = None) -> float:
    """The mean time of all runs, one after another, that often; in CuPy's current stream, or in this one."""
    import cupy

    runs, start, end = list(runs), cupy.cuda.Event(), cupy.cuda.Event()
    arguments = (stream,) if stream else ()
    cupy.cuda.Device().synchronize()
    start.record(*arguments)
    for _ in range(repeats):
        for run in runs:
            run()
    end.record(*arguments)
    end.synchronize()
    return 1e-3 * cupy.cuda.get_elapsed_time(start, end) / repeats
