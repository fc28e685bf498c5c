"""A step's pointwise work as lines of text: which name a value gets, in which order, with which brackets.

The work is the fused pointwise operation of one time step.  A value that one line reads is written in place;
any other gets a name: that of its gate, or one made from the array where it lies.  A Target says how its
language spells a function, and where an array's number is read and written.
"""

import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from keyword import kwlist
from typing import NamedTuple

from rnnlab.cells import CELLS, Cell
from rnnlab.graphs.cells import EQUATIONS
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Operation, Region, Sizes

SIZES = Sizes(T=3, B=2, I=3, H=5, L=1)  # of the pattern; the loop that is emitted serves all sizes
INNER_STEP = (1, 2)  # neither the first nor the last
# names with another meaning in some loop, and words of C++ beside Python's
TAKEN = {*"a at c dc dh gate h half H j one out row rows step unit zero".split(), *kwlist}
TAKEN |= {"auto", "char", "do", "float", "int", "new", "this"}
WIDTH = 110  # columns of a line
SUM, PRODUCT, NAME = 1, 2, 3  # how strongly a text binds


class StepArray(NamedTuple):
    """An array by its role in a step, and the gate among its columns."""

    # gates, recurrent, bias, vectors, saved, h, h_next, dh, dgates, dgates_h, dvectors, and the like of c
    array: str
    gate: int = 0


class Node(NamedTuple):
    """One value: a rule of graphs.rules, or "minus", and the values that it reads."""

    rule: str
    reads: tuple[object, ...]  # keys of values: regions, or tuples that _factor_out makes


@dataclass(frozen=True)
class StepWork:
    """A step's values in running order, those that are loaded, and those that are stored."""

    cell: Cell
    loads: dict[object, StepArray]
    nodes: dict[object, Node]
    stores: dict[StepArray, object]


@dataclass(frozen=True)
class Target:
    """How a language spells a step.  functions: rule -> (text of the operands -> text)."""

    read: Callable[[StepArray], str]
    write: Callable[[StepArray, str], str]
    functions: dict[str, Callable[..., str]] = field(default_factory=dict)
    repeated: dict[str, int] = field(default_factory=dict)  # rule -> the operand that its text has twice
    # rule -> how strongly its operand must bind, and its result binds, if it is not a call of a function
    binds: dict[str, tuple[float, float]] = field(default_factory=dict)
    named: tuple[str, ...] = ()  # arrays whose number has a name already, the array's own
    is_added: Callable[[StepArray], bool] = lambda place: False  # is it part of the gates at the start?
    statement: Callable[[str, str], str] = "{} = {}".format  # of a name and its value


def work_of(cell: str, direction: str) -> StepWork:
    """The pointwise work of a step of CELLS[cell], forward or backward."""
    if reason := why_not(cell):
        raise ValueError(reason)
    (operation,) = _fused(cell, direction)
    properties = CELLS[cell]
    nodes = {equation.write: Node(equation.rule, equation.reads) for equation in operation.body}
    loads = {}
    if direction == "backward":  # the gradient that arrives is added up before: it is the array dh
        arriving = operation.body[0].write
        del nodes[arriving]
        loads[arriving] = StepArray("dh")
    values = _single_assignment(properties, nodes, loads, direction)
    stores = {_place(properties, region, direction, True): region for region in operation.writes}
    return StepWork(properties, loads, _factor_out(values), _with_recurrent_gradients(properties, stores))


def suitable() -> tuple[str, ...]:
    """Cells of CELLS for which loops are derived: see `why_not`."""
    return tuple(name for name in CELLS if why_not(name) is None)


