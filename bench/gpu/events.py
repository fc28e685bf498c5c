"""Time on the GPU's own clock, between two CUDA events."""

from collections.abc import Callable, Iterable


def seconds(runs: Iterable[Callable[[], None]], repeats: int, stream: object | None = None) -> float:
    """The mean time of all runs, one after another, that often; in CuPy's current stream, or in this one."""
    import cupy

    runs = list(runs)
    start = cupy.cuda.Event()
    end = cupy.cuda.Event()
    arguments = (stream,) if stream else ()
    cupy.cuda.Device().synchronize()
    start.record(*arguments)
    for _ in range(repeats):
        for run in runs:
            run()
    end.record(*arguments)
    end.synchronize()
    return 1e-3 * cupy.cuda.get_elapsed_time(start, end) / repeats


def seconds_of_prepared(pairs: Iterable[tuple[Callable, Callable]], repeats: int) -> float:
    """The mean time of all runs of (prepare, run), each between events of its own: no preparation counts."""
    import cupy

    pairs = list(pairs)
    timed = []
    cupy.cuda.Device().synchronize()
    for _ in range(repeats):
        for prepare, run in pairs:
            prepare()
            timed.append((start := cupy.cuda.Event(), end := cupy.cuda.Event()))
            start.record()
            run()
            end.record()
    timed[-1][1].synchronize()
    return 1e-3 * sum(cupy.cuda.get_elapsed_time(start, end) for start, end in timed) / repeats
