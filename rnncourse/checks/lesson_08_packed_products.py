"""Checks of lesson 08: a tile for the registers, its instructions, an order of calls.

`emit_tile` calls the instructions of a core that lies with the judge (rnncourse/lab/counting_core.py).
`tiled_product` calls a kernel that lies with the judge.  No product is computed: the trace of the calls says
which sums are complete, and a model of two caches counts what each level loads for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nbjudge.comparing.differences import whole_numbers
from nbjudge.comparing.judging import add_to_case, begin_case, keep_costs, refuse
from nbjudge.exercise import Code, Proxy, Wrong
from rnncourse.cache_model import Cache, missed
from rnncourse.checks.answers import answers, call
from rnncourse.checks.tables import rows_of
from rnncourse.lab.counting_core import CountingCore

ANSWERS = answers("08_packed_products")
ITEM = 4
LINE = 8  # bytes of a number, numbers of a cache line
MARGIN = 1.3  # times the loads of the course's own order
SAME = 0.02  # relative difference of counts that one known mistake gives in two ways of writing
COSTS = (
    "number loaded into registers", "line loaded into the first cache", "line loaded into the second cache",
)  # fmt: skip


class Loads(NamedTuple):
    """What each level loads: numbers into registers, lines into both caches."""

    registers: int
    first: int
    second: int


class Product(NamedTuple):
    """Sizes of a product and of the caches: rows B, terms K, panels; a call's rows; near, far in numbers."""

    B: int
    K: int
    panels: int
    rows: int
    columns: int
    near: int
    far: int


CORE = """
class Core:
    registers = {registers}

    def zero(self, register):
        emit("zero", register)

    def load(self, register, k, v):
        emit("load", register, k, v)

    def spread(self, register, r, k):
        emit("spread", register, r, k)

    def multiply_add(self, total, x, y):
        emit("multiply_add", total, x, y)

    def store(self, register, r, v):
        emit("store", register, r, v)


core = Core()
"""


# flat, high and single tiles, all sizes different
@ANSWERS.exercise("""
    rows  vectors  terms
       2        3      4
       1        1      1
       3        1      2
       5        2      3
     6:8      3:6   7:10
""")
def check_emit_tile(answer, submission, rng, rows, vectors, terms):
    registers = rows * vectors + vectors + 1
    first = answer.number("first", 0)
    machine = CountingCore(rows, vectors, terms, registers, first)

    def emit(name, *numbers):
        instruction = getattr(machine, name)
        return instruction(*numbers)

    source = CORE.format(registers=registers)
    core = Proxy(source, "core", {"emit": emit})
    add_to_case(f"{registers} registers")
    submission(core, rows, vectors, terms)
    keep_costs({"instruction": len(machine.listing), "load": machine.loads})
    counts = machine.loads, machine.multiplies, machine.stores
    refuse(_incomplete(machine), result=counts)


def _incomplete(machine: CountingCore) -> Wrong | None:
    """A result that was never stored, or loads beyond one for each vector and each state."""
    rows = machine.rows
    vectors = machine.vectors
    terms = machine.terms
    if machine.missing:
        row, vector = machine.missing
        return Wrong(f"The result of row {row}, vector {vector} is never stored.")
    fewest = terms * (rows + vectors)
    if machine.loads > fewest:
        return Wrong(
            f"The results are right. They take {machine.loads} loads; "
            f"{terms} · ({rows} + {vectors}) = {fewest} are enough.",
            None,
            "What is loaded for a term serves the whole tile: a vector all rows, a state all vectors.",
        )
    return None


CORES = """
     B  registers  latency  multiplies  loads
    12         16        4           2      2
    64         32        4           2      2
     1         32        4           2      2
    16         32        4           2      2
    13         12        9           2      2
    17         16        8           2      2
    18         12        4           2      1
    13         16        5           1      3
     3         16        4           2      2  # fewer rows than the best tile of a large minibatch has
     7         20        5           1      1
     2         16        8           2      2  # tiles wait for their own latency each, not once together
"""


def draw_cores(rng: np.random.Generator) -> list[tuple]:
    """Each limit of a tile decides in one of CORES.

    Rates are powers of 2, and tiles are equal in the first cases only: else rounding would choose one.
    """
    drawn = None
    while drawn is None or _is_tied(*drawn):
        sizes = rng.integers((30, 17, 3), (300, 80, 10)).tolist()
        rates = (2 ** rng.integers(3, size=2)).tolist()
        drawn = (*sizes, *rates)
    more = ANSWERS["choose_tile"].number("state_registers", 1) - 1  # so that the same tiles fit
    cores = [(B, registers + more, *core) for B, registers, *core in rows_of(CORES)]
    return [*cores, drawn]


@ANSWERS.exercise(draw_cores)
def check_choose_tile(answer, submission, rng, *case):
    got = submission(*case)
    add_to_case(f"the answer is {got!r:.60}")
    refuse(_poor_tile(got, *case), result=got)