def why_not(cell: str) -> str | None:
    """The reason why no loops are derived for a cell; None if they are."""
    properties = CELLS[cell]
    if cell not in EQUATIONS or not properties.reads_state:
        return f"{cell} has no equation whose products read the state"
    for direction in ("forward", "backward"):
        operations = _fused(cell, direction)
        if len(operations) != 1:
            return (
                f"a step of {cell} {direction} has {len(operations)} pointwise operations, which a product "
                "or a sum divides: a loop is derived for a step with one"
            )
        if sum(region.buffer == "saved_l0" for region in operations[0].writes) > 1:
            return f"a step of {cell} saves more than one number a unit beside gates and states"
        terms = sum(region.buffer == "step_dvectors_l0" for region in operations[0].writes)
        if direction == "backward" and terms != len(properties.vectors):
            return f"a step of {cell} does not multiply by each of {', '.join(properties.vectors)} once"
    return None


def assignment(place: StepArray, target: str, value: str) -> str:
    """The statement that stores a value; gradients of vectors are added up."""
    return f"{target} {'+=' if place.array == 'dvectors' else '='} {value}"


def gate_is_h(cell: Cell) -> bool:
    """Is a cell's only gate the next h?  It is not stored apart from it then."""
    return cell.gates == ("h",)


def lines(work: StepWork, target: Target) -> list[str]:
    """The statements of one unit, loads at first use, stores at the end."""
    writer = _Writer(work, target)
    gates = [key for place, key in sorted(work.stores.items()) if place.array == "gates"]
    for key in (*gates, *work.stores.values()):
        writer.prepare(key)
    return writer.lines + writer.stores()


@cache
def _fused(cell: str, direction: str) -> tuple[Operation, ...]:
    """The pointwise operations of one step in the middle, after fusing."""
    make = forward_plan if direction == "forward" else backward_plan
    plan = fuse_pointwise(group_gates(make(cell, SIZES)))
    return tuple(o for o in plan.operations if o.kind == "pointwise" and o.steps == INNER_STEP)


def _place(properties: Cell, region: Region, direction: str, is_written: bool) -> StepArray:
    """The role of a region of the plan."""
    name = region.buffer.strip("~").removeprefix("step_").removesuffix("_l0")
    gate = region.columns[0] // SIZES.H
    is_after = region.rows[0] > SIZES.B  # a state's block behind the step
    if name == "hU":
        return StepArray("recurrent", gate)
    if name in properties.states and is_after:
        is_product = gate_is_h(properties) and direction == "forward" and not is_written
        return StepArray("gates") if is_product else StepArray(f"{name}_next")
    return StepArray(name, gate)


def _single_assignment(properties: Cell, nodes: dict, loads: dict, direction: str) -> dict:
    """Nodes that tell apart what a region holds before the step and after it; the former are added to loads.

    A gate's region holds the product with the inputs until the gate is written.
    """
    last = {key: key for key in loads}
    result = {}
    for region, node in nodes.items():
        reads = []
        for read in node.reads:
            if read not in last:
                last[read] = ("before", read)
                loads[last[read]] = _place(properties, read, direction, False)
            reads.append(last[read])
        result[region] = Node(node.rule, tuple(reads))
        last[region] = region
    return result


def _with_recurrent_gradients(properties: Cell, stores: dict) -> dict:
    """Stores, states first; dgates_h is added where what reaches the recurrent product differs."""
    inner = stores.pop(StepArray("dinner"), None)
    if inner is not None:
        at = properties.gates.index(properties.inner_bias)
        for gate in range(len(properties.gates)):
            stores[StepArray("dgates_h", gate)] = stores[StepArray("dgates", gate)]
        stores[StepArray("dgates_h", at)] = inner
    order = (
        "saved",
        *(f"{state}_next" for state in reversed(properties.states)),
        "gates",
        "dgates",
        "dgates_h",
        "dvectors",
    )
    rank = {array: number for number, array in enumerate(order)}
    place_in_order = lambda place: (rank.get(place.array, len(order)), place.gate)
    return {place: stores[place] for place in sorted(stores, key=place_in_order)}


