"""A step's pointwise work as lines of text: which name a value gets, in which order, with which brackets.

The work is the fused pointwise operation of one time step.  A value that one line reads is written in place;
any other gets a name: that of its gate, or one made from the array where it lies.  So does the sum that a
gate's function takes, a_<gate>, and its gradient, da_<gate>, unless the gate is h itself; and the gradient of
a gate that is read twice, d<gate>.  A Target says how its language spells a function, and where an array's
number is read and written.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from keyword import kwlist
from typing import NamedTuple

from rnnlab.cells import CELLS, Cell
from rnnlab.emit.factoring import Node, factor_out
from rnnlab.graphs.cells import EQUATIONS
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Operation, Region, Sizes

SIZES = Sizes(T=3, B=2, I=3, H=5, L=1)  # of the pattern; the loop that is emitted serves all sizes
INNER_STEP = (1, 2)  # neither the first nor the last
# names with another meaning in some loop, and words of C++ beside Python's
TAKEN = {*"a at c dc dg dh dy gate h half H j one out row rows step unit zero".split(), *kwlist}
TAKEN |= {"auto", "char", "do", "float", "int", "new", "this"}
SUM, PRODUCT, NAME = 1, 2, 3  # how strongly a text binds


class StepArray(NamedTuple):
    """An array by its role in a step, and the gate among its columns."""

    # gates, recurrent, bias, vectors, saved, h, h_next, dh, dgates, dgates_h, dvectors, and the like of c
    array: str
    gate: int = 0


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
    nodes = {}
    for equation in operation.body:
        nodes[equation.write] = Node(equation.rule, equation.reads)
    loads = {}
    if direction == "backward":  # the gradient that arrives is added up before: it is the array dh
        arriving = operation.body[0].write
        del nodes[arriving]
        loads[arriving] = StepArray("dh")
    values = _single_assignment(properties, nodes, loads, direction)
    stores = {_place(properties, region, direction, True): region for region in operation.writes}
    stores = _with_recurrent_gradients(properties, stores)
    return StepWork(properties, loads, factor_out(values), stores)


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
        count = len(operations)
        if count != 1:
            return (
                f"a step of {cell} {direction} has {count} pointwise operations, which a product "
                "or a sum divides: a loop is derived for a step with one"
            )
        written = [region.buffer for region in operations[0].writes]
        if written.count("saved_l0") > 1:
            return f"a step of {cell} saves more than one number a unit beside gates and states"
        terms = written.count("step_dvectors_l0")
        if direction == "backward" and terms != len(properties.vectors):
            vectors = ", ".join(properties.vectors)
            return f"a step of {cell} does not multiply by each of {vectors} once"
    return None


def assignment(place: StepArray, target: str, value: str) -> str:
    """The statement that stores a value; gradients of vectors are added up."""
    sign = "+=" if place.array == "dvectors" else "="
    return f"{target} {sign} {value}"


def gate_is_h(cell: Cell) -> bool:
    """Is a cell's only gate the next h?  It is not stored apart from it then."""
    return cell.gates == ("h",)


def lines(work: StepWork, target: Target) -> list[str]:
    """The statements of one unit, loads at first use, stores at the end."""
    writer = _Writer(work, target)
    stores = work.stores
    gates = sorted(place for place in stores if place.array == "gates")
    for place in (*gates, *stores):
        writer.prepare(stores[place])
    return writer.lines + writer.stores()


@cache
def _fused(cell: str, direction: str) -> tuple[Operation, ...]:
    """The pointwise operations of one step in the middle, after fusing."""
    make = forward_plan if direction == "forward" else backward_plan
    plan = fuse_pointwise(group_gates(make(cell, SIZES)))
    inner = [operation for operation in plan.operations if operation.steps == INNER_STEP]
    return tuple(operation for operation in inner if operation.kind == "pointwise")


def _place(properties: Cell, region: Region, direction: str, is_written: bool) -> StepArray:
    """The role of a region of the plan."""
    name = region.buffer.strip("~").removeprefix("step_").removesuffix("_l0")
    gate = region.columns[0] // SIZES.H
    is_after = region.rows[0] > SIZES.B  # a state's block behind the step
    if name == "hU":
        return StepArray("recurrent", gate)
    if name not in properties.states or not is_after:
        return StepArray(name, gate)
    if gate_is_h(properties) and direction == "forward" and not is_written:
        return StepArray("gates")  # the product with the inputs, until h is written over it
    return StepArray(f"{name}_next")


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
    states = [f"{state}_next" for state in reversed(properties.states)]
    order = ["saved", *states, "gates", "dgates", "dgates_h", "dvectors"]

    def place_in_order(place):
        rank = order.index(place.array) if place.array in order else len(order)
        return rank, place.gate

    return {place: stores[place] for place in sorted(stores, key=place_in_order)}


