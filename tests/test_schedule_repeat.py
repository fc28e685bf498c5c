"""A long plan that repeats the cells of a short one is the plan that the whole network gives."""

from functools import partial

import pytest

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.repeat import repeated
from rnnlab.schedule.stages import apply

LONG = [
    Sizes(9, 3, 4, 5, 1),
    Sizes(8, 2, 5, 5, 4),
    Sizes(7, 3, 5, 4, 5),
    Sizes(2, 3, 4, 5, 6),
    Sizes(12, 1, 1, 1, 2),
]


@pytest.mark.parametrize("sizes", LONG, ids=str)
@pytest.mark.parametrize("passes", [(), (group_gates,), (fuse_pointwise,), (group_gates, fuse_pointwise)])
@pytest.mark.parametrize("build", [forward_plan, backward_plan])
@pytest.mark.parametrize("cell", ["rnn_tanh", "gru_before", "gru_after", "lstm"])
def test_a_repeated_plan_is_the_whole_networks(cell, build, passes, sizes):
    assert repeated(partial(build, cell), passes, sizes) == apply(build(cell, sizes), passes)
