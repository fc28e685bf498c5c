# Course map: gradients read off a graph; what must be saved, what can be recomputed; five GRUs counted and timed

# %% [markdown]
# # 04 · Gradients read off a picture
#
# **Claim to test: can a picture of a GRU tell you all of this before any time is measured: its gradient, how many matrix products it calls, what it must save for the backward pass, and which of two variants is faster?**
#
# The recap prints a verdict for each.
#
# - **Time:** 190 minutes, exercises included (the exercises alone are 115). A good place for a break is after section 6.
# - **You need:** [02 · Back through time](02_bptt.ipynb).
# - **Afterwards you can** read a gradient off a graph, see what must be saved, and transform a cell so that it calls fewer products.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A cell as a graph
#
# In the pictures of this lesson **wires carry arrays** and **nodes are functions** without memory. Weights are inputs like any other input, so the same rules give the gradients of inputs and of parameters.
#
# You draw a graph by writing the equation. Below is one step of a tanh network, for 4 sequences, 3 inputs and 5 units. `×` is a matrix product, `+b` adds a bias to every row. Every wire has a shape, and a node refuses what does not fit: try `g.x @ g.U.T` afterwards.

# %%
import numpy as np

from rnncourse import drawings
from rnnlab.graphs.graph import Sketch, run, sigmoid, tanh
from rnncourse.views.graph_drawing import draw, side_by_side

drawings.show("cell_as_graph")

g = Sketch(x=(4, 3), h=(4, 5), W=(5, 3), U=(5, 5), b=(5,))
g.h_next = tanh(g.x @ g.W.T + g.h @ g.U.T + g.b)
rnn = g.graph("h_next")
draw(rnn)

# %% [markdown]
# ## 2 · Six rules
#
# Let `d` be the gradient that arrives at a node's output. Each kind of node sends gradients to its inputs:
#
# | node | sends back | needs |
# |---|---|---|
# | sum a + b | d to both | nothing |
# | copy: one wire, two readers | d₁ + d₂ | nothing |
# | bias, added to each row | d, and Σ d over the rows | nothing |
# | elementwise a ∘ b | d ∘ b and d ∘ a | a, b |
# | product a · b | d · bᵀ and aᵀ · d | a, b |
# | function y = f(a) | d ∘ f′(a); tanh: d ∘ (1 − y²), σ: d ∘ y ∘ (1 − y) | y |
#
# One more node, 1 − a, sends back −d and needs nothing. The right column decides what a network must save. **Look for** two rules of which each is the reverse of the other.
#
# Test one rule with central differences; a single node is a graph, too. **Guess** the relative error of central differences in float64, as a power of ten.

# %%
from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.graphs.mirror import gradients, mirror

drawings.show("six_rules")

my_guess = ...

g = Sketch(a=(3, 2), b=(2, 4))
g.y = g.a @ g.b
alone, rng = g.graph("y"), np.random.default_rng(0)
values = {wire: rng.standard_normal(shape)
          for wire, shape in alone.inputs.items()}
d = rng.standard_normal((3, 4))
loss = lambda b: (d * run(alone, values | {"b": b})["y"]).sum()
numeric = reference.numerical_gradient(loss, values["b"])
error = relative_error(gradients(alone, values, {"y": d})["b"], numeric)
says = "rounding in the differences" if error < 1e-8 else "the rule is wrong"
print(f"your guess: {my_guess:.0e}; error {error:.0e}: {says}")

# %% [markdown]
# ### Exercise: the rules
#
# <!-- exercise: graph_rules -->
#
# Write them in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb). Your function gets only the values that a rule needs. Below the check, a loop of eight lines makes a mirror of your rules; two of its lines are yours to mend.
#
# ## 3 · The backward pass is a graph, too
#
# With these rules you get the gradient without algebra: start with the gradient of the result, and apply the rule of each node on the way back. **Predict:** draw that as a graph of its own. Which nodes does it have, where do they stand, and which way do its arrows point?

