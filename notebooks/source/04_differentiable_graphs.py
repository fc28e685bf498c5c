# %% [markdown]
# # 04 · Gradients read off a picture
#
# **Claim: a picture of a GRU tells, before any clock runs, how many matrix products each variant calls, what it must remember for the way back, and which of two variants is faster.**
#
# You will draw cells, turn the arrows round, count, and let a clock judge the last part.
#
# - **Time:** 120 minutes, exercises included.
# - **You need:** [02 · back through time](02_bptt.ipynb) and what a GRU and an LSTM compute.
# - **Afterwards you can** read a gradient off a graph, see what must be saved, transform a cell so that it calls fewer products, and plan its memory under a limit.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A cell as a circuit
#
# In these pictures **wires carry tensors** and **nodes are functions** without memory. Weights are inputs like any other, so one rule serves gradients of inputs and of parameters.
#
# You draw by writing the equation. Below is one step of a tanh network, for 4 sequences, 3 inputs and 5 units. `×` is a matrix product, `+b` adds a bias to every row.

# %%
import numpy as np

from rnnlab import drawings
from rnnlab.graphs.draw import draw, side_by_side
from rnnlab.graphs.graph import Sketch, run, sigmoid, tanh

drawings.show("graph_and_mirror")

g = Sketch(x=(4, 3), h=(4, 5), W=(5, 3), U=(5, 5), b=(5,))
g.h_next = tanh(g.x @ g.W.T + g.h @ g.U.T + g.b)
rnn = g.graph("h_next")
draw(rnn)

# %% [markdown]
# Every wire has a shape, and a node refuses what does not fit. **Predict:** what will the engine say about `g.x @ g.U.T`? Read the message before you go on: it names both wires.

# %%
try:
    g.x @ g.U.T
except ValueError as mistake:
    print(mistake)

# %% [markdown]
# ## 2 · Six rules
#
# Let `d` be the gradient that arrives at a node's output. Each kind of node sends something back:
#
# | node | sends back | needs |
# |---|---|---|
# | sum a + b | d to both | nothing |
# | copy: one wire, two readers | d₁ + d₂ | nothing |
# | bias, added to each row | d, and Σ d over the rows | nothing |
# | elementwise a ∘ b | d ∘ b and d ∘ a | a, b |
# | product a · b | d · bᵀ and aᵀ · d | a, b |
# | function h = f(a) | d ∘ f′, written on h | h |
#
# The right column decides what a network must remember. **Look for** the two rules that are each other's mirror image.

# %% [markdown]
# Trust none of it: hold one rule against differences. A node alone is a graph too. **Guess** the relative error that central differences leave in float64, in powers of ten.

# %%
from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.graphs.mirror import gradients, mirror

my_guess = 1e-3

g = Sketch(a=(3, 2), b=(2, 4))
g.y = g.a @ g.b
alone, rng = g.graph("y"), np.random.default_rng(0)
values = {wire: rng.standard_normal(shape) for wire, shape in alone.inputs.items()}
d = rng.standard_normal((3, 4))
loss = lambda b: (d * run(alone, values | {"b": b})["y"]).sum()
wanted = reference.numerical_gradient(loss, values["b"])
error = relative_error(gradients(alone, values, {"y": d})["b"], wanted)
print(f"you guessed {my_guess:.0e}; error {error:.0e}")

# %% [markdown]
# ### Exercise: the rules
#
# <!-- exercise: graph_rules -->
#
# Write them in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb). Your function gets only the values that a rule needs. This is how far you are in this lesson:

# %%
rnnlab.progress("differentiable_graphs")

# %% [markdown]
# ## 3 · Turn the arrows round
#
# With the rules, the gradient needs no algebra. Keep every node in its place, turn every arrow, and replace each node by its rule: a sum becomes a copy, a copy becomes a sum.
#
# Solid green wires need nothing saved. **Dashed red** ones carry a value that the reverse pass reads; in the reverse picture each node names what it reads.

# %%
side_by_side(rnn)

# %% [markdown]
# A tanh network must remember x, h and h_next, and nothing in between: the states are kept anyway. So its only memory is its states.
#
# Does the mirrored graph give the gradients of lesson 02? Unroll 6 steps, run forward and mirror, and compare with the reference.

