"""Where a thread stands: the words a kernel asks it with."""

from rnnlab.simulator.threads import WARP, Dim3, machine

warpsize = WARP


class _Index:
    """An index of the thread that runs, or a size of its launch; looked up whenever x, y or z is asked."""

    def __init__(self, find):
        self._find = find

    x = property(lambda self: self._find().x)
    y = property(lambda self: self._find().y)
    z = property(lambda self: self._find().z)

    def __iter__(self):
        return iter(self._find())

    def __repr__(self) -> str:
        return repr(self._find())


threadIdx = _Index(lambda: machine.now.index)
blockIdx = _Index(lambda: machine.now.block.index)
blockDim = _Index(lambda: machine.launch.blockDim)
gridDim = _Index(lambda: machine.launch.gridDim)


def grid(dimensions: int) -> int | tuple[int, ...]:
    """The thread's index in the whole grid; a tuple for 2 or 3 dimensions."""
    thread = machine.now
    if dimensions == 1:
        return thread.x
    return _first(dimensions, "grid", _global(thread.block.index, machine.launch.blockDim, thread.index))


def gridsize(dimensions: int) -> int | tuple[int, ...]:
    """Threads of the whole grid along its first dimensions."""
    grid, block = machine.launch.gridDim, machine.launch.blockDim
    sizes = (grid.x * block.x, grid.y * block.y, grid.z * block.z)
    return sizes[0] if dimensions == 1 else _first(dimensions, "gridsize", sizes)


def _global(block: Dim3, size: Dim3, thread: Dim3) -> tuple[int, int, int]:
    return block.x * size.x + thread.x, block.y * size.y + thread.y, block.z * size.z + thread.z


def _first(dimensions: int, name: str, values: tuple[int, int, int]) -> tuple[int, ...]:
    if dimensions not in (1, 2, 3):
        raise ValueError(f"{name}({dimensions}): a grid has 1, 2 or 3 dimensions")
    return values[:dimensions]