# %%
my_guess = ...  # nodes, places, arrows
drawings.show("graph_and_mirror")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The same nodes in the same places, with every arrow reversed: a sum becomes a copy, and a copy becomes a sum. A product becomes a node with two products, one for the gradient of each factor.
#
# </details>
#
# The graph of the gradients is called the **mirror** of the graph; it computes the backward pass. Now the same for the graph that you drew.
#
# A solid green wire carries a value that the backward pass does not need. A **dashed orange** wire carries a value that the backward pass reads. In the mirror, each node names the values that it reads.

# %%
side_by_side(rnn)

# %% [markdown]
# A tanh network must save x, h and h_next, and nothing between them. These are in memory anyway, and so are the weights.
#
# Does the mirror give the gradients of lesson 02? Draw 6 steps as one graph, run it and its mirror, and compare with the reference.

# %%
from rnnlab.graphs.cells import (
    network_gradients,
    sequence_graph,
    step_graph,
    wire_values,
)
from rnnlab.network import Network

T, B, I, H = 6, 4, 3, 5
network = Network.create("rnn_tanh", I, H, dtype="float64", seed=1)
x, state, dy = (rng.standard_normal((T, B, I)), network.zero_state(B),
                rng.standard_normal((T, B, H)))
graph = sequence_graph("rnn_tanh", T, B, I, H)
on_wires = gradients(graph, wire_values(network, x, state),
                     {f"h{t + 1}": dy[t] for t in range(T)})
_, _, exact = reference.backward(network,
                                 reference.forward(network, x, state)[2], dy)
for name, gradient in network_gradients(network, on_wires).items():
    print(f"{name:13} relative difference "
          f"{relative_error(gradient, exact[name]):.0e}")

# %% [markdown]
# ## 4 · Cells with gates: GRU and LSTM
#
# In a tanh network every step replaces the whole state, so what was stored fades, and the gradient with it (lessons 02 and 03). A **gate** is a vector of numbers between 0 and 1, one for each unit, computed by a sigmoid $\sigma(a) = 1/(1 + e^{-a})$ from the input and the state. It is multiplied element by element (∘) with another vector: 1 lets a number pass, 0 stops it.
#
# The **GRU** has two gates and one candidate for the new state. Biases (b beside W, c beside U) are left out:
#
# $$r = \sigma(x W_r^T + h U_r^T) \qquad z = \sigma(x W_z^T + h U_z^T)$$
# $$n = \tanh(x W_n^T + (r \circ h)\,U_n^T) \qquad h' = (1 - z) \circ n + z \circ h$$
#
# - **r**, the reset gate, decides how much of the old state the candidate may use.
# - **n**, the candidate, is what the new state would be without the update gate.
# - **z**, the update gate, decides for each unit how much of the old state stays. Where z = 1, value and gradient along this wire pass unchanged.

# %% [markdown]
# The **LSTM** has three gates and a second state, the **cell** c:
#
# $$i, f, o = \sigma(x W^T + h U^T), \text{ each with its own } W, U \qquad g = \tanh(x W_g^T + h U_g^T)$$
# $$c' = f \circ c + i \circ g \qquad h' = o \circ \tanh(c')$$
#
# - **f**, the forget gate, decides how much of the old cell stays. Along this path the gradient is only multiplied by f.
# - **i**, the input gate, decides how much of the candidate **g** is added to the cell.
# - **o**, the output gate, decides how much of the cell the network shows as its output h'.
#
# Below, a few lines declare the GRU above, with the reset gate **before** its product, as in the final paper of 2014. Compare them with the picture.
#
# **Predict** before you look: how many nodes read `h`? Each of them sends a gradient back to `h`, and these are added up.

# %%
my_guess = ...
from rnnlab.graphs.cells import gru_before