# %%
from rnnlab.graphs.cells import network_gradients, sequence_graph, step_graph, wire_values
from rnnlab.network import Network

T, B, I, H = 6, 4, 3, 5
network = Network.create("rnn_tanh", I, H, dtype="float64", seed=1)
x, state, dy = rng.standard_normal((T, B, I)), network.zero_state(B), rng.standard_normal((T, B, H))
graph = sequence_graph("rnn_tanh", T, B, I, H)
found = gradients(graph, wire_values(network, x, state), {f"h{t + 1}": dy[t] for t in range(T)})
_, _, wanted = reference.backward(network, reference.forward(network, x, state)[2], dy)
for name, gradient in network_gradients(network, found).items():
    print(f"{name:13} relative difference {relative_error(gradient, wanted[name]):.0e}")

# %% [markdown]
# ## 4 · A GRU
#
# A few lines declare a GRU with the reset gate **before** its product, as first published in 2014. Compare them with the picture.
#
# **Predict** before you look: how many nodes read `h`? Each reader sends a gradient back, and they all meet there.

# %%
from rnnlab.graphs.cells import gru_before

rnnlab.show_source(gru_before)
gru = step_graph("gru_before", 4, 3, 5)
side_by_side(gru)

# %% [markdown]
# Now read its gradient. Put a finger on `dh_next` in the lower picture and walk left: one line of code for each node you pass. At z two gradients meet, from z itself and, with the sign turned, from 1 − z. At h **four** meet.

# %%
values = {wire: rng.standard_normal(shape) for wire, shape in gru.inputs.items()}
wires, dh_next = run(gru, values), rng.standard_normal((4, 5))
h, r, z, n = (wires[name] for name in ("h", "r", "z", "n"))

da_n = dh_next * (1 - z) * (1 - n**2)
da_z = dh_next * (h - n) * z * (1 - z)
drh = da_n @ wires["U_n"]
da_r = drh * h * r * (1 - r)
dh = dh_next * z + drh * r + da_r @ wires["U_r"] + da_z @ wires["U_z"]

print(f"h is read by {len(gru.readers('h'))} nodes")
wanted = gradients(gru, values, {"h_next": dh_next})["h"]
print(f"dh read off the picture: relative difference {relative_error(dh, wanted):.0e}")

# %% [markdown]
# **Break it:** leave out `drh * r`, run the cell, and look at the error. No shape protests: only a comparison finds a forgotten wire.
#
# Now light the nodes one at a time, forward first, then in reverse. The line below says what a node reads, makes and needs. Then try the switches: which one changes the number of GEMM calls most? A **GEMM** is a general matrix product, one call of the library.

# %%
from rnnlab.widgets.graph_stepper import explore_graph

explore_graph()

# %% [markdown]
# ### Exercise: an LSTM backward
#
# <!-- exercise: lstm_backward -->
#
# Two states come in and two gradients come back. The picture stands in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb).
#
# ## 5 · Fewer, larger products
#
# Small products waste a machine (lesson 05 measures how much). Two may share a call if neither waits for the other:
#
# - **over gates:** W_r, W_z and W_n all multiply x, so stack the weights;
# - **over time:** W multiplies x₁ … x_T, all known before the loop, so stack the inputs.
#
# Each is a function from graph to graph; it reads off the wires what waits for what. **Predict:** of the 6T calls of the GRU above, how many remain with both?

# %%
from rnnlab.graphs.transform import reset_after, stack_gates, stack_time, stack_weight_gradients

my_guess = "T"
for T in (1, 10, 40):
    counts = []
    for cell in ("gru_before", "lstm"):
        plain = sequence_graph(cell, T, 2, 3, 4)
        counts += [plain.gemms(), stack_time(stack_gates(plain)).gemms()]
    print("T = {:2}: GRU {} calls, stacked {}; LSTM {} calls, stacked {}".format(T, *counts))
print(f"you guessed {my_guess} for the GRU")

