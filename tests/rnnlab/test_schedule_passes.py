"""Plans: what passes save, what they refuse, and what stays in registers."""

import pytest

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import check_order, hazards
from rnnlab.schedule.order import assign_streams, reorder, wavefront
from rnnlab.schedule.passes import (
    adjacent,
    batch_inputs,
    fuse_pointwise,
    group_gates,
    join,
    regroup,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Region, Sizes

SIZES = Sizes(T=5, B=3, I=4, H=6, L=3)
BUILD = {"forward": forward_plan, "backward": backward_plan}
CELL = (group_gates, fuse_pointwise)
LAYER = (*CELL, transpose_once, batch_inputs, weight_gradient_after_loop)


def through(plan, passes):
    for change in passes:
        plan = change(plan)
    return plan


def test_an_order_that_breaks_a_hazard_is_refused_by_name():
    plan = through(forward_plan("lstm", Sizes(2, 3, 4, 5, 1)), CELL)
    with pytest.raises(ValueError, match=r"gemm → ~hU_l0 of layer 0, step 1 reads h_l0\[3:6, 0:5\] before"):
        reorder(plan, [0, 4, 1, 2, 3, 5])
    with pytest.raises(
        ValueError, match=r"overwrites ~hU_l0\[0:3, 0:5\] before pointwise ×17 .* has read it"
    ):
        check_order(independent_of_h(plan), [0, 1, 3, 4, 2, 5])
    with pytest.raises(ValueError, match="6 operations"):
        reorder(plan, [0, 1, 2, 3, 4, 4])


def independent_of_h(plan):
    """The plan with step 1's recurrent product reading x: only the buffer it writes still orders it."""
    operations = list(plan.operations)
    product = operations[4]
    operations[4] = type(product)(
        product.kind,
        (Region("x", (3, 6), (0, 5)), product.reads[1]),
        product.writes,
        0,
        (1, 2),
        (False, True),
    )
    return plan.after("changed", operations)


def test_a_pass_refuses_a_group_that_would_read_too_early():
    plan = through(forward_plan("rnn_tanh", Sizes(2, 3, 4, 5, 1)), (fuse_pointwise,))
    recurrent = [k for k, operation in enumerate(plan.operations) if operation.writes[0].buffer == "~hU_l0"]
    rest = [[k] for k in range(len(plan.operations)) if k not in recurrent]
    with pytest.raises(ValueError, match=r"hU_l0.*\b0\b.*\b1\b.*h_l0"):
        regroup(
            plan,
            "batch the recurrence",
            [recurrent, *rest],
            lambda plan, group: join([plan.operations[k] for k in group]),
        )


LEDGER = [  # passes, launches of L layers of an LSTM over T steps: forward, backward
    ((), lambda T, L: (25 * T * L, 36 * T * L)),
    ((group_gates,), lambda T, L: (19 * T * L, 19 * T * L)),
    (CELL, lambda T, L: (3 * T * L, 6 * T * L)),
    (
        (*CELL, weight_gradient_after_loop),
        lambda T, L: (3 * T * L, (3 * T + 3) * L),
    ),
    ((*CELL, batch_inputs), lambda T, L: ((2 * T + 1) * L, (5 * T + 1) * L)),
]


@pytest.mark.parametrize(("passes", "launches"), LEDGER, ids=range(len(LEDGER)))
def test_launches_of_an_lstm_are_as_many_as_the_ledger_says(passes, launches):
    T, L = 6, 2
    plans = [through(build("lstm", Sizes(T, 3, 4, 5, L)), passes) for build in BUILD.values()]
    assert tuple(plan.count() for plan in plans) == launches(T, L)


@pytest.mark.parametrize("cell", ["rnn_tanh", "gru_before", "gru_after", "lstm"])
def test_passes_neither_lose_nor_add_a_product(cell):
    for direction, build in BUILD.items():
        plan = build(cell, SIZES)
        products = lambda plan: sum(
            operation.flops for operation in plan.operations if operation.kind == "gemm"
        )
        assert products(through(plan, (*LAYER, wavefront, assign_streams))) == products(plan), direction


def test_fusing_keeps_in_registers_what_nobody_else_reads():
    plan = through(forward_plan("lstm", Sizes(3, 2, 4, 5, 1)), CELL)
    (fused, *_) = [operation for operation in plan.operations if operation.kind == "pointwise"]
    # four gates, c' and h' are written; the products' two sums, the bias and c are read
    assert sorted(r.buffer for r in fused.writes) == ["c_l0"] + ["gates_l0"] * 4 + ["h_l0"]
    assert fused.bytes(4) == 4 * 2 * 5 * (6 + 4 + 4 + 1) + 4 * 4 * 5


def test_regions_join_only_if_they_are_adjacent():
    region = lambda rows, columns=(0, 4): Region("h", rows, columns)
    assert adjacent([region((2, 4)), region((0, 2))], "rows") == region((0, 4))
    assert adjacent([region((0, 2)), region((3, 4))], "rows") is None
    assert adjacent([region((0, 2)), region((0, 2))], "rows") is None
    assert adjacent([region((0, 2)), region((2, 4), (0, 3))], "rows") is None
    assert adjacent([region((0, 2)), region((2, 4))._replace(buffer="c")], "rows") is None


def test_the_kinds_of_hazard_are_told_apart():
    plan = through(forward_plan("lstm", Sizes(2, 3, 4, 5, 1)), CELL)
    kinds = lambda plan: {(hazard.kind, hazard.region.buffer) for hazard in hazards(plan)}
    assert ("read after write", "h_l0") in kinds(plan)  # the recurrent product waits for the state
    assert ("write after read", "~hU_l0") in kinds(independent_of_h(plan))  # its last result must be read
    assert ("write after write", "~hU_l0") in kinds(plan)


def test_bad_choices_are_refused():
    plan = forward_plan("rnn_tanh", SIZES)
    with pytest.raises(ValueError, match="steps is -1"):
        batch_inputs(plan, -1)
    with pytest.raises(ValueError, match="per_layer is 3"):
        assign_streams(plan, 3)