drawings.show("gru_gates")
drawings.show("lstm_gates")

rnnlab.show_source(gru_before)
gru = step_graph("gru_before", 4, 3, 5)
side_by_side(gru)

# %% [markdown]
# Now read its gradient. Begin at `dh_next` in the lower picture and follow the wires to the left. Each of the five lines below is several nodes. At z two gradients are added: one from z ∘ h, and one from 1 − z with the opposite sign. At h the gradients from all nodes that read it are added.

# %%
values = {wire: rng.standard_normal(shape)
          for wire, shape in gru.inputs.items()}
wires, dh_next = run(gru, values), rng.standard_normal((4, 5))
h, r, z, n = (wires[name] for name in ("h", "r", "z", "n"))

da_n = dh_next * (1 - z) * (1 - n**2)
da_z = dh_next * (h - n) * z * (1 - z)
drh = da_n @ wires["U_n"]
da_r = drh * h * r * (1 - r)
dh = dh_next * z + drh * r + da_r @ wires["U_r"] + da_z @ wires["U_z"]

print(f"h is read by {len(gru.readers('h'))} nodes; your guess: {my_guess}")
exact = gradients(gru, values, {"h_next": dh_next})["h"]
print("dh read off the picture: relative difference "
      f"{relative_error(dh, exact):.0e}")

# %% [markdown]
# **Break it:** leave out `drh * r` and run the cell (then put it back). The error grows to a size that you can see; shapes stay right.
#
# Now go through the nodes one at a time, forward first, then backward. The line below the picture says what a node reads, computes and needs, and counts the calls of 10 steps. Then try the switches: which one changes the number of GEMM calls most? A **GEMM** is a general matrix product, one call of the library.
#
# <details><summary>Answer</summary>Stacking over gates (section 5 says how): in 10 steps this GRU calls 30 products instead of 60, an LSTM 20 instead of 80. Stacking over time alone leaves 33 and 44.</details>

# %%
from rnncourse.views.graph_stepper import explore_graph

explore_graph()

# %% [markdown]
# ### Exercise: an LSTM backward
#
# <!-- exercise: lstm_backward -->
#
# A step reads two states, and its backward step returns two gradients for them. The picture is in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb).
#
# ## 5 · Fewer, larger products
#
# Small products use only a part of the machine (lesson 05 measures how much). Two products can share a call if they have a factor in common and neither needs the result of the other:
#
# - **over gates:** W_r, W_z and W_n all multiply x, so stack the weights;
# - **over time:** W multiplies x₁ … x_T, all known before the loop, so stack the inputs.
#
# Each transformation is a function from graph to graph; the wires show which product depends on which. **Predict:** of the 6T calls of the GRU above, how many remain with both?

# %%
from rnnlab.graphs.transform import (
    reset_after,
    stack_gates,
    stack_time,
    stack_weight_gradients,
)

my_guess = ...
for T in (1, 10, 40):
    counts = []
    for cell in ("gru_before", "lstm"):
        plain = sequence_graph(cell, T, 2, 3, 4)
        counts += [plain.gemms(), stack_time(stack_gates(plain)).gemms()]
    print("T = {:2}: GRU {} calls, stacked {}; LSTM {} calls, stacked "
          "{}".format(T, *counts))