# %% [markdown]
# The LSTM goes from 8T to 1 + T. The GRU stops at 1 + **2**T: in the picture, the product with U_n waits for r∘h, and r waits for another product. One wire in the wrong place costs a call in every step.
#
# ### Exercise: count
#
# <!-- exercise: count_gemms -->
#
# In [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb), for any cell.
#
# ## 6 · Move one node
#
# Put the reset gate **behind** the product, r∘(h·U_nᵀ) instead of (r∘h)·U_nᵀ, and all three recurrent products read h. That is variant 3 of the 2016 notes that this lesson follows, and what cuDNN and PyTorch compute.
#
# **Predict:** is it the same function? Stacking is: it must give the same numbers up to rounding. Run both.

# %%
T = 8
before = sequence_graph("gru_before", T, B, I, H)
variants = {
    "V1 textbook": before,
    "V2 stacked": stack_time(stack_gates(before)),
    "V3 reset after": stack_time(stack_gates(reset_after(before))),
}
values = {wire: rng.standard_normal(shape) / 2 for wire, shape in before.inputs.items()}
wanted = run(before, values)[f"h{T}"]
for name, graph in variants.items():
    back = stack_weight_gradients(mirror(graph).graph)
    apart = relative_error(run(graph, values)[f"h{T}"], wanted)
    print(f"{name:14} {graph.gemms():2} calls forward, {back.gemms():2} backward, {apart:.0e} from V1")

# %% [markdown]
# V1 and V2 are one function, V3 is another one. A network trained with one cannot run with the other; trained afresh, the notes report extremely similar accuracy.
#
# **Break it:** for which weights would V3 be the same after all? If U_n only scales each unit, r may act before or after it. Test that with a diagonal U_n, then with one number off the diagonal.

# %%
diagonal = np.diag(rng.standard_normal(H))
nearly = diagonal + 0.01 * np.eye(H, k=1)
for name, U_n in {"diagonal": diagonal, "nearly diagonal": nearly}.items():
    V1, _, V3 = (run(graph, values | {"U_n": U_n})[f"h{T}"] for graph in variants.values())
    print(f"U_n {name:15}: V3 is {relative_error(V3, V1):.0e} from V1")

# %% [markdown]
# ### Exercise: reset after
#
# <!-- exercise: gru_reset_after -->
#
# Write variant 3 over a whole sequence in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb). The product you are given counts your calls.
#
# ## 7 · Save it, or make it again
#
# Each red wire is either **saved** on the way forward or **recomputed** on the way back. Inputs, weights and states are there anyway; the rest is your choice. Below is a step of variant 3. **Look for** the one wire that had no match in the GRU before, and is red.

# %%
after = step_graph("gru_after", 4, 3, 5)
for name, graph in {"reset before": gru, "reset after": after}.items():
    inner = [wire for wire in mirror(graph).needed(graph) if wire not in graph.inputs]
    print(f"{name:13} needs {', '.join(inner)}")
side_by_side(after)

# %% [markdown]
# The new red wire is h·U_nᵀ + c_n: r's gradient needs its other factor. Whoever saves r, z and n, the outputs of the gates, must run that product again in every step of the way back.
#
# A **plan** says what is saved. Here are three of a step of 64 sequences and 512 units in float32. `alive` names what is stored for another reason: the input product of all steps, if nothing overwrites it.

# %%
from rnnlab.graphs.plan import all_plans, cheapest, make_plan

after = step_graph("gru_after", 64, 512, 512)
reverse, product, alive = mirror(after), "h·U_nᵀ+c_n", ("x·W_nᵀ+b_n",)
plans = {"V3": ("r", "z", "n"), "V4": ("r", "z", product), "save all": ("r", "z", "n", product)}
for name, saved in plans.items():
    plan = make_plan(after, reverse, saved, alive)
    print(
        f"{name:9} saves {plan.saved_bytes / 1024:.0f} KiB a step, "
        f"makes again {plan.extra_gemms} GEMM and {plan.extra_flops / 1e6:.2f} MFLOP"
    )

# %% [markdown]
# Variant 4 saves the product **in place of** n. Same memory, and n comes back by one tanh. **Predict:** is there anything better within three wires, or within two? One step has few wires, so `cheapest` simply tries all subsets.

