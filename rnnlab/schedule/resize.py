"""The same plan for another minibatch and hidden size: what is launched, and in which order, stays as it is.

Passes look at where regions lie, never at how large they are, if inputs are as wide as layers (I = H).  So
one small plan stands for those of all sizes, in a fraction of the time that making it anew would take.
"""

from dataclasses import replace
from functools import cache

from rnnlab.schedule.plan import Plan, Region, Sizes, relocated


def resized(plan: Plan, B: int, H: int) -> Plan:
    """The plan for B sequences and H units, from one with I = H; B and H of that one are arbitrary."""
    old = plan.sizes
    if old.I != old.H:
        raise ValueError(f"the plan has I={old.I} and H={old.H}: only one with I = H can be resized")

    def rows(buffer: str, number: int) -> int:
        """Rows are units in weights, a single one in biases, sequences in everything else."""
        if buffer.startswith(("weight", "dweight")):
            return number // old.H * H
        if buffer.startswith(("bias", "inner_bias", "dbias", "dinner_bias")):
            return number
        return number // old.B * B

    @cache
    def place(region: Region) -> Region:
        buffer, (top, bottom), (left, right) = region
        columns = left // old.H * H, right // old.H * H
        return Region(buffer, (rows(buffer, top), rows(buffer, bottom)), columns)

    shapes = {name: (rows(name, shape[0]), shape[1] // old.H * H) for name, shape in plan.buffers.items()}
    operations = tuple(relocated(each, place) for each in plan.operations)
    return replace(plan, sizes=Sizes(old.T, B, H, H, old.L), operations=operations, buffers=shapes)