def _poor_tile(got: object, B: int, registers: int, *core: int) -> str | None:
    """The first way in which a tile is not the best one; beside it, as a remark, exchanged numbers."""
    numbers = whole_numbers(got) or ()
    if len(numbers) != 2:
        return "The answer must be a pair of whole numbers, (rows, vectors)."
    rows, vectors = numbers
    best_tile = ANSWERS["choose_tile"].call(B, registers, *core)
    fault = _fault(rows, vectors, best_tile, B, registers, *core)
    if fault and (vectors, rows) == tuple(best_tile):
        fault += f" Rows stand first, then vectors: the best tile has {vectors} rows of {rows} vectors."
    return fault


def _fault(rows: int, vectors: int, best_tile: tuple, B: int, registers: int, *core: int) -> str | None:
    if not 1 <= rows <= B or vectors < 1:
        return f"A tile has 1 to {B} rows here, and at least 1 vector."
    for_states = ANSWERS["choose_tile"].number("state_registers", 1)
    needed = rows * vectors + vectors + for_states
    if needed > registers:
        sums = f"{rows} × {vectors} for sums, {vectors} for weights and {for_states} for states"
        return f"The tile needs {needed} registers: {sums}; the core has {registers}."
    cycles, loads = _cost((rows, vectors), B, *core)
    fewest_cycles, fewest_loads = min(_costs(B, registers, *core))
    tiles = list(_tiles((rows, vectors), B, *core))
    share = f"a term; divided by v = {vectors} that is"
    best_rows, best_vectors = best_tile
    possible = f"is possible, with {best_rows} × {best_vectors}"
    if cycles > fewest_cycles:
        parts = " + ".join(f"{count} × {tile_cycles:.4g}" for count, tile_cycles, _ in tiles)
        return f"Its tiles take {parts} cycles {share} {cycles:.4g}, and {fewest_cycles:.4g} {possible}."
    if loads > fewest_loads:
        parts = " + ".join(f"{count} × {tile_loads}" for count, _, tile_loads in tiles)
        sentence = f"Its tiles take {parts} loads {share} {loads:.4g}, and {fewest_loads:.4g} {possible}."
        return f"The cycles are the fewest. {sentence}"
    return None


def _is_tied(B: int, registers: int, *core: int) -> bool:
    """Whether two tiles need the fewest cycles."""
    cycles = sorted(cost[0] for cost in _costs(B, registers, *core))
    return cycles[0] == cycles[1]


def _costs(B: int, registers: int, *core: int) -> list[tuple[float, float]]:
    """(cycles, loads) of each tile that fits into the registers."""
    room = registers - ANSWERS["choose_tile"].number("state_registers", 1)
    costs = []
    for rows in range(1, B + 1):
        most_vectors = room // (rows + 1)
        costs += [_cost((rows, vectors), B, *core) for vectors in range(1, most_vectors + 1)]
    return costs


def _cost(tile: tuple[int, int], B: int, latency: int, multiplies: int, loads: int) -> tuple[float, float]:
    """(cycles, loads) of B rows for each term and vector of weights."""
    _, vectors = tile
    all_cycles = all_loads = 0
    for count, tile_cycles, tile_loads in _tiles(tile, B, latency, multiplies, loads):
        all_cycles += count * tile_cycles
        all_loads += count * tile_loads
    return round(all_cycles / vectors, 6), round(all_loads / vectors, 6)


def _tiles(tile: tuple[int, int], B: int, latency: int, multiplies: int, loads: int) -> Iterator[tuple]:
    """(tiles, cycles, loads) of those of full height, then of the one for the rows left over."""
    rows, vectors = tile
    whole, rest = divmod(B, rows)
    for height, count in ((rows, whole), (rest, 1)):
        if height:
            operands = height + vectors
            cycles = max(height * vectors / multiplies, operands / loads, latency)
            yield count, cycles, operands


KERNEL = """
done = np.zeros(({B}, {panels}, {K}), bool)

def multiply(row, rows, panel, term, terms):
    numbers = row, rows, panel, term, terms
    if not all(isinstance(n, (int, np.integer)) for n in numbers):
        raise Wrong("multiply takes five whole numbers: row, rows, panel, term, terms.")
    call = "multiply({{}}, {{}}, {{}}, {{}}, {{}})".format(*numbers)
    for first, count, end, noun in (
        (row, rows, {B}, "rows"), (panel, 1, {panels}, "panels"), (term, terms, {K}, "terms")
    ):
        if first < 0 or count < 1 or first + count > end:
            raise Wrong(f"{{call}} leaves the product: there are {{end}} {{noun}}, from 0 on.")
    if rows > {rows}:
        raise Wrong(f"{{call}} has {{rows}} rows; a tile has at most {rows}.")
    piece = done[row : row + rows, panel, term : term + terms]
    if piece.any():
        n, k = map(int, np.argwhere(piece)[0])
        raise Wrong(
            f"{{call}} adds term {{term + k}} of panel {{panel}} to row {{row + n}} a second time.",
            None,
            "Each row meets each term of each panel once.",
        )
    piece[...] = True
    trace.append(tuple(map(int, numbers)))

multiply.rows, multiply.columns = {rows}, {columns}
"""