# %%
wire = 4 * 64 * 512  # bytes
print(f"{len(all_plans(after, reverse, alive))} plans tried")
for wires in range(5):
    plan = cheapest(after, reverse, wires * wire, alive)
    print(
        f"room for {wires}: save {', '.join(plan.saved) or 'nothing':22} "
        f"again {plan.extra_gemms} GEMM, {plan.extra_flops / 1e6:6.2f} MFLOP"
    )

# %% [markdown]
# Without being told, the search finds variant 4. **Break it:** replace `alive` by `()` in the cell above. What does a plan with three wires cost now, and why? That is the small print of "no additional memory": the input product must survive.
#
# ### Exercises: its gradient, its memory
#
# <!-- exercise: gru_backward -->
#
# <!-- exercise: plan_memory -->
#
# Both in [work/04_differentiable_graphs.ipynb](../work/04_differentiable_graphs.ipynb).
#
# ## 8 · Five variants, one network
#
# The course has each variant as a rung of its ladder, forward and backward. A fifth stands beside the four of the notes: variant 3, with the product of **all** steps made again in one call, since by then every h is known.
#
# First: which of them agree? **Guess** two pairs before you run the cell. Compared are the gradients of the recurrent weights.

# %%
from rnnlab.bench.gru_variants import PUBLISHED, VARIANTS, measure

T, B, H = 20, 8, 32
x, dy = rng.standard_normal((2, T, B, H))
parameters = Network.create("gru", H, H, dtype="float64", seed=3).parameters
gradient = {}
for rung in VARIANTS:
    reset = "before" if rung.name in ("gru_textbook", "gru_stacked") else "after"
    network = Network.create("gru", H, H, reset=reset, dtype="float64").with_parameters(parameters)
    _, _, saved = rung.module.forward(network, x, None)
    gradient[rung.name] = rung.module.backward(network, saved, dy, None)[2]["weight_hh_l0"]
for name in gradient:
    from_V1, from_V3 = (
        relative_error(gradient[name], gradient[other]) for other in ("gru_textbook", "gru_reset_after")
    )
    print(f"{name:22} {from_V1:5.0e} from V1, {from_V3:5.0e} from V3")

# %% [markdown]
# ## 9 · What the clock says
#
# The notes measured V1 to V4 on a TitanX at minibatch 128: the time of V1 divided by that of each variant, read off their figure. Now the same here: float32, 4 steps, forward and backward, variants taking turns, median of 5 rounds.
#
# **Predict** from the counts: where will a CPU agree? The cell takes 5 to 20 s. The lines below the table say how far to trust a digit: two variants closer than the middle half of their rounds have not been told apart. Then **change** `rounds` to 20 while your machine is idle; add 2048, or minibatches down to 8, if you have some minutes.

# %%
cases = measure((128, 256, 512, 1024), (128,), T=4, rounds=5)
print("speed relative to V1, minibatch 128")
print("hidden   TitanX, published: V1   V2   V3   V4     here: V1   V2   V3   V4   V5")
for case in cases:
    published = " ".join(f"{speed:.2f}" for speed in PUBLISHED[case.hidden_size])
    here = " ".join(f"{speed:.2f}" for speed in case.relative_speed())
    print(f"{case.hidden_size:6}                  {published}           {here}")
print("\nmiddle half of the rounds, as a share of the median")
for case in cases:
    quartiles = [(timing.spread, timing.median) for timing in case.timings.values()]
    shares = "  ".join(f"{(upper - lower) / median:.0%}" for (lower, upper), median in quartiles)
    print(f"hidden {case.hidden_size:4}: {shares}")

# %% [markdown]
# ## 10 · Why here is not there
#
# The picture also tells the arithmetic, which no variant reduces: stacking moves work into fewer calls, and V3 even **adds** some. How much? Count the operations of a step of V3, forward and in reverse, and what it makes again.

# %%
after = step_graph("gru_after", 128, 1024, 1024)
reverse = mirror(after)
all_work = after.flops() + reverse.graph.flops()
again = make_plan(after, reverse, plans["V3"], alive).extra_flops
print(f"a step, forward and in reverse: {all_work / 1e9:.2f} GFLOP")
print(f"V3 makes again {again / all_work:.1%} of that")

