# Course map: the T itself goes: scans, a cell made for them, a chain of blocks, BPTT as one scan; a GRU solved for all steps at once, and when that fails

# %% [markdown]
# # 18 · Parallel in time
#
# **Claim to test: a recurrent network of T steps needs T dependent steps. Does it?**
#
# Lessons 15 and 16 made a step as short as a chip allows, and ended at a floor: T steps, each at least one exchange of the state. You will try to get by with fewer of them: first for a linear recurrence, then on a GPU, then for a GRU, which is not linear.
#
# - **Time:** 160 minutes, exercises included.
# - **You need:** [02 · Back through time](02_bptt.ipynb), [03 · Training](03_training.ipynb), [16 · Tensor cores, registers, clusters](16_persistent_cuda.ipynb). No GPU.
# - **Afterwards you can** write a scan and say what it costs, choose a cell and write a kernel for it that waits correctly, and say for which networks the steps need not follow one another.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("chain_of_steps")

# %% [markdown]
# ## 1 · What is left after lesson 16
#
# The lower bound of a step on an H200 is the exchange of the state between blocks: lesson 16 computed it. A model of today reads sequences of 100,000 steps. **Predict:** how long does one layer take for them at this bound, if nothing else takes any time?

# %%
from pocketgpu.devices import DEVICES
from rnnlab.kernels.persistence.floor import floor
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape

def lower_bound(H, B):
    """Microseconds of a GRU's step at least, by the quicker of lesson 16's two
    kernels."""
    shapes = (cluster_shape("gru", H, "bfloat16", gpu),
              grid_shape("gru", H, "bfloat16", B, gpu))
    return min(floor(shape, B, gpu).step for shape in shapes)

my_guess = ...  # milliseconds
gpu, T = DEVICES["H200"], 100_000
lowest = lower_bound(256, 8)
print(f"lower bound of a step {lowest:.2f} µs, of {T:,} steps "
      f"{1e-3 * T * lowest:.0f} ms; you guessed {my_guess}")