NONLINEAR = "tanh", "sigmoid", "relu"
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
    if rule == "minus" and place == 0:
        return SUM
    if rule in ("minus", "one_minus"):
        return PRODUCT
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
        self.names: set[str] = set()
        self.own_lines = _own_lines(work)
        self.uses = Counter(work.stores.values())
        repeated = REPEATED | target.repeated
        for node in _needed(work):
            self.uses.update(node.reads)
            if node.rule in repeated:
                twice = node.reads[repeated[node.rule]]
                self.uses[twice] += 1

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
            text, binds = self._text(reads[0])
            if key in self.own_lines and binds < NAME:
                self._name(key, self.own_lines[key], text)
            else:
                self.texts[key] = text, binds
            return
        operands = []
        own = self.target.binds.get(node.rule)
        for place, read in enumerate(reads):
            text, binds = self._text(read)
            least = own[0] if own else _least(node.rule, place)
            operands.append(f"({text})" if binds < least else text)
        value = self.functions[node.rule](*operands)
        if self.uses[key] > 1 or key in self.own_lines:
            self._name(key, self._name_of(key), value)
            return
        binds = own[1] if own else BINDS.get(node.rule, NAME)
        self.texts[key] = value, binds

    def stores(self) -> list[str]:
        """The last statements, with the gradient of each gate's sum where it is stored.

        Computed before other stores, an LSTM's gradients in float64 had other last bits (Numba's fast math).
        """
        cell = self.work.cell
        statements = []
        for place, key in self.work.stores.items():
            text, binds = self._text(key)
            if place.array == "dgates" and binds < NAME and not gate_is_h(cell):
                name = self._unused(_stored_name(cell, place))
                statements.append(self.target.statement(name, text))
                text = name
            statements.append(self.target.write(place, text))
        return statements

    def _is_added(self, key) -> bool:
        place = self.work.loads.get(key)
        return place is not None and self.target.is_added(place)

    def _text(self, key) -> tuple[str, float]:
        if key not in self.texts:
            place = self.work.loads[key]
            if place.array in self.target.named:
                return place.array, NAME
            text = self.target.read(place)
            cell = self.work.cell
            own = _own_name(cell, place)
            is_vector = place.array == "vectors" and own in cell.vectors
            if self.uses[key] == 1 and not is_vector:
                return text, NAME
            self._name(key, _free_name(own), text)
        return self.texts[key]

    def _name(self, key, name: str, value: str) -> None:
        name = self._unused(name)
        self.lines.append(self.target.statement(name, value))
        self.texts[key] = name, NAME

    def _unused(self, name: str) -> str:
        """The name, with underscores if another value has it: a cell may call a vector a_r."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def _name_of(self, key) -> str:
        """A name for a computed value: its gate's, or one made from where it is stored or what it reads."""
        work = self.work
        for place, stored in work.stores.items():
            if stored == key:
                return _stored_name(work.cell, place)
        if key in self.own_lines:
            return self.own_lines[key]
        node = work.nodes[key]
        arrays = [work.loads[read].array for read in node.reads if read in work.loads]
        if node.rule == "sum" and arrays:
            return f"{arrays[0]}_total"
        if node.rule == "tanh" and arrays:
            return f"tanh_{arrays[0].removesuffix('_next')}"
        if node.rule == "one_minus":
            operand, _ = self.texts[node.reads[0]]
            return f"not_{operand}"
        if node.rule in ("sum", "bias"):
            return "a"
        number = list(work.nodes).index(key)
        return f"value_{number}"


def _own_lines(work: StepWork) -> dict[object, str]:
    """Names of gates' sums and gradients, which have a line of their own: see the module's text."""
    names = {}
    if gate_is_h(work.cell):
        return names
    for place, key in work.stores.items():
        node = work.nodes.get(key)
        if node is None or place.array not in ("gates", "dgates"):
            continue
        gate = work.cell.gates[place.gate]
        of_operand = f"a_{gate}"
        if place.array == "dgates":
            of_operand = f"d{gate}" if f"d{gate}" not in TAKEN else f"dgate_{gate}"
        operand = work.nodes.get(node.reads[0])
        is_function = node.rule.removesuffix("_slope") in NONLINEAR
        if is_function and operand and operand.rule in ("sum", "bias"):
            names[node.reads[0]] = of_operand
    return names


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
    if place.array == "gates":
        return cell.gates[place.gate]
    if place.array == "vectors":
        return cell.vector_wires[place.gate]
    return f"{place.array}_j"


def _free_name(gate: str) -> str:
    """The name of a gate, unless a loop has another meaning for it."""
    return f"gate_{gate}" if gate in TAKEN else gate


def _stored_name(cell: Cell, place: StepArray) -> str:
    if place.array == "gates":
        return _free_name(cell.gates[place.gate])
    if place.array.startswith("dgates"):
        return f"da_{cell.gates[place.gate]}"
    if place.array == "saved":
        return "inner"
    state = place.array.removesuffix("_next")
    return f"{place.array}_before" if state == place.array else f"next_{state}"