# %% [markdown]
# So V3 must win back that share by its larger calls. Does it, here? Measure three prices on this machine: a product, three of them stacked, and the tanh that V4 pays instead of a product. **Predict:** at which size is the tanh the dearer one?


# %%
import timeit


def microseconds(function, *arguments):
    """Best of seven calls."""
    return 1e6 * min(timeit.repeat(lambda: function(*arguments), number=1, repeat=7))


def three_products(h, U):
    """h [B,H] times each third of U [3*H,H]."""
    return [h @ part.T for part in np.split(U, 3)]


B = 128
for H in (128, 256, 512, 1024):
    h, U = (rng.standard_normal(shape).astype("float32") for shape in ((B, H), (3 * H, H)))
    three, stacked = microseconds(three_products, h, U), microseconds(np.matmul, h, U.T)
    one, pointwise = microseconds(np.matmul, h, U[:H].T), microseconds(np.tanh, h)
    print(
        f"hidden {H:4}: three products {three:5.0f} us, stacked {stacked:5.0f} us; "
        f"one {one:5.0f} us, tanh {pointwise:3.0f} us"
    )

# %% [markdown]
# Hold your table against three explanations. Which of them does it bear out?
#
# 1. **A larger call is cheaper only if a small one leaves the machine idle.** A GPU must fill thousands of lanes, so on the TitanX V3 gained on V2 at every size. Two cores are full sooner: expect V3 **behind** V2 by about the share it makes again.
# 2. **V4 spares that share for a tanh.** Expect V4 ahead of V3 by as much, where products dominate. V5 pays it, in one call of a good shape.
# 3. **At small sizes neither counts.** Each NumPy call costs about a microsecond before it does anything, and V3 to V5 make more pointwise calls.
#
# The picture told calls, memory and arithmetic exactly. Which variant is *faster* also takes prices, of a call and of an operation in it, and those belong to a machine: that half of the claim holds only where they are known. On the TitanX, too, the gain shrank at 2048, where products already filled it.
#
# ## Recap

# %%
published = PUBLISHED[1024]
here = cases[-1].relative_speed()
rows = [
    ("V1 textbook", "6T", "-"),
    ("V2 stacked", "1 + 2T", "-"),
    ("V3 reset after", "1 + T", "T products"),
    ("V4 keep U·h, not n", "1 + T", "T times tanh"),
    ("V5 V3, again at once", "1 + T", "1 product"),
]
print("hidden 1024, minibatch 128")
print(f"{'':22}{'calls forward':15}{'made again':14}TitanX  here")
for k, (name, calls, again) in enumerate(rows):
    there = f"{published[k]:.2f}" if k < len(published) else "-"
    print(f"{name:22}{calls:15}{again:14}{there:>6}{here[k]:6.2f}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which nodes send a gradient back without needing any saved value?</summary>Sum, copy and bias.</details>
#
# <details><summary>Why is the mirror of a copy a sum?</summary>Each reader of a wire changes the loss on its own; the gradients of all of them add up.</details>
#
# <details><summary>What keeps the textbook's GRU at 1 + 2T calls?</summary>The candidate's product waits for r∘h, so it cannot share the call with those of r and z.</details>
#
# <details><summary>When is resetting after the product the same function as resetting before it?</summary>If U_n is diagonal, or if r has the same value in all units.</details>
#
# <details><summary>Variant 4 stores as much as variant 3. What does it spare, and what must stay alive for that?</summary>One product a step on the way back; the input product of all steps.</details>

# %% [markdown]
# ## Sources
#
# - J. Engel, *Optimizing RNNs with Differentiable Graphs*, 2016 (svail/diff_graphs): the notation, the six rules, variants 1 to 4 and their speeds on a TitanX (Maxwell) without boost, read off a figure to about 0.003. Credits the idea of variant 4 to S. Sengupta.
# - K. Cho et al., *Learning Phrase Representations using RNN Encoder–Decoder*, 2014: the GRU with its reset gate before the product.
# - lmnt-com/haste, an open implementation that stores four values a unit and step instead of three.
# - Variant 5 is not in the notes. Its idea, that U·h of all steps can be made again at once, is this course's.