# Products that fit into the first cache, then those that do not; the last has more weights than both. There
# some rows are left over; with fewer panels, fetching the weights for each tile costs less than MARGIN.
@ANSWERS.exercise("""
        B        K  panels  rows  columns  near   far
        3        5       2     2        8   512  6144
        1        1       1     4        8   512  6144
       12       80       3     4        8   384  6144
       16      128       2     8        8  1024  6144  # pieces of a few terms load the sums too often
    21:24  100:132   12:15     4        8   512  6144
""")
def check_tiled_product(answer, submission, rng, *sizes):
    product = Product(*sizes)
    named = product._asdict()
    source = KERNEL.format(**named)
    kernel = Code(source, "multiply", [])
    arguments = product.B, product.K, product.panels, product.near
    case = ", ".join(f"{name}={named[name]}" for name in ("B", "K", "panels", "rows", "near"))
    begin_case(case)
    submission(kernel, *arguments)
    done = _done(kernel.trace, product)
    if refuse(_unfinished(done), result=done):
        own = replace(kernel, trace=[])
        call(answer.function, (own, *arguments))
        loads = count_loads(kernel.trace, product)
        fewest = count_loads(own.trace, product)
        keep_costs(dict(zip(COSTS, loads, strict=True)))
        counts = tuple(map(float, loads))
        refuse(_excess(loads, fewest), result=counts, detail=loads, tolerance=SAME)


def _done(calls: Sequence[tuple], product: Product) -> np.ndarray:
    """Which terms the calls have added [panels,K,B], bool."""
    done = np.zeros((product.panels, product.K, product.B), bool)
    for row, rows, panel, term, terms in calls:
        done[panel, term : term + terms, row : row + rows] = True
    return done


def _unfinished(done: np.ndarray) -> str | None:
    """The first sum that lacks a term, as a sentence."""
    if done.all():
        return None
    panel, term, row = map(int, np.argwhere(~done)[0])
    return f"Row {row} never meets term {term} of panel {panel}: its sums lack this product."


def _excess(loads: Loads, fewest: Loads) -> Wrong | None:
    """Loads of one level beyond the margin."""
    advice = (
        "A call of several rows uses each weight for all of them, and many terms use each sum again.",
        "Between two uses of a piece of a panel, only what fits into the first cache may be loaded.",
        "The weights do not fit into the second cache: each piece of a panel should come once, for all rows.",
    )
    for cost, own, least, step in zip(COSTS, loads, fewest, advice, strict=True):
        allowed = MARGIN * least
        if own > allowed:
            costs = cost.replace(" ", "s ", 1)  # in the plural
            message = (
                f"The product is complete, with {own} {costs}; the course's own order "
                f"has {least}, and {allowed:.0f} are allowed."
            )
            return Wrong(message, None, step)
    return None


def count_loads(calls: Sequence[tuple], product: Product) -> Loads:
    """Loads of a trace of calls (row, rows, panel, term, terms), each cache empty at the beginning."""
    columns = product.columns
    near = Cache(product.near // LINE, line=ITEM * LINE)
    far = Cache(product.far // LINE, line=ITEM * LINE)
    registers = 0
    for _, rows, _, _, terms in calls:
        registers += rows * columns + terms * (rows + columns)
    trace = np.concatenate([_addresses(product, *numbers) for numbers in calls])
    fetched = trace[missed(trace, near)]
    second = missed(fetched, far)
    return Loads(registers, len(fetched), int(second.sum()))


def _addresses(product: Product, row: int, rows: int, panel: int, term: int, terms: int) -> np.ndarray:
    """Byte addresses of a call in the order of time: sums, weights and states of each term, sums again."""
    B, K, panels, _, columns, *_ = product
    heights = row + np.arange(rows)
    ks = term + np.arange(terms)[:, np.newaxis]
    places = np.arange(0, columns, LINE)  # a number of each line is enough
    first_weight = B * K  # the states lie before the weights, the weights before the sums
    first_sum = first_weight + panels * K * columns
    tiles = heights[:, np.newaxis] * panels + panel
    sums = (first_sum + tiles * columns + places).ravel()
    weights = first_weight + (panel * K + ks) * columns + places
    states = heights * K + ks
    terms_in_order = np.concatenate([weights, states], axis=1).ravel()
    return ITEM * np.concatenate([sums, terms_in_order, sums])
