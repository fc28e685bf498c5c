"""Save or recompute: what each plan costs, and that the plan found is the cheapest there is."""

from itertools import combinations

import numpy as np
import pytest

from rnnlab.compare import relative_error
from rnnlab.graphs.cells import EQUATIONS, step_graph
from rnnlab.graphs.graph import RULES, run
from rnnlab.graphs.mirror import mirror
from rnnlab.graphs.plan import RecomputePlan, all_plans, candidates, cheapest, make_plan

B, I, H = 3, 5, 4
WIRE = B * H * 4  # bytes of one float32 wire [B,H]


def after():
    graph = step_graph("gru_after", B, I, H)
    return graph, mirror(graph), "h·U_nᵀ+c_n"


def test_the_gru_variants_of_the_post_are_plans_of_one_graph():
    graph, reverse, product = after()
    v3 = make_plan(graph, reverse, ("r", "z", "n"))
    assert (v3.saved_bytes, v3.extra_gemms) == (3 * WIRE, 1)  # U·h again
    input_product = "x·W_nᵀ+b_n"
    v4 = make_plan(graph, reverse, ("r", "z", product), alive=(input_product,))
    assert (v4.saved_bytes, v4.extra_gemms) == (3 * WIRE, 0)  # only pointwise work again
    haste = make_plan(graph, reverse, ("r", "z", "n", product))
    assert (haste.saved_bytes, haste.extra_gemms) == (4 * WIRE, 0)


def test_v4_is_free_of_gemms_only_while_the_input_product_lives():
    graph, reverse, product = after()
    assert make_plan(graph, reverse, ("r", "z", product)).extra_gemms == 1


def test_the_plan_found_under_three_wires_is_the_posts_fourth_variant():
    graph, reverse, product = after()
    plan = cheapest(graph, reverse, 3 * WIRE, alive=("x·W_nᵀ+b_n",))
    assert set(plan.saved) == {"r", "z", product}


@pytest.mark.parametrize("cell", EQUATIONS)
def test_no_subset_of_all_wires_beats_the_candidates(cell):
    """Brute force over every wire, not only those thought worth saving; small subsets keep it quick."""
    graph = step_graph(cell, B, I, H)
    reverse = mirror(graph)
    wires = [wire for node in graph.nodes for wire in node.outputs if wire not in graph.outputs]
    for size in range(3):
        best = cheapest(graph, reverse, size * WIRE)
        for chosen in combinations(wires, size):
            assert best.cost()[:2] <= make_plan(graph, reverse, chosen).cost()[:2]


@pytest.mark.parametrize("cell", EQUATIONS)
def test_a_plan_really_suffices_to_run_the_reverse_graph(cell):
    graph = step_graph(cell, B, I, H)
    reverse = mirror(graph)
    rng = np.random.default_rng(0)
    values = {wire: rng.normal(size=shape) for wire, shape in graph.inputs.items()}
    forward = run(graph, values)
    d = {
        wire: rng.normal(size=shape)
        for wire, shape in reverse.graph.inputs.items()
        if wire not in graph.shapes
    }
    want = run(reverse.graph, {**{w: forward[w] for w in reverse.needed(graph)}, **d})
    for plan in all_plans(graph, reverse):
        known = {wire: forward[wire] for wire in (*graph.inputs, *graph.outputs, *plan.saved)}
        for node in plan.recomputed:  # reads nothing but what is known so far
            output = RULES[node.op].run([known[wire] for wire in node.inputs], node.flags)
            known |= dict(zip(node.outputs, output, strict=True))
        got = run(reverse.graph, {**{w: known[w] for w in reverse.needed(graph)}, **d})
        assert all(relative_error(got[wire], want[wire]) < 1e-13 for wire in reverse.graph.outputs)


@pytest.mark.parametrize("cell", EQUATIONS)
def test_more_memory_never_costs_more_work(cell):
    graph = step_graph(cell, B, I, H)
    costs = [cheapest(graph, mirror(graph), limit * WIRE).cost()[:2] for limit in range(7)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == (0, 0)


def test_a_vanilla_rnn_has_nothing_to_save_but_its_states():
    graph = step_graph("rnn_tanh", B, I, H)
    assert candidates(graph, mirror(graph)) == ()
    assert cheapest(graph, mirror(graph), 0) == RecomputePlan((), (), 0, 0, 0)


def test_a_wire_that_is_not_there_and_an_impossible_limit_are_named():
    graph, reverse, _ = after()
    with pytest.raises(ValueError, match="'q'"):
        make_plan(graph, reverse, ("q",))
    with pytest.raises(ValueError, match="-1"):
        cheapest(graph, reverse, -1)
