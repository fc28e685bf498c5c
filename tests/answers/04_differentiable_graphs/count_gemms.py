# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    from collections import Counter

    reads = Counter(left for left, _ in step)
    calls = 0
    for left, number in reads.items():
        times = 1 if left == "x" and stack_time else T
        calls += times * (1 if stack_gates else number)
    return calls

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    lefts = sorted({left for left, _ in step}) if stack_gates else [pair[0] for pair in step]
    x = lefts.count("x")
    return (len(lefts) - x) * T + (x if stack_time else x * T)

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    seen, calls = [], 0
    for left, weight in step:
        if stack_gates and left in seen:
            continue
        seen.append(left)
        calls += T ** (not (stack_time and left == "x"))
    return calls

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    calls = {left for left, _ in step} if stack_gates else list(step)
    lefts = calls if stack_gates else [left for left, _ in calls]
    return sum(1 if left == "x" and stack_time else T for left in lefts)

# %% [wrong] stacks over time what waits for the step before
# -     return sum(1 if left == "x" and stack_time else T for left in lefts)
# +     return sum(1 if stack_time else T for left in lefts)

# %% [wrong] stacks over time without being asked
# -     return sum(1 if left == "x" and stack_time else T for left in lefts)
# +     return sum(1 if left == "x" else T for left in lefts)

# %% [wrong] stacks all products of a step
# -     calls = {left for left, _ in step} if stack_gates else list(step)
# +     calls = {"x"} if stack_gates else list(step)

# %% [wrong] stacking in time takes x away altogether
# -     return sum(1 if left == "x" and stack_time else T for left in lefts)
# +     return sum(0 if left == "x" and stack_time else T for left in lefts)

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, weight in step]
    if stack_gates:
        lefts = sorted(set(lefts))
    ahead = lefts.count("x") if stack_time else 0
    return ahead + T * (len(lefts) - ahead)

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    from collections import Counter

    total = 0
    for left, products in Counter(left for left, _ in step).items():
        n = 1 if stack_gates else products
        total += n if stack_time and left == "x" else n * T
    return total

# %% [right]
from collections import Counter


def count_gemms(step, T, stack_gates, stack_time):
    groups = Counter(left for left, _ in step)
    return sum((1 if stack_gates else n) * (1 if stack_time and left == "x" else T) for left, n in groups.items())

# %% [wrong] counts one step only
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, _ in step]
    return len(set(lefts)) if stack_gates else len(lefts)

# %% [wrong] counts a product of x even where there is none
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, _ in step if left != "x"]
    x = sum(left == "x" for left, _ in step) or 1
    if stack_gates:
        lefts, x = set(lefts), 1
    return len(lefts) * T + x * (1 if stack_time else T)

# %% [wrong] never stacks over time
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, _ in step]
    return T * len(set(lefts) if stack_gates else lefts)

# %% [wrong] stacks gates only if it stacks time, too
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, _ in step]
    if stack_gates and stack_time:
        lefts = set(lefts)
    return sum(1 if stack_time and left == "x" else T for left in lefts)

# %% [wrong] returns the calls of one gate more
def count_gemms(step, T, stack_gates, stack_time):
    lefts = [left for left, _ in step]
    if stack_gates:
        lefts = set(lefts)
    return sum(1 if stack_time and left == "x" else T for left in lefts) + T

# %% [wrong] stacks the weights with equal names
def count_gemms(step, T, stack_gates, stack_time):
    calls = {weight for _, weight in step} if stack_gates else list(step)
    lefts = list(calls) if stack_gates else [left for left, _ in calls]
    return sum(1 if left == "x" and stack_time else T for left in lefts)

# %% [wrong] takes every factor with an x for the input
def count_gemms(step, T, stack_gates, stack_time):
    left = [f for f, _ in step]
    if stack_gates:
        left = list(set(left))
    return sum(1 if stack_time and "x" in f else T for f in left)
