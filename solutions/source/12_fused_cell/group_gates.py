# %% [markdown]
# ## Exercise: group_gates
#
# <!-- exercise: group_gates -->
#
# `gates` names the gates of a cell, for instance `("i", "f", "g", "o")`. The gate called `"i"` has weights `"W_i"` [H,I] for x [B,I] and `"U_i"` [H,H] for h [B,H]; the other gates likewise. You do not see the weights: `multiply(rows, names)` multiplies rows by the transposed weights of these names, stacked, and returns [B, len(names)·H], the columns in the order of the names. For instance, `multiply(x, ["W_i", "W_f"])` is [B, 2·H]. A call is a launch.
#
# Return the sum of both products for every gate, `{gate: [B,H]}`, with two calls.


# %%
def group_gates(x, h, multiply, gates):
    """{gate: x W_gateᵀ + h U_gateᵀ} for every gate."""
    ### BEGIN SOLUTION
    H = h.shape[1]
    from_x = multiply(x, [f"W_{gate}" for gate in gates])
    from_h = multiply(h, [f"U_{gate}" for gate in gates])
    sums = from_x + from_h
    return {gate: sums[:, k * H : (k + 1) * H] for k, gate in enumerate(gates)}
    ### END SOLUTION


# %%
check(group_gates)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 5

# %% [hint]
# Products that share a factor can be one product. Which of a step's products share x, and which h?

# %% [hint]
# multiply(x, [all W names]) gives [B, G·H]: the first gate's H columns, then the second's, in the order of the names.
# The same for h; add the two once, and cut the sum into columns at the end.

# %% [hint]
# `from_x = multiply(x, [f'W_{gate}' for gate in gates])`, likewise from_h with U; gate k has columns `k * H : (k + 1)
# * H`.

# %% [mistake] launches a product for each gate
# - multiply(x, [f"W_{gate}" for gate in gates])
# + np.concatenate([multiply(x, [f"W_{gate}"]) for gate in gates], axis=1)

# %% [mistake] multiplies the state with the input weights
# - f"U_{gate}"
# + f"W_{gate}"

# %% [mistake] forgets the recurrent products
# - from_x + from_h
# + from_x

# %% [mistake] forgets the input products
# - from_x + from_h
# + from_h

# %% [mistake] multiplies where it should add
# - from_x + from_h
# + from_x * from_h

# %% [mistake] takes every G-th column, G the number of gates
# - k * H : (k + 1) * H
# + k :: len(gates)

# %% [mistake] gives every gate the same columns
# - k * H : (k + 1) * H
# + 0:H

# %% [mistake] orders the gates differently in the two products
# - f"U_{gate}" for gate in gates
# + f"U_{gate}" for gate in gates[::-1]

# %% [right]
def group_gates(x, h, multiply, gates):
    products = [multiply(a, [letter + "_" + gate for gate in gates]) for a, letter in ((x, "W"), (h, "U"))]
    return dict(zip(gates, np.split(products[0] + products[1], len(gates), axis=1)))

# %% [right]
def group_gates(x, h, multiply, gates):
    total = multiply(h, ["U_" + g for g in gates]).reshape(len(h), len(gates), -1)
    total = total + multiply(x, ["W_" + g for g in gates]).reshape(total.shape)
    return {gate: np.ascontiguousarray(total[:, k]) for k, gate in enumerate(gates)}

# %% [variant] share=2..9
# - Return the sum of both products for every gate,
# + Return for every gate the product with x plus {share} times the product with h,
# - x W_gateᵀ + h U_gateᵀ
# + x W_gateᵀ + {share} h U_gateᵀ
# - from_x + from_h
# + from_x + {share} * from_h
# - products[0] + products[1]
# + products[0] + {share} * products[1]
# - total = multiply(h,
# + total = {share} * multiply(h,
# - The same for h; add the two once,
# + The same for h; add the two once, h's {share} times,