def _factor_out(nodes: dict) -> dict:
    """a·b − a·c as a·(b − c): the mirror has a product more, since it sends gradients wire by wire."""
    result = {}
    for key, node in nodes.items():
        if node.rule == "sum":
            node = _factored_sum(key, node, result)
        result[key] = node
    return result


def _factored_sum(key, node: Node, nodes: dict) -> Node:
    """The sum with one pair a·b − a·c as a product; what the product reads is added to nodes."""
    for negative, other in permutations(node.reads, 2):
        subtracted = nodes.get(_negated(nodes, negative))
        added = nodes.get(other)
        if not (_is_product(subtracted) and _is_product(added) and subtracted.reads[0] == added.reads[0]):
            continue
        difference = ("difference", key)
        nodes[difference] = Node("minus", (added.reads[1], subtracted.reads[1]))
        factored = Node("times", (added.reads[0], difference))
        rest = tuple(read for read in node.reads if read not in (negative, other))
        if not rest:
            return factored
        nodes["factored", key] = factored
        return Node("sum", (("factored", key), *rest))
    return node


def _negated(nodes: dict, key):
    """The operand of a "negative"; None for another node."""
    return nodes[key].reads[0] if key in nodes and nodes[key].rule == "negative" else None


def _is_product(node: Node | None) -> bool:
    return node is not None and node.rule == "times"


REPEATED = {"tanh_slope": 1, "sigmoid_slope": 1}  # the operand that their text has twice
BINDS = dict.fromkeys(("sum", "bias", "minus", "one_minus"), SUM)
BINDS |= dict.fromkeys(("times", "negative", "tanh_slope", "sigmoid_slope", "relu_slope"), PRODUCT)
FUNCTIONS = {
    "sum": lambda *terms: " + ".join(terms),
    "bias": "{} + {}".format,
    "times": "{} * {}".format,
    "minus": "{} - {}".format,
    "one_minus": "one - {}".format,
    "negative": "-{}".format,
    "tanh": "tanh({})".format,
    "sigmoid": "sigmoid({})".format,
    "tanh_slope": "{0} * (one - {1} * {1})".format,
    "sigmoid_slope": "{0} * {1} * (one - {1})".format,
}


def _least(rule: str, place: int) -> float:
    """How strongly a rule's operand must bind to stand there without brackets."""
    if rule in ("sum", "bias"):
        return SUM
    if rule in ("minus", "one_minus"):
        return SUM if rule == "minus" and place == 0 else PRODUCT
    if rule in ("times", "negative") or rule.endswith("_slope"):
        return PRODUCT if place == 0 else NAME
    return 0  # a function's argument