print(f"your guess for the GRU: {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The LSTM goes from 8T to 1 + T. The GRU stops at 1 + **2**T: in the picture, the product with U_n needs r∘h, and r needs the result of another product. Without this wire T + 1 calls would be enough.
#
# </details>
#
# ### Exercise: count
#
# <!-- exercise: count_gemms -->
#
# In [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb), for any cell.
#
# ## 6 · Move one node
#
# If the reset gate comes **after** the product, r∘(h·U_nᵀ) instead of (r∘h)·U_nᵀ, all three recurrent products read h. That is variant 3 of the 2016 notes that this lesson follows, and the one that cuDNN and PyTorch compute.
#
# **Predict:** is it the same function? Stacking does not change the function: it gives the same numbers up to rounding. Run both.

# %%
my_guess = ...
T = 8
before = sequence_graph("gru_before", T, B, I, H)
variants = {
    "V1 textbook": before,
    "V2 stacked": stack_time(stack_gates(before)),
    "V3 reset after": stack_time(stack_gates(reset_after(before))),
}
values = {wire: rng.standard_normal(shape) / 2
          for wire, shape in before.inputs.items()}
textbook = run(before, values)[f"h{T}"]
for name, graph in variants.items():
    backward = stack_weight_gradients(mirror(graph).graph)
    difference = relative_error(run(graph, values)[f"h{T}"], textbook)
    calls = f"{graph.gemms():2} calls forward, {backward.gemms():2} backward"
    print(f"{name:14} {calls}, off from V1 by {difference:.0e}")
print(f"your guess for V3: {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In all three, the gradients of a weight from all steps, which are only added, are one call (`stack_weight_gradients`): so even V1 has only 48 + 6 calls backward. (The program of V1 in section 8 computes them at every step; one call gives h the gradients from r and z, so it makes 88, not 96.)
#
# V1 and V2 are the same function, V3 is another one. The weights of one fit into the other, but give other answers there. The notes say, without numbers, that accuracy is very similar when each is trained from the beginning.
#
# So two layers called GRU can be two functions. PyTorch, cuDNN, Flax and MLX reset after the product, and Keras unless `reset_after=False`; Haiku and ONNX's default reset before it.
#
# </details>
#
# **Predict:** unit 1's gate is closed. Which of the nine weights below has no effect, with each reset? Then **change** all three arrays to numbers of your own.

# %%
my_guess = ...
h = np.array([1.0, -2.0, 0.5])
r = np.array([1.0, 0.0, 1.0])  # the gate of unit 1 is closed
U_n = np.array([[0.5, 1.0, 0.0],  # row 0 makes candidate 0
                [2.0, 0.5, 1.0],
                [0.0, -1.0, 3.0]])
for reset, scaled, sums in (
    ("before", r * U_n, (r * h) @ U_n.T),
    ("after", r[:, None] * U_n, r * (h @ U_n.T)),
):
    silent = np.argwhere((scaled == 0) & (U_n != 0))
    print(f"reset {reset:6}: {sums}, no effect:",
          ", ".join(f"U_n[{j}, {k}]" for j, k in silent) or "none")
print(f"your guess: {my_guess}")
drawings.show("two_resets")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Before the product, the gate closes column 1: no candidate reads h[1]. After it, row 1: candidate 1 reads nothing. [docs/frameworks.md](../docs/frameworks.md) lists whose weights need which.
#
# </details>
#
# **Break it:** for which U_n are both the same function, whatever r and h are? Try it above. <details><summary>Answer</summary>A diagonal one: it only scales each unit.</details>
#
# ### Exercise: reset after
#
# <!-- exercise: gru_reset_after -->
#
# Write variant 3 over a whole sequence in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb). The function `product` that you get counts your calls.
#
# ## 7 · Save it, or recompute it
#
# The value on each dashed orange wire is either **saved** in the forward pass or **recomputed** in the backward pass. Inputs, weights and states are in memory anyway; for the others you can choose. Below is a step of variant 3. **Look for** the one dashed orange wire that the GRU of section 4 does not have.

# %%
drawings.show("save_or_recompute")

after = step_graph("gru_after", 4, 3, 5)
for name, graph in {"reset before": gru, "reset after": after}.items():
    inner = [wire for wire in mirror(graph).needed(graph)
             if wire not in graph.inputs]
    print(f"{name:13} needs {', '.join(inner)}")
side_by_side(after)

# %% [markdown]
# <details><summary>Answer</summary>h·U_nᵀ + c_n: the gradient of r needs it, as the other factor.</details>
#
# A program that saves only r, z and n, the outputs of the gates, must compute the value on this wire again for every step in the backward pass.
#
# A **plan** says what is saved. Here are three plans for a step of 64 sequences and 512 units in float32. `alive` names what is in memory for another reason: the candidate's input product, if nothing overwrites it. (Those of r and z may stay, too; variant 4 does not need them.)

# %%
from rnnlab.graphs.plan import all_plans, cheapest, make_plan

after = step_graph("gru_after", 64, 512, 512)
reverse, product, alive = mirror(after), "h·U_nᵀ+c_n", ("x·W_nᵀ+b_n",)
plans = {"V3": ("r", "z", "n"), "V4": ("r", "z", product),
         "save all": ("r", "z", "n", product)}
for name, saved in plans.items():
    plan = make_plan(after, reverse, saved, alive)
    print(f"{name:9} saves {plan.saved_bytes / 1024:.0f} KiB a step, "
          f"recomputes {plan.extra_gemms} GEMM and "
          f"{plan.extra_flops / 1e6:.2f} MFLOP")

# %% [markdown]
# Variant 4 saves the product **instead of** n. It needs the same memory, and elementwise operations, a tanh among them, recompute n. **Predict:** is there a better plan with three wires, or with two? One step has few wires, so `cheapest` simply tries all subsets.

# %%
my_guess = ...
wire = 4 * 64 * 512  # bytes
print(f"{len(all_plans(after, reverse, alive))} plans tried")
for wires in range(5):
    plan = cheapest(after, reverse, wires * wire, alive)
    print(f"room for {wires}: save {', '.join(plan.saved) or 'nothing':22} "
          f"recompute {plan.extra_gemms} GEMM, "
          f"{plan.extra_flops / 1e6:6.2f} MFLOP")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With room for three wires the search finds variant 4: r, z and the product; r ∘ product, a sum, tanh and 1 − z are computed again (0.13 MFLOP); a tanh counts as one. With two, a product is computed again (34 MFLOP).
#
# </details>
#
# **Break it:** replace `alive` by `()` in the cell above. What does a plan with three wires cost now?
#
# <details><summary>Answer</summary>It saves r, z, n and computes a product again: without the input product, n cannot be computed. So variant 4 needs no more memory only where that stays anyway. Our V3 lets it go; our V4 keeps it, for all gates: twice the memory.</details>
#
# ### Exercise: its gradient
#
# <!-- exercise: gru_backward -->
#
# ## 8 · Five variants
#
# Each variant is a **rung** (an implementation) of the course's **ladder** (the list of all implementations). The fifth beside the four of the notes is variant 3, with the product of **all** steps recomputed in one call.
#
# **Guess** how many different gradients the five compute. The cell compares those of the recurrent weights, and prints the calls for 8 steps, forward + backward.

# %%
from rnncourse.lab.gru_variants import PUBLISHED, VARIANTS, measure
from rnncourse.lab.turns import disturbance, take_turns
from rnnlab.ladder.properties import LedgerSizes

my_guess = ...
T, B, H = 20, 8, 32
x, dy = rng.standard_normal((2, T, B, H))
parameters = Network.create("gru", H, H, dtype="float64", seed=3).parameters
gradient, stated, eight = {}, {}, LedgerSizes(8, B, H, G=3)
for rung in VARIANTS:
    first_two = rung.name in ("gru_textbook", "gru_stacked")
    reset = "before" if first_two else "after"
    network = Network.create("gru", H, H, reset=reset,
                             dtype="float64").with_parameters(parameters)
    _, _, saved = rung.module.forward(network, x, None)
    _, _, gradients_of = rung.module.backward(network, saved, dy, None)
    gradient[rung.name] = gradients_of["weight_hh_l0"]
    ledger = rung.properties.ledger  # a test of the course counts these calls
    stated[rung.name] = ledger.forward(eight), ledger.backward(eight)

# %% [folded]
# Print how far the gradients lie apart, and the calls.
for name in gradient:
    from_V1, from_V3 = (
        relative_error(gradient[name], gradient[other])
        for other in ("gru_textbook", "gru_reset_after")
    )
    print(f"{name:22} {from_V1:5.0e} from V1, {from_V3:5.0e} from V3; "
          "{:2} + {:2} calls".format(*stated[name]))
print(f"your guess: {my_guess} different gradients")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Two, by the columns: V1 and V2 compute one, V3 to V5 the other.
#
# </details>
#
# ## 9 · What the clock says
#
# The notes measured V1 to V4 on a TitanX at minibatch 128: the time of V1 divided by that of each variant, read off their figure. Theirs is the time inside GPU kernels; ours, below, is that of the whole program, with Python and copies: float32, 3 steps, forward and backward, variants taking turns, median of 5 rounds.
#
# **Predict** from the counts (fewer calls, faster): will a CPU give the same order, at small sizes and at large ones? The cell takes 4 to 15 s on an idle machine, and minutes on a busy one. If another program kept the cores busy, the first lines say so: do not believe the table then.
#
# Below it stands the spread, the distance between the quartiles as a share of the median. Where the quartiles of two variants overlap, the measurement cannot say which is faster; the next cell then calls the order undecided, unless another pair is reversed and more than 5 % apart. **Change** `rounds` to 20 while your machine is idle: does the answer stay?

# %%
my_guess = ...
sizes = (128, 256, 512, 1024)
cases = measure(sizes, (128,), T=3, rounds=5)

# %% [folded]
# Print the speeds beside those of a TitanX.
for case in cases:
    if warning := disturbance(case.timings):
        print(f"hidden {case.hidden_size}: {warning}")
if missing := sizes[len(cases) :]:
    print("left out, because one size took more than a minute:",
          ", ".join(map(str, missing)), "units")
print("speed relative to V1, minibatch 128")
print("hidden   TitanX, published: V1   V2   V3   V4     here: V1   V2   V3   "
      "V4   V5")
here = {case.hidden_size: case.relative_speed() for case in cases}
for units, speeds in PUBLISHED.items():
    titan = " ".join(f"{speed:.2f}" for speed in speeds)
    own = " ".join(f"{speed:.2f}" for speed in here.get(units, ()))
    print(f"{units:6}                  {titan}           {own or '-'}")
print("\nspread of V1 to V5")
for case in cases:
    spreads = "  ".join(f"{timing.relative_spread:.0%}"
                        for timing in case.timings.values())
    print(f"hidden {case.hidden_size:4}: {spreads}")
print("you guessed", my_guess)

# %%
def has_titan_order(case):
    """Is each of V1 to V4 faster than the ones before it, as on the TitanX?
    (Not asked of V3 and V4 where they were equal there, at 128 units.)"""
    titan = PUBLISHED[case.hidden_size]
    low, high = np.transpose([timing.spread
                              for timing in case.timings.values()])
    pairs = [(k, later) for later in range(4) for k in range(later)
             if titan[later] > 1.01 * titan[k]]
    if disturbance(case.timings):
        return "disturbed"
    if any(low[later] > 1.05 * high[k] for k, later in pairs):
        return "no"
    same = all(high[later] < low[k] for k, later in pairs)
    return "yes" if same else "undecided"


orders = {case.hidden_size: has_titan_order(case) for case in cases}
orders_say = ", ".join(f"{units}: {says}" for units, says in orders.items())
print(f"the TitanX's order here, by units? {orders_say}")
print("here, as medians:")
for case in cases:
    V1, V2, V3, V4, V5 = (timing.median for timing in case.timings.values())
    print(f"hidden {case.hidden_size:4}: V3 takes {V3 / V2:.2f} of V2's time, "
          f"V4 {V4 / V3:.2f} of V3's, V5 {V5 / V3:.2f} of V3's")

# %% [markdown]
# ## 10 · Why a CPU and a GPU differ
#
# The picture also shows the arithmetic. No variant reduces it: stacking moves the work into fewer calls, and V3 even **adds** some work. The next cell counts which share of a step V3 computes a second time, forward and backward together.
#
# Then the cell measures times on this machine: three products, the same three stacked, one product, and the tanh that V4 computes instead of that product. **Predict:** how many tanhs could you compute in the time of one product, at 128 units and at 1,024?


# %%
from functools import partial


def three_products(h, U):
    """h [B,H] times each third of U [3*H,H]."""
    return [h @ part.T for part in np.split(U, 3)]


after = step_graph("gru_after", 128, 1024, 1024)
reverse = mirror(after)
extra = make_plan(after, reverse, plans["V3"], alive).extra_flops
print(f"V3 recomputes {extra / (after.flops() + reverse.graph.flops()):.1%} of "
      "a step, forward and backward")
my_guess = {128: ..., 1024: ...}  # tanhs in the time of a product
B = 128
for H in (128, 256, 512, 1024):
    h, U = (rng.standard_normal(shape).astype("float32")
            for shape in ((B, H), (3 * H, H)))
    ways = {"three products": partial(three_products, h, U),
            "stacked": partial(np.matmul, h, U.T)}
    ways |= {"one": partial(np.matmul, h, U[:H].T), "tanh": partial(np.tanh, h)}
    times = take_turns(ways, 7)
    words = ", ".join(f"{name} {1e6 * timing.median:.0f} µs"
                      for name, timing in times.items())
    ratio = times["one"].median / times["tanh"].median
    if warning := disturbance(times):
        print(warning)
    guessed = f", your guess {my_guess[H]}" if H in my_guess else ""
    print(f"hidden {H:4}: {words} ({ratio:.0f} tanhs a product{guessed})")

# %% [markdown]
# Which of three explanations agree with what you measured?
#
# 1. **A larger call gains less where a small one keeps the machine busy.** A GPU must fill thousands of lanes: on the TitanX V3 was faster than V2 at every size. On a few cores, expect V3 to be **slower** than V2 by up to the share that it recomputes; if not, stacking saves more than that.
# 2. **V4 does not recompute that share.** Expect V4 to be faster than V3 by about this share, where products need most of the time.
# 3. **At small sizes elementwise calls count.** They run on one core, and V4 also copies what it saves. So V4 may be the slowest at 128 units.

# %% [markdown]
# Section 9's last lines compare V3 with V2, and V4 and V5 with V3. A difference below the spread neither confirms an explanation nor contradicts it.
#
# Where a ratio is larger than that, none of the three is enough. We saw that on two cores at small sizes: V3, V4 or V5 took far longer than these explanations allow. We do not know why; calls, copies and what fits into which cache are candidates that nothing here separates.
#
# ## Recap
#
# **A picture of a GRU shows its gradient, how many products each variant calls forward, and what it must save, before anything runs. Which variant is faster must be measured, and the times of single products explain only a part of it.**
#
# The scoreboard gets the first and the fourth variant: a GRU has three times the products of the tanh network. Their order may differ from section 9's: the scoreboard has 256 units, 64 sequences and 16 steps on one core, section 9 has 128 sequences and 3 steps on all cores.

# %%
from rnncourse import scoreboard
from rnnlab.ladder import gru_store_product, gru_textbook

ways, networks = {}, {}
for name, rung, reset in (("V1", gru_textbook, "before"),
                          ("V4", gru_store_product, "after")):
    networks[name], x, state, dy = scoreboard.problem("gru", reset=reset)

    def step(rung=rung, network=networks[name], x=x, state=state, dy=dy):
        return rung.backward(network, rung.forward(network, x, state)[2], dy,
                             None)

    ways[f"training a GRU, {name}"] = step
timings = scoreboard.measure("04", ways, networks["V1"], scoreboard.TRAINING)

# %% [folded]
# Print the variants with their calls and speeds.
published = PUBLISHED[cases[-1].hidden_size]
measured = cases[-1].relative_speed()
rows = [
    ("V1 textbook", "6T", "-"), ("V2 stacked", "1 + 2T", "-"),
    ("V3 reset after", "1 + T", "T, of B rows"),
    ("V4 keep U·h, not n", "1 + T", "none, n instead"),
    ("V5 V3, all at once", "1 + T", "1, of T·B rows"),
]
print(f"hidden {cases[-1].hidden_size}, minibatch 128")
print(f"{'':22}{'calls forward':15}{'products again':17}TitanX  here")
for k, (name, forward, again) in enumerate(rows):
    on_titan = f"{published[k]:.2f}" if k < len(published) else "-"
    print(f"{name:22}{forward:15}{again:17}{on_titan:>6}{measured[k]:6.2f}")

# %% [folded]
# Print what this run says of the claim, and your progress.
steps = {name: graph.gemms() for name, graph in variants.items()}
counted = list(steps.values())  # section 6
programs = [forward for forward, _ in stated.values()]  # section 8, V1 to V5
counts_hold = (counted == [6 * 8, 1 + 2 * 8, 1 + 8]
               and programs == counted + 2 * counted[-1:])
off = relative_error(dh, exact)  # section 4
print("claim, gradient:", "holds" if off < 1e-12 else "does NOT hold",
      f"for h in one step: {off:.0e} off")
print("claim, calls:", "holds" if counts_hold else "does NOT hold",
      f"forward, on the graph and as the programs state, for T = 8:\n  {steps}")
again = {name: make_plan(after, reverse, plans[name], alive).extra_gemms
         for name in ("V3", "V4")}
print("claim, what to save:", "holds" if again == {"V3": 1, "V4": 0}
      else "does NOT hold", f"by count on the graph; products again: {again}")
faster = ("does NOT hold; the order depends on the machine"
          if "no" in orders.values() else "holds on this machine"
          if {*orders.values()} == {"yes"} else "undecided here")
print("claim, which is faster:", faster)
print(f"  the TitanX's order here, by units? {orders_say}")
rnnlab.progress("04_differentiable_graphs")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which nodes send a gradient back without needing any saved value?</summary>Sum, copy, bias and 1 − a.</details>
#
# <details><summary>Why is the mirror of a copy a sum?</summary>Each reader of a wire changes the loss on its own; the gradients of all of them add up.</details>
#
# <details><summary>Why does a GRU with the reset before the product need 1 + 2T calls even when stacked?</summary>The candidate's product needs r∘h, so it cannot share a call with the products of r and z.</details>
#
# <details><summary>When is resetting after the product the same function as resetting before it?</summary>If U_n is diagonal, or if r has the same value in all units; and if there is no bias c_n, which the gate would scale, too.</details>
#
# <details><summary>Variant 4 saves as many arrays as variant 3. What does it avoid, and what must stay in memory beside them?</summary>One product a step in the backward pass; the input product of all steps must stay in memory.</details>

# %% [markdown]
# ## Sources
#
# - J. Engel, *Optimizing RNNs with Differentiable Graphs*, 2016 (svail/diff_graphs): the notation, the six rules, variants 1 to 4 and their speeds on a TitanX (Maxwell) without boost, read off a figure to about 0.003. Credits the idea of variant 4 to S. Sengupta.
# - K. Cho et al., *Learning Phrase Representations using RNN Encoder–Decoder*, 2014: the GRU with its reset gate before the product.
# - lmnt-com/haste, an open implementation that stores four values a unit and step instead of three.
# - Variant 5 is not in the notes; it comes from this course.
#
# Next: [05 · Shapes of products](05_gemm_shapes.ipynb)