# bytes: read and written, 8 sequences, 256 units, 16 bits
moved = 2 * T * 8 * 256 * 2
print(f"reading and writing its states once: {moved / gpu.bandwidth / 1e6:.1f} "
      "ms")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 31 ms for one layer; to move all states would take 0.2 ms. The chip waits: only one step can run at a time, and a step is small. (This holds for lesson 16's two kernels; other designs may wait less.)
#
# </details>
#
# ## 2 · A step is a map
#
# Take the simplest recurrence, `h[t] = a[t]·h[t−1] + b[t]`. For a fixed t this is an affine map: multiply by a, add b. What do two steps do together?
#
# $$a_2(a_1 h + b_1) + b_2 = (a_2 a_1)\,h + (a_2 b_1 + b_2)$$
#
# That is one affine map again. So steps can be joined **before anybody knows h**.

# %%
import numpy as np

from rnnlab import scan
from rnnlab.scan import Maps

rng = np.random.default_rng(0)
first, second, third = (Maps(rng.uniform(-1, 1, (1, 1)),
                             rng.normal(size=(1, 1))) for _ in range(3))
both = scan.compose(second, first)
h = np.array([[2.0]])
print("step by step:", second.a * (first.a * h + first.b) + second.b,
      "  as one map:", both.a * h + both.b)
left = scan.compose(third, scan.compose(second, first)).b
right = scan.compose(scan.compose(third, second), first).b
print("grouped differently:", left, right, "in the other order:",
      scan.compose(first, second).b, "not", both.b)

# %% [markdown]
# Grouping does not matter: the composition is **associative**. Order does: it is not **commutative**. An associative operation can be applied to T things in a tree. All prefixes together are called a **scan** (or prefix sum).
#
# ### Exercise: two maps as one
#
# <!-- exercise: compose_affine -->
#
# In [work/18_parallel_in_time.ipynb](../work/18_parallel_in_time.ipynb), for steps whose a is a matrix: then the order inside the product matters, too.
#
# A tree has levels, and only levels wait for each other. **Predict** for T = 1024: how many levels does a scan need, and how many compositions, where the loop needs 1,023 of both?

# %%
from functools import partial

my_guess = {"levels": ..., "compositions": ...}
T = 1024
maps = Maps(rng.uniform(-1, 1, (T, 1)), rng.normal(size=(T, 1)))
SCANS = {"sequential": scan.sequential, "hillis_steele": scan.hillis_steele,
         "blelloch": scan.blelloch,
         "chunks of 32": partial(scan.chunked, chunk=32)}
for name, run in SCANS.items():
    sizes = []
    counted = lambda later, earlier: (
        sizes.append(len(later.b)) or scan.compose(later, earlier))
    scan.states(maps, np.zeros(1), partial(run, compose=counted))
    print(f"{name:14} {len(sizes):5} levels  {sum(sizes):6} compositions")
print("you guessed", my_guess)
drawings.show("scan_levels")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Ten levels instead of 1,023, for nine times the work: 9,217 compositions (Hillis and Steele). Or nineteen levels for twice the work, 2,036 (Blelloch). Chunks need 63 levels and 2,015 compositions: 31 for the loops inside all chunks at once, 31 for a loop over their results, and one that composes each result with all steps of the next chunk.
#
# </details>
#
# Step through the two trees.
#
# ### Exercise: a scan by chunks
#
# <!-- exercise: scan_by_chunks -->
#
# Any associative `compose` will do. The check counts your levels; a loop over time has too many.

# %% [markdown]
# ## 3 · A cell made for it
#
# In a GRU the gates and the candidate read h, so a step is not affine in h. Feng and others (2024) let both read x alone, left out tanh and the reset gate, and called the result a **minimal GRU**:
#
# $$z_t = \sigma(W_z x_t + b_z), \qquad h_t = (1 - z_t)\,h_{t-1} + z_t\,(W_n x_t + b_n)$$
#
# Its a is 1 − z and its b is z·n, where n is the bracket after z: all can be computed before the first state is known. It has no recurrent weights. The course's cell `min_gru` has a rung of its own.

# %%
from rnnlab import reference
from rnnlab.ladder import find
from rnnlab.network import Network

network = Network.create("min_gru", 8, 32, seed=0)
x = rng.standard_normal((1000, 4, 8)).astype("float32")
layer = network.layer(0)
z, n = np.split(x @ layer.weight_ih.T + layer.bias_ih, 2, axis=-1)
z = 1 / (1 + np.exp(-z))
by_scan = scan.states(Maps(1 - z, z * n), np.zeros((4, 32), "float32"))
loop, _, _ = reference.forward(network, x)
print(f"largest difference of scan and loop: {np.abs(by_scan - loop).max():.1e}"
      f", of numbers up to {np.abs(loop).max():.1f}")
print(find("parallel_in_time").refuses(Network.create("gru", 8, 32), 1000, 4))

# %% [markdown]
# What was given up? A gate that reads h can decide by what the network has stored. **Predict:** which of three cells learns the adding problem of lesson 03 over 20 steps: a tanh RNN, a GRU, a minimal GRU? And a minimal GRU with two layers, whose second layer reads the first one's state?

# %%
from rnnlab.tasks import adding
from rnnlab.training import Adam, Model, evaluate, fit

my_guess = [...]
task, shares = adding.task(20), {}
for cell, layers in (("rnn_tanh", 1), ("gru", 1), ("min_gru", 1),
                     ("min_gru", 2)):
    model = Model.create(cell, 2, 24, 1, seed=1, layers=layers)
    rung = find("parallel_in_time" if cell == "min_gru"
                else "one_big_gemm").module
    model, _ = fit(model, task, Adam(0.01), 400, seed=1, clip=1.0, rung=rung,
                   progress=False)
    shares[cell, layers] = evaluate(model, task) / task.baseline.value
    print(f"{cell:9} {layers} layer(s): {shares[cell, layers]:6.1%} of the "
          "baseline's error")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The tanh network learns nothing in these 400 updates: 99.5 % of the baseline's error is left. The minimal GRU keeps what it stores, since a = 1 − z may stay near 1: 14 % is left, and with two layers 2.4 %. The GRU leaves less than 1 %. One layer learns more slowly: with four times the updates (not run here) it came below 1 %, too. So this task does not show what was given up: one layer cannot let a *stored* number decide what happens to the next one. A second layer can.
#
# </details>
#
# ### A trap: dividing by a product
#
# A formula that is often written: with $A_t = a_1 a_2 \cdots a_t$, $h_t = A_t \sum_s b_s / A_s$: a cumulative product and a cumulative sum, both ready-made in NumPy. **Predict:** what happens after 1,100 steps with a = 0.9 and b = 0.1 in float32?

# %%
my_guess = ...  # the formula's result after 1100 steps
gates = np.full((1100, 1), 0.9, "float32")
A = np.cumprod(gates, axis=0)
with np.errstate(all="ignore"):
    by_division = A * np.cumsum((1 - gates) / A, axis=0)
by_scan = scan.states(Maps(gates, 1 - gates), np.zeros(1, "float32"))
for t in (99, 799, 999, 1099):
    print(f"after {t + 1:4} steps: product {A[t, 0]:8.1e}  by division "
          f"{by_division[t, 0]:9.6f}  by scan {by_scan[t, 0]:.6f}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The product leaves the range of float32: below 1e-38 fewer and fewer bits are left, and at 5.6e-45 it stays, because rounding takes it back there. Its reciprocal is infinite. The right answer is 1. A composition never divides: where a product underflows, the old state has no weight any more, and 0 is right. If you need the quotient, take chunks short enough not to underflow, or logarithms, which cost digits (Heinsen 2023).
#
# </details>
#
# ## 4 · On a GPU: a chain of blocks
#
# A warp scans 32 steps by shuffles, in five levels (lesson 10). Many blocks have to hand on their results. Merrill and Garland (2016) need one pass: each block publishes the map of its steps, then **looks back** over the blocks before it until it finds one that knows its last state.

# %%
from rnncourse import look_back
from rnncourse.notebook import show_source

show_source(look_back.look_back)

# %% [markdown]
# Flags have three values: nothing yet, map published, state known. This is the waiting of lesson 15 as a chain in place of a barrier: an atomic read of the flag, then a fence.
#
# **Predict:** for T steps, how many words does a copy read and write, and how many this scan of a and b?

# %%
from rnnlab import cuda

my_guess = {"copy": ..., "scan": ...}  # words a step
blocks = 12
T = 32 * blocks
arrays = look_back.arguments(rng.uniform(-1, 1, T).astype("float32"),
                             rng.normal(size=T).astype("float32"))
launch = cuda.observe(look_back.scan_with_tickets, blocks, 32, *arrays)
want = scan.states(Maps(arrays[0][:, None], arrays[1][:, None]),
                   np.zeros(1, "float32"), scan.sequential)[:, 0]
print("right:", np.allclose(arrays[2], want, atol=1e-5), " findings:",
      len(launch.findings))
if launch.counts:
    loads, stores = launch.counts.global_loads, launch.counts.global_stores
    print(f"{loads} loads and {stores} stores for {T} steps: "
          f"{(loads + stores) / T:.2f} words a step; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# On the simulator, 3.12 words a step. At least three are needed: two inputs and one result. A copy moves two. The rest belongs to the blocks: each writes a map and a state, and 11 read the state before theirs. Atomics are not counted. On a GPU blocks run side by side, and read maps, too.
#
# </details>
#
# Why the ticket? A block that looks back waits for blocks *before* it. CUDA starts blocks in any order. **Break it:** the same kernel takes `blockIdx` for its place in time, on a small GPU that holds 40 of the 60 blocks at once. **Predict** which of the two kernels ends, and its last state: all 1,920 a are 1 and all b are 1.

# %%
my_guess = {"tickets": ..., "no tickets": ...}
for kernel in (look_back.scan_with_tickets, look_back.scan_without_tickets):
    arrays = look_back.arguments(np.ones(1920, "float32"),
                                 np.ones(1920, "float32"))
    if cuda.is_simulated:
        with cuda.settings(device="T4", shuffle=True, seed=0, checks=False,
                           raise_findings=True):
            try:
                kernel[60, 32, 0, 48 * 1024](*arrays)
                print(f"{kernel.__name__}: the last state is "
                      f"{arrays[2][-1]:.0f}")
            except cuda.Findings as found:
                print(f"{kernel.__name__}:", str(found.findings[0])[:190], "…")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# On the simulator 1920 with tickets; without, a deadlock. (On a GPU it might never end: the cell runs on the simulator only.) Forty blocks wait for blocks before them, and no other can start before one of the forty ends. On most GPUs blocks happen to start in order, so the mistake may live for years. With a ticket the blocks number themselves in the order in which they start: whoever waits, waits for a block that runs.
#
# </details>
#
# ### Exercise: a block's scan
#
# <!-- exercise: block_scan_kernel -->
#
# What one warp does by shuffles, for a block of up to 64 threads.
#
# ## 5 · The backward pass was linear all along
#
# Lesson 02: a step's backward pass is linear in dh. For every cell, `dh[t] = Jᵀ[t+1]·dh[t+1] + dy[t]`, where J is the matrix of derivatives of a step, its **Jacobian**. The forward pass may be as nonlinear as it likes: backward the states are known, so J is known. **Predict:** how large is the relative difference between an LSTM's gradients by the loop and by one scan in reverse?

# %%
from rnnlab import newton
from rnnlab.compare import relative_error

my_guess = ...
lstm = Network.create("lstm", 4, 8, dtype="float64", seed=1)
x = rng.standard_normal((200, 3, 4))
y, _, saved = reference.forward(lstm, x)
dy = rng.standard_normal(y.shape)
dx, _, gradients = newton.backward(lstm, x, None, dy)
want_dx, _, want = reference.backward(lstm, saved, dy)
print(f"dx {relative_error(dx, want_dx):.0e}",
      *(f"{name} {relative_error(gradients[name], want[name]):.0e}"
        for name in want), "- you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Only rounding differs, about 1e-15: this is BPTT. (`scan.states` cuts time where products of Jacobians overflow.) Blelloch's scan has about 2·log₂T levels. The price: for a state of S numbers (an LSTM: S = 2H) a composition takes 2·S³ operations. The loop takes 2·G·H² a step, for G gates.
#
# </details>
#
# ### Exercise: BPTT by a scan
#
# <!-- exercise: backward_by_scan -->
#
# ## 6 · The GRU, all steps at once
#
# A GRU is not linear. So its 512 steps must follow one another. **How sure are you?** Suppose that a method works in rounds, on all steps at once. Write how many it needs:

# %%
my_guess = ...  # rounds

# %% [markdown]
# Guess all states: zeros. The guess is wrong, but at a wrong guess every step has a tangent, and a tangent is an affine map. One scan along the tangents gives better states; repeat. This is **Newton's method** for T equations `h[t] − f(h[t−1]) = 0` (Lim and others 2024 call it DEER).

# %%
gru = Network.create("gru", 16, 16, dtype="float64", seed=0)
x = rng.standard_normal((512, 1, 16))
one_by_one, _, saved = reference.forward(gru, x)
steps = newton.steps_of(gru, x)
largest = []
for k, guess in zip(range(1, 7), newton.iterate(steps, np.zeros((1, 16))),
                    strict=False):
    largest.append(np.abs(guess - one_by_one).max())
    print(f"round {k}: largest error of any state {largest[-1]:.0e}")
exact_after = next(k for k, error in enumerate(largest, 1) if error < 1e-10)
diagonal = newton.iterate(steps, np.zeros((1, 16)), diagonal=True)
diagonal_after = next(k for k, guess in enumerate(diagonal, 1)
                      if np.abs(guess - one_by_one).max() < 1e-10)
print(f"within 1e-10 after {exact_after} rounds; you guessed {my_guess}; with "
      f"the diagonals alone {diagonal_after}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **Four.** All 512 states to 1e-13, and to the last digit in the fifth round: once the error is small, each round about doubles the right digits. Composing full Jacobians costs H³ a step. Their diagonals alone cost H, and a guess along them is worse: 16 rounds here.
#
# </details>
#
# State 511 depends on state 0 through 511 steps. Where did that dependence go? Move the sliders; the picture calls a round an iteration. **Look for:** the weights at which four rounds no longer suffice, and which states are exact after k rounds in any case.

# %%
from rnncourse.views.newton_view import explore_newton

explore_newton()

# %% [markdown]
# <details><summary>At which weights, and which states?</summary>At twice the weights the picture's GRU needs five rounds, at four times nine; at eight times 24 rounds are not enough. After k rounds at least the first k states are exact.</details>
#
# Round 1 starts from the given state, so state 0 is right, then state 1, and so on: the method ends after T rounds at the latest, unless a product of growing Jacobians overflows first. It is quick where old states are forgotten: a wrong guess far back then does no harm.
#
# ### Exercise: states by Newton's method
#
# <!-- exercise: newton_states -->
#
# ## 7 · Break it: where time cannot be parallel
#
# Lesson 02: each step multiplies a gradient by a Jacobian, so it grows or fades. So does a small difference between two states. The mean logarithm of its growth in a step is called the largest **Lyapunov exponent**. Below, a tanh RNN of 32 units runs 256 steps with weights of growing size. **Predict:** at which sign of the exponent do the rounds become many?

# %%
my_guess = ...
gains, rates, rounds = (0.5, 1, 2, 3, 3.5, 4, 6, 12), [], []
x = 0.5 * np.random.default_rng(5).normal(size=(256, 1, 4))
for gain in gains:
    network = Network.create("rnn_tanh", 4, 32, dtype="float64", gain=gain,
                             seed=2)
    _, _, saved = reference.forward(network, x)
    steps = newton.steps_of(network, x)
    before = np.stack([step.state[0] for step in saved.steps[0]])
    _, after = steps.run(before)
    rates.append(newton.growth_rate(newton.jacobians(steps, after)))
    rounds.append(newton.solve(steps, np.zeros((1, 32)), 1e-10).iterations)

# %% [folded]
# Draw the rounds over the exponent.
from rnncourse.figures.picture import PALETTE, canvas, show

print("you guessed", my_guess)
figure, axis = canvas(width=6.4, height=3.2)
axis.plot(rates, rounds, "o-", color=PALETTE["blue"])
stages = 2 * 8  # of a round: the tangents, then 15 levels of Blelloch's scan
axis.axhline(256 / stages, linestyle="--", color=PALETTE["red"],
             label="above: a longer chain than the loop's")
axis.axvline(0, color=PALETTE["black"], linewidth=0.8)
axis.set(xlabel="largest Lyapunov exponent, a step", ylabel="rounds",
         title="Newton's rounds for 256 steps")
axis.legend()
show(figure, alt=f"Rounds over the Lyapunov exponent: {rounds[0]} at "
     f"{rates[0]:.2f}, {rounds[-1]} of 256 at {rates[-1]:.2f}; they rise "
     "steeply where the exponent comes near zero, and above "
     f"{256 / stages:.0f} rounds the chain is longer than the loop's.")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The rounds become many just below zero. A round takes 16 stages, the tangents and a scan's 15 levels: beyond 16 rounds the chain is longer than the loop's 256 steps. (A level works more than a step: H³ against H².) Where differences fade quickly, 4, 5 and 11 rounds are enough. Where they hardly fade, about 80 are needed; where they grow, 120 to 256. So memory that fades slowly costs rounds. Only a cell that is linear in h costs none: its tangent is the step itself, and one round is exact.
#
# </details>
#
# **Where differences fade quickly, the steps can run in parallel; near zero and above, this method gains nothing** (Gonzalez and others 2025).
#
# ## 8 · Is it faster?
#
# A loop in Python pays for each step's calls. The rung `parallel_in_time` makes fewer: in NumPy it scans by √T chunks; with Numba one compiled loop runs these 2,000 steps, without a scan. **Predict** for this machine: how many times as long as the loop does this rung take for the minimal GRU, with 1 unit and with 512?

# %%
from importlib.util import find_spec

from rnncourse.lab.turns import disturbance, take_turns

my_guess = {1: ..., 512: ...}
for H in my_guess:
    small = Network.create("min_gru", 16, H, seed=0)
    x32 = rng.standard_normal((2000, 1, 16)).astype("float32")
    times = take_turns({name: partial(find(name).module.forward, small, x32)
                        for name in ("one_big_gemm", "parallel_in_time")},
                       rounds=5)
    if warning := disturbance(times):
        print(warning)
    loop, rung = (times[name].median
                  for name in ("one_big_gemm", "parallel_in_time"))
    print(f"{H:3} units, 2,000 steps: loop {1e3 * loop:.1f} ms, rung "
          f"{1e3 * rung:.1f} ms, {rung / loop:.2g} times as long; you "
          f"guessed {my_guess[H]}")
print("the rung ran", "with Numba" if find_spec("numba") else "in NumPy")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With 1 unit, nearly all of the loop's time is calls in Python. With Numba the rung makes none a step; without it, about 90 in place of 2,000. With 512 units arithmetic and memory cost more, so calls weigh less. With Numba all 2,000 steps still follow one another: waiting was not what cost time. In [docs/performance.md](../docs/performance.md) a scan of 10,000 steps of 16 numbers takes 5.4 ms in NumPy, a compiled loop 0.2.
#
# </details>
#
# No GPU has run this yet: what follows is a model of exchanges, bytes and operations. The GRU's loop takes at least T times lesson 16's bound; with 64 units it fits one cluster, whose exchange is shorter. A scan takes two levels for each doubling of T, each one exchange over the whole chip (0.302 µs), and the bytes of its maps. In each round of Newton's method, a step's full Jacobian is written once and read twice, 3·H² words, and takes 2·2·H³ operations. Diagonals take a scan and one product of all states with the weights. Words have 16 bits; the peak is float32's, in the last line that of tensor cores, on which the loop's bound counts.

# %%
from rnnlab.kernels.persistence.floor import tensor_peak

def predicted_ms(T, H, B=1, rounds=4, diagonal_rounds=16, word=2, teraflops=0):
    """Milliseconds on the H200 of section 1: a GRU's loop, min_gru's scan, the
    GRU by Newton's method twice."""
    exchange = 0.302  # µs
    peak = (teraflops or gpu.peak) * 1e6  # operations a µs
    levels = 2 * np.ceil(np.log2(T)) * exchange
    scan_us = levels + 3 * word * T * B * H / (gpu.bandwidth * 1e3)
    matrices = 3 * word * T * B * H**2 / (gpu.bandwidth * 1e3)
    full = rounds * (levels + matrices + T * B * 2 * 2 * H**3 / peak)
    diagonal = diagonal_rounds * (scan_us + T * B * 2 * 3 * H**2 / peak)
    loop = T * lower_bound(H, B)
    return [1e-3 * time for time in (loop, scan_us, full, diagonal)]


print("ms, model:  H       T GRU's loop   min_gru scan   Newton   Newton, "
      "diagonals")
for H in (64, 256, 512):
    for T in (1_000, 100_000):
        print(f"{H:13} {T:7,}",
              "  ".join(f"{time:10.2f}" for time in predicted_ms(T, H)))
fast = predicted_ms(T, H, teraflops=tensor_peak(gpu))
print(f"the last row by tensor cores, 16 bits: Newton {fast[2]:.0f}, with "
      f"diagonals {fast[3]:.1f}")

# %% [markdown]
# By this model the minimal GRU's scan takes less than 0.1 ms at T = 100,000, where a GRU's loop takes about 30 ms. What it gains over a loop of its own cell, which exchanges nothing, the model does not say. Newton's method with full Jacobians pays for small layers only: 9 ms against 29 with 64 units, 485 against 31 with 256. With diagonals it is ahead with 256 units, 11 ms against 31, and with 512 only by tensor cores: 44 or 4 against 32. All this if 4 and 16 rounds are enough: section 6 shows it for one small random GRU in float64 only. **Change** B: at which minibatch does the loop win again for 256 units at float32's peak? (At 3: 34 ms against 31.) docs/performance.md predicts this for every GPU with a data sheet.
#
# Published, not measured here: ParaRNN (Danieli and others 2025) reports up to 665 times the speed of a naive sequential application, for GRUs and LSTMs whose recurrent weights are diagonal.

# %% [markdown]
# ## Recap
#
# **T steps need not wait for each other one by one: a linear recurrence takes a scan of some multiple of log₂T levels, and a GRU that forgets takes a few of Newton's rounds, each with such a scan. The nearer a network is to chaos, the more rounds it needs, until the loop is the shorter chain.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [("map", "a linear step is (a, b); two are one: (a₂a₁, a₂b₁ + b₂)"),
        ("scan", "all prefixes in log₂T levels; order matters, grouping does "
         "not"), ("look-back", "one pass over blocks: flags of three values, "
                  "tickets by an atomic"),
        ("backward", "linear for every cell: one scan in reverse"),
        ("Newton", "scans of tangents: few rounds where differences fade "
         "quickly"),
        ("limit", "rounds grow as differences grow, for steps that are not "
         "linear in h")]
for name, answer in rows:
    print(f"{name:11}{answer}")
dependent = exact_after * 2 * 9  # a round: tangents, a scan's 17 levels
print("\nclaim, T steps need T dependent steps: "
      f"{'holds' if dependent >= 512 else 'does NOT hold'};\n{exact_after} "
      f"rounds of 18, {dependent} dependent stages for 512 steps of a GRU")
rnnlab.progress("18_parallel_in_time")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which property of the composition lets it run as a tree, and which one does it lack?</summary>It is associative, so it may be grouped in any way. It is not commutative, so the order of time must be kept.</details>
#
# <details><summary>What may a gate of a minimal GRU not do?</summary>Look at the state. What is stored cannot decide what happens to the next input, unless a second layer reads it.</details>
#
# <details><summary>Why does a block take a ticket before it looks back?</summary>It waits for blocks before it. CUDA starts blocks in any order, and a block that has not started may never start while others wait for it.</details>
#
# <details><summary>Why is an LSTM's backward pass one scan, and its forward pass not?</summary>Backward each step multiplies dh by a known matrix. Forward the next state is a nonlinear function of an unknown one.</details>
#
# <details><summary>What do exploding gradients have to do with parallel time?</summary>Both follow from products of Jacobians that grow. Where they grow, a wrong guess spoils everything after it: section 7 needed 120 to 256 rounds for 256 steps.</details>

# %% [markdown]
# ## Sources
#
# - G. Blelloch, *Prefix Sums and Their Applications*, 1990; W. Hillis and G. Steele, *Data Parallel Algorithms*, 1986.
# - D. Merrill and M. Garland, *Single-pass Parallel Prefix Scan with Decoupled Look-back*, NVIDIA 2016; in CUB.
# - E. Martin and C. Cundy, *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018, arXiv 1709.04057.
# - L. Feng and others, *Were RNNs All We Needed?*, 2024, arXiv 2410.01201: the minimal GRU. F. Heinsen, 2023, arXiv 2311.06281: the scan in log space.
# - Y. H. Lim and others, *Parallelizing non-linear sequential models over the sequence length* (DEER), 2024, arXiv 2309.12252. X. Gonzalez and others, 2024, arXiv 2407.19115 (diagonals), and 2025, arXiv 2508.16817 (predictability).
# - F. Danieli and others, *ParaRNN*, 2025, arXiv 2510.21450.
#
# Next: [19 · Capstone](19_capstone.ipynb)
