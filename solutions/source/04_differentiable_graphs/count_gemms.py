# %% [markdown]
# ## Exercise: count_gemms
#
# <!-- exercise: count_gemms -->
#
# `step` lists the products of one step as pairs (left factor, weight). The left factor `"x"` is the input; every other one is computed inside the loop.
# How many matrix products does the forward pass of `T` steps call? The check brings cells that the lesson has not drawn, so read the pairs.
#
# - `stack_gates`: products of one step that read the same left factor share a call.
# - `stack_time`: what is known for all steps before the loop starts is multiplied once for all of them.


# %%
def count_gemms(step, T, stack_gates, stack_time):
    """The number of GEMM calls, an int; step is a tuple of pairs, such as
    (("x", "W_h"), ("h", "U_h"))."""
    ### BEGIN SOLUTION
    factors = [factor for factor, weight in step]
    if stack_gates:
        factors = set(factors)
    return sum(1 if stack_time and factor == "x" else T for factor in factors)
    ### END SOLUTION


# %%
check(count_gemms)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 4

# %% [hint]
# Without stacking, every product of a step is one call, and there are T steps. Now take the two switches one by one,
# on paper, for a GRU: which of its six products can share a call?

# %% [hint]
# Over gates: products that read the same left factor share a call, whatever their weights, so count different
# factors. Over time: a factor can be stacked if it is known for all steps before the loop starts. Of all factors only
# x is; everything else is made by the step before, or by this one.

# %% [hint]
# Collect `factors = [factor for factor, weight in step]`; with stack_gates, make it a set. Then add 1 for "x" if
# stack_time is on, and T for anything else.

# %% [mistake] stacks over time what waits for the step before
# - stack_time and factor == "x"
# + stack_time

# %% [mistake] stacks r∘h with h
# - set(factors)
# + {"x" if factor == "x" else "h" for factor in factors}

# %% [mistake] counts a product of x even where there is none
# - sum(
# + (1 if stack_time else T) * ("x" not in factors) + sum(

# %% [mistake] counts one step only
# - else T
# + else 1

# %% [mistake] never stacks over time
# - stack_time and factor == "x"
# + False

# %% [mistake] never stacks over gates
# - set(factors)
# + factors

# %% [mistake] stacks over gates without being asked
# - if stack_gates
# + if True

# %% [mistake] stacks over time without being asked
# - stack_time and factor
# + factor

# %% [mistake] forgets the products with the state
# - for factor in factors)
# + for factor in factors if factor == "x")

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    inputs = sum(factor == "x" for factor, _ in step)
    others = [factor for factor, _ in step if factor != "x"]
    if stack_gates:
        inputs, others = min(inputs, 1), list(dict.fromkeys(others))
    return inputs * (1 if stack_time else T) + len(others) * T

# %% [right]
def count_gemms(step, T, stack_gates, stack_time):
    calls = set()
    for t in range(T):
        for factor, weight in step:
            when = "all steps" if stack_time and factor == "x" else t
            calls.add((factor, when) if stack_gates else (factor, weight, when))
    return len(calls)

# %% [variant] layers=2..9
# - forward pass of `T` steps call?
# + forward pass of `T` steps call in {layers} such layers? They run one after the other, and each has the outputs of
# + the layer below, of all steps, as its `"x"`.
# - and T for anything else.
# + and T for anything else, and multiply by the {layers} layers.
# - return sum(
# + return {layers} * sum(
# - return inputs * (1 if stack_time else T) + len(others) * T
# + return {layers} * (inputs * (1 if stack_time else T) + len(others) * T)
# - return len(calls)
# + return {layers} * len(calls)