class _Writer:
    """Writes the values of a step one after the other."""

    def __init__(self, work: StepWork, target: Target):
        self.work = work
        self.target = target
        self.functions = FUNCTIONS | target.functions
        self.lines: list[str] = []
        self.texts: dict[object, tuple[str, float]] = {}
        self.uses = Counter(work.stores.values())
        repeated = REPEATED | target.repeated
        for node in _needed(work):
            self.uses.update(node.reads)
            if node.rule in repeated:
                self.uses[node.reads[repeated[node.rule]]] += 1

    def prepare(self, key) -> None:
        """Write a value and, before it, those that it needs."""
        if key in self.texts or key not in self.work.nodes:
            return
        for read in self.work.nodes[key].reads:
            self.prepare(read)
        self._compute(key)

    def _compute(self, key) -> None:
        """Write a value in place of its only reader, or on a line with a name."""
        node = self.work.nodes[key]
        reads = [read for read in node.reads if not self._is_added(read)]
        if node.rule in ("sum", "bias") and len(reads) == 1:
            self.texts[key] = self._text(reads[0])
            return
        operands = []
        own = self.target.binds.get(node.rule)
        for place, read in enumerate(reads):
            text, binds = self._text(read)
            least = own[0] if own else _least(node.rule, place)
            operands.append(f"({text})" if binds < least else text)
        value = self.functions[node.rule](*operands)
        if self.uses[key] == 1:
            self.texts[key] = value, own[1] if own else BINDS.get(node.rule, NAME)
        else:
            self._name(key, self._name_of(key), value)

    def stores(self) -> list[str]:
        return [self.target.write(place, self._text(key)[0]) for place, key in self.work.stores.items()]

    def _is_added(self, key) -> bool:
        return key in self.work.loads and self.target.is_added(self.work.loads[key])

    def _text(self, key) -> tuple[str, float]:
        if key not in self.texts:
            place = self.work.loads[key]
            if place.array in self.target.named:
                return place.array, NAME
            text = self.target.read(place)
            own = _own_name(self.work.cell, place)
            is_vector = place.array == "vectors" and own in self.work.cell.vectors
            if self.uses[key] == 1 and not is_vector:
                return text, NAME
            self._name(key, _free_name("", own), text)
        return self.texts[key]

    def _name(self, key, name: str, value: str) -> None:
        self.lines.append(self.target.statement(name, value))
        self.texts[key] = name, NAME

    def _name_of(self, key) -> str:
        """A name for a computed value: its gate's, or one made from where it is stored or what it reads."""
        for place, stored in self.work.stores.items():
            if stored == key:
                return _stored_name(self.work.cell, place)
        node = self.work.nodes[key]
        arrays = [self.work.loads[read].array for read in node.reads if read in self.work.loads]
        if node.rule == "sum" and arrays:
            return f"{arrays[0]}_total"
        if node.rule == "tanh" and arrays:
            return f"tanh_{arrays[0].removesuffix('_next')}"
        if node.rule == "one_minus":
            return f"not_{self.texts[node.reads[0]][0]}"
        return "a" if node.rule in ("sum", "bias") else f"value_{list(self.work.nodes).index(key)}"


def _needed(work: StepWork) -> list[Node]:
    """Nodes that a store depends on."""
    wanted = set(work.stores.values())
    needed = []
    for key, node in reversed(work.nodes.items()):
        if key in wanted:
            needed.append(node)
            wanted |= set(node.reads)
    return needed


def _own_name(cell: Cell, place: StepArray) -> str:
    """The name of a number that is loaded: a gate's, a vector's, or one made from its array."""
    names = {"gates": cell.gates, "vectors": cell.vector_wires}.get(place.array)
    return names[place.gate] if names else f"{place.array}_j"


def _free_name(prefix: str, gate: str) -> str:
    """The name of a gate, or of its gradient, unless a loop has another meaning for it."""
    name = prefix + gate
    return f"{prefix}gate_{gate}" if name in TAKEN else name


def _stored_name(cell: Cell, place: StepArray) -> str:
    if place.array == "gates":
        return _free_name("", cell.gates[place.gate])
    if place.array.startswith("dgates"):
        return _free_name("d", cell.gates[place.gate])
    if place.array.endswith("_next"):
        return f"next_{place.array.removesuffix('_next')}"
    return {"saved": "inner"}.get(place.array, f"{place.array}_before")


def signature(name: str, arguments: list[str]) -> str:
    """The first lines of a function."""
    return folded(f"def {name}", arguments, end=":")


def folded(name: str, arguments: list[str], indent: int = 0, end: str = "") -> str:
    """A name and its arguments in brackets, folded as the formatter does, or kept from it."""
    text = ", ".join(arguments)
    if indent + len(f"{name}({text}){end}") <= WIDTH:
        return textwrap.indent(f"{name}({text}){end}", " " * indent)
    inner = "    "
    if indent + len(inner) + len(text) <= WIDTH:
        return textwrap.indent(f"{name}(\n{inner}{text}\n){end}", " " * indent)
    body = textwrap.fill(f"{text},", WIDTH - indent, initial_indent=inner, subsequent_indent=inner)
    return textwrap.indent(f"{name}(\n{body}\n){end}  # fmt: skip", " " * indent)
