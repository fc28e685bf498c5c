# Course map: threads that synchronise once per pass; schedules as data; the same network in PyTorch, PyTensor, Halide, JAX

# %% [markdown]
# # 07 · Threads
#
# **Claim to test: with two cores an RNN trains twice as fast, wherever you let them share the work. Is that so?**
#
# You will see three places and measure two of them on your machine (lesson 08 measures the third); the recap prints the verdict.
#
# - **Time:** 75 minutes, exercises included.
# - **You need:** [06 · One pass over memory](06_numba_cpu.ipynb).
# - **Afterwards you can** split a minibatch between threads, say how often they may synchronise, and find the best number of threads from three measured times.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · Where can two threads share an RNN?
#
# A step waits for the step before it, so time cannot be shared directly. Within a layer three things can: the **products** (BLAS cuts each of them), the **units** of a layer, and the **sequences** of a minibatch, which are independent of each other in the forward pass.
#
# NumPy's BLAS shares products by itself, unless it is held to one thread, as in lesson 06. `numba_parallel` shares sequences: each thread takes its own through all steps.
#
# **Predict:** how many times as fast as one thread is each of the two on your machine, for 100 steps, 32 sequences and 256 units?

# %%
import numpy as np
from threadpoolctl import threadpool_limits

from rnncourse import drawings
from rnncourse.lab.turns import disturbance, take_turns, verdict
from rnnlab.ladder import one_big_gemm
from rnnlab.ladder import numba_parallel
from rnnlab.resources import usable_cores
from rnnlab.network import Network

drawings.show("three_cuts")
print(usable_cores(), "cores")

my_guess = {"products shared": ..., "sequences shared": ...}
network = Network.create("rnn_tanh", 128, 256, seed=0)
rng = np.random.default_rng(0)
x = rng.normal(size=(100, 32, 128)).astype("float32")
dy = rng.normal(size=(100, 32, 256)).astype("float32")


def training_step(rung, threads, B=32):
    """Forward and backward of B sequences, on so many threads."""
    with threadpool_limits(threads):
        _, _, saved = rung.forward(network, x[:, :B])
        rung.backward(network, saved, dy[:, :B])

# %% needs a compiler
from functools import partial

cores = usable_cores()
ways = {
    "products, one thread": partial(training_step, one_big_gemm, 1),
    "products shared": partial(training_step, one_big_gemm, cores),
    "sequences, one thread": partial(training_step, numba_parallel, 1),
    "sequences shared": partial(training_step, numba_parallel, cores),
    "a share, one thread": partial(training_step, numba_parallel, 1,
                                   -(-32 // cores)),
}
times = take_turns(ways, 7, settled=True)

# %% [folded] needs a compiler
# Print how many times as fast each way is.
disturbed, speedups = disturbance(times), {}
print(disturbed)
for kind in ("products", "sequences"):
    one, many = (times[f"{kind}{end}"] for end in (", one thread", " shared"))
    low, high = (one.spread[k] / many.spread[1 - k] for k in (0, 1))
    speedups[kind] = one.median / many.median, low, high
    print(f"{kind}: {1e3 * one.median:.1f} ms → {1e3 * many.median:.1f} ms, "
          f"{one.median / many.median:.2f} times ({low:.2f} to {high:.2f}); "
          f"you guessed {my_guess[f'{kind} shared']}")
share = times["a share, one thread"].median
print(f"one thread's share of the sequences, alone: {1e3 * share:.1f} ms")

# %% [markdown]
# A factor near the number of cores says that sharing cost nothing. Below it, something was lost. With shared products, NumPy's passes between the products stay on one core. The products in the loop over time are small, too: 32 sequences with 256 units are 4 MFLOP, a few hundredths of a millisecond for two cores, and each step starts the other thread and waits for it. Below 1, this cost more than sharing saved. (`settled=True` waits until BLAS's threads are idle: section 4 says why.) Two “cores” can also be the two hardware threads of a single core (SMT): then both share its arithmetic units.
#
# The last line is what one thread's share takes alone: its products have fewer rows, but a BLAS usually packs all weights for each of them (lesson 05). What shared sequences take beyond it is serial work (starting, adding up gradients), waiting for the slower thread, and what threads lose by SMT, a shared cache, a lower clock or other programs. With one thread the two differ, too: shared sequences use lesson 06's loops.

# %% [markdown]
# ## 2 · Barriers
#
# A point at which all threads wait for each other is a **barrier**; to wait there is to *synchronise*. To share products takes a barrier at every product. To share sequences takes one a layer and pass, at its end. A thread that arrives early waits, and that happens all the time: another program runs, or a cache misses.
#
# **Predict:** eight steps, four threads, a barrier costs a tenth of a step, and a share is up to a fifth longer or shorter than an even one. What is left of the fourfold speed with a barrier at every step?

# %%
from rnncourse.views.thread_timeline import (STEP, barrier_every_step,
                                             explore_threads)

my_guess = ...
left = 8 * STEP / barrier_every_step(4, 8, barrier=10, uneven=20).makespan
print(f"{left:.2f} times as fast as one thread; you guessed {my_guess}")
drawings.show("threads_and_barriers")
explore_threads()

# %% [markdown]
# Two things cost time: the barriers themselves, and waiting at them. With one barrier the fast and the slow steps of a thread even out before any thread waits. Make the shares even (the last slider at 0): what do the barriers alone cost?
#
# <details class="outcome"><summary>What came out</summary>
#
# With a barrier at every step, four threads are 2.60 times as fast as one; with even shares 2.86 times. So the barriers alone cost 1.14 of the fourfold speed, and waiting at them 0.26 more.
#
# </details>
#
# Now the measurement. The loop over time runs in shares, with a barrier after every step, then in longer pieces with a barrier after each. A barrier here ends one call from Python in each thread and begins the next one, so its price includes these calls.

# %% needs a compiler
from rnnlab.kernels.compiled import recurrence
from rnnlab.kernels.compiled.threads import shares, together
from rnnlab.kernels.compiled.threads import single_threaded_blas as one_blas

weights = np.ascontiguousarray(network.parameters["weight_hh_l0"].T)
bias, h = np.zeros(256, "float32"), np.zeros((101, 32, 256), "float32")
gates = rng.normal(size=(100, 32, 256)).astype("float32")

# %% needs a compiler
def loop(gates, h, low, high):
    """The loop over time of some sequences; h also where others have c."""
    compiled = recurrence.loops("rnn_tanh").forward
    compiled(gates, weights, bias, bias, h, h, h, low, high)


def in_pieces(steps):
    """The loop over time in shares with a barrier after so many steps."""
    with one_blas():
        for t in range(0, 100, steps):
            part = gates[t : t + steps], h[t : t + steps + 1]
            together([partial(loop, *part, *share)
                      for share in shares(32, cores)])


pieces = (1, 2, 5, 20, 100)
times = take_turns({steps: partial(in_pieces, steps) for steps in pieces}, 9)

# %% [folded] needs a compiler
# Print the time for each distance between barriers.
print(disturbance({str(steps): timing for steps, timing in times.items()}))
for steps in pieces:
    ms = 1e3 * times[steps].median
    print(f"a barrier every {steps:3} steps: {ms:6.2f} ms, {100 // steps:3} "
          "barriers")

# %% needs a compiler
barrier = max(times[1].median - times[100].median, 0.0) / 99
print(f"a barrier, calls and waiting: about {1e6 * barrier:.0f} µs; one step "
      f"of all sequences on all cores {1e4 * times[100].median:.0f} µs")

# %% [markdown]
# That is why the loop over time belongs *inside* a thread. (A barrier of 0 µs says that another program disturbed the run.) Numba's `prange`, OpenMP and BLAS have T barriers, too, if they share work in the time loop. Theirs are cheaper, without calls from Python; the smaller the steps, the more they count. The rule has an exception, a single sequence with a large layer: there only the units can be shared.
#
# ### Exercise: the shares
#
# <!-- exercise: split_minibatch -->
#
# In [work/07_parallel_cpu.ipynb](../work/07_parallel_cpu.ipynb).

# %% [markdown]
# ## 3 · Where sequences are added
#
# The gradient of a weight is a sum over all sequences. If each thread adds to the same array, two of them may read the same old value, and one addition is lost: a **race**. See it happen, with threads that you start: `nogil` lets compiled functions run at the same time, although Python's own code runs in one thread at a time.
#
# **Predict:** two threads add 1 to the same 64 counters, 20 million times each. What do the counters add up to?

# %% needs a compiler
from threading import Thread

from numba import njit


@njit(nogil=True)
def add_ones(counters, times):
    for k in range(times):
        counters[k % counters.size] += 1


def count(own, threads=2, times=20_000_000):
    """Sum of the counters: all threads share them, or each thread has its
    own."""
    counters = np.zeros((threads if own else 1, 64), "int64")
    crew = [Thread(target=add_ones, args=(counters[k % len(counters)], times))
            for k in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    return int(counters.sum())

# %% needs a compiler
my_guess = ...
add_ones(np.zeros(1, "int64"), 1)  # compiled before it counts
lost = [40_000_000 - count(own=False) for _ in range(5)]
print("lost of 40,000,000 in five runs:", lost, "you guessed "
      f"{40_000_000 - my_guess}")
print("lost with counters of their own:", 40_000_000 - count(own=True))
print("additions were lost" if any(lost) else "none was lost: the threads "
      "hardly ran at the same time; run it again")

# %% [markdown]
# `counters[k] += 1` is a load, an addition and a store; of two threads that loaded the same number, the one that stores last wins. A run that loses nothing proves nothing. If a lock lets one thread add at a time, nothing is lost, but the order of the additions differs from run to run, and floating-point sums depend on the order.
#
# So each thread gets an array of its own, and one thread adds them up at the end, always in the same order. **Predict:** are two runs of `numba_parallel` then equal to the last bit? And is a run with one thread equal to a run with several?

# %%
drawings.show("sums_of_threads")

# %% needs a compiler
def gradient(threads):
    with threadpool_limits(threads):
        _, _, saved = numba_parallel.forward(network, x)
        return numba_parallel.backward(network, saved, dy)[2]["weight_hh_l0"]


my_guess = ..., ...
once, again, alone = gradient(cores), gradient(cores), gradient(1)

# %% [folded] needs a compiler
# Print whether the bits are equal.
print("two runs, same threads: equal bits?", np.array_equal(once, again))
print("one thread: equal bits?", np.array_equal(once, alone),
      "largest difference "
      f"{np.abs(once - alone).max() / np.abs(alone).max():.0e} of the largest "
      "gradient")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The same number of threads gives the same bits (some libraries need a setting for that), another number in general another rounding: the sum is cut at other places. Tests that compare bits must fix the number of threads; so must you when you search for a bug.
#
# </details>
#
# ### Exercise: one sum
#
# <!-- exercise: sum_gradients -->

# %% [markdown]
# ## 4 · Two thread pools on the same cores
#
# BLAS has threads of its own, and each of our threads calls BLAS. Then there can be more threads than cores. Idle threads of BLAS do not sleep at once: they *spin*, which means that they look for work in a loop and keep their core busy.
#
# **Predict:** how many times as long does our loop take if BLAS keeps its threads?

# %% needs a compiler
from contextlib import nullcontext

my_guess = ...


def ours(holding_blas):
    """Four loops over time in our shares, BLAS held to one thread or not."""
    with holding_blas():
        for _ in range(4):  # woken threads settle on their cores
            together([partial(loop, gates, h, *share)
                      for share in shares(32, cores)])


crowds = {"BLAS held to one thread": partial(ours, one_blas),
          "BLAS with its own threads": partial(ours, nullcontext)}
times = take_turns(crowds, 7, settled=True)
print(disturbance(times))
for name, timing in times.items():
    low, high = timing.spread
    print(f"{name}: {250 * timing.median:7.2f} ms, half of the runs between "
          f"{250 * low:.2f} and {250 * high:.2f}")
single, several = times.values()
disjoint = (single.spread[1] < several.spread[0]
            or several.spread[1] < single.spread[0])
print(f"with its own threads {several.median / single.median:.2f} times as "
      f"long; you guessed {my_guess};", "the halves",
      "do not overlap" if disjoint else "overlap")
drawings.show("two_thread_pools")

# %% [markdown]
# If the halves overlap, this run shows no difference, whatever the factor. If they do not, a factor above 1 can have three reasons: threads take turns on the cores, the library lets one caller at a time use its threads, or each small product gets barriers of its own. Below 1, BLAS may have used cores that ours left idle. On two busy cores, where other programs ran four threads a core, we saw a factor of 18.
#
# `numba_parallel` holds every BLAS in the process to one thread while its own run, and gives the threads back afterwards. The caller's other threads have a single-threaded BLAS meanwhile, too. A library should never assume that the cores are its own.

# %% [markdown]
# ## 5 · How far can it go?
#
# Some work stays serial: calls, the sum of the gradients, and whatever was not split. **Amdahl's law** says what is left: if a share s of the run is serial, no number of threads gives more than 1/s. If each further thread also adds a cost at the barrier, there is a best number of threads, and more threads are slower.
#
# Below, the law is fitted to your machine from two times: one thread, and all threads. What the threads lose in other ways (section 1) counts as serial, too: “not shared, or lost”. The ranges come from the quartiles of the measured times: a wide one says that two times cannot tell the limit.

# %% needs a compiler
times = take_turns({n: partial(training_step, numba_parallel, n)
                    for n in (1, cores)}, 9, settled=True)
one, many = times[1].median, times[cores].median
gained = max(one - many, 0.0)
shared = min(gained / (1 - 1 / cores), one) if cores > 1 else one
serial = one - shared

# %% [folded] needs a compiler
# Print what was not shared, and Amdahl's limit.
print(f"one thread {1e3 * one:.1f} ms, {cores} threads {1e3 * many:.1f} ms")
print(f"not shared, or lost {1e3 * serial:.1f} ms, "
      f"shared {1e3 * shared:.1f} ms")
quartiles = [times[1].spread[k] / times[cores].spread[1 - k] for k in (0, 1)]
if not gained:
    print("nothing was gained: one core, or other programs use them; run this "
          "cell again")
else:
    lost = [(cores / speed - 1) / (cores - 1) for speed in quartiles]
    low, high = (f"{1 / part:.1f}" if part > 0 else "∞" for part in lost)
    print(f"Amdahl's limit, if all of it is serial: {low} to {high} times one "
          "thread")
print(f"speed-up between {quartiles[0]:.2f} and {quartiles[1]:.2f} times. "
      f"{disturbance({str(n): times[n] for n in times})}")

# %% [folded] needs a compiler
# Draw Amdahl's limit for several shares, and for your machine.
from rnncourse.figures.picture import PALETTE, canvas, show

n, mine = np.arange(1, 65), serial / one
figure, axis = canvas(width=6.5, height=3.2)
yours = 1 / (mine + (1 - mine) / n)
if gained:
    axis.plot(n, yours, ":", color=PALETTE["purple"],
              label=f"{mine:.0%} not shared, or lost: yours")
    axis.plot([1, cores], [1, one / many], "o", color=PALETTE["purple"])
for share, colour in ((0.0, "black"), (0.01, "blue"), (0.05, "green"),
                      (0.2, "red")):
    axis.plot(n, 1 / (share + (1 - share) / n), color=PALETTE[colour],
              label=f"{share:.0%} serial")
    costly = 1 / (share + (1 - share) / n + 0.001 * (n - 1))
    axis.plot(n, costly, "--", color=PALETTE[colour])
axis.set(xscale="log", yscale="log", xlabel="threads",
         ylabel="times one thread",
         title="dashed: each thread at a barrier costs 0.1 % of the run")
axis.set_xticks((1, 4, 16, 64), ("1", "4", "16", "64"))
axis.set_yticks((1, 4, 16, 64), ("1", "4", "16", "64"))
axis.legend(fontsize=8)
fitted = (f"Fitted to your machine: {mine:.0%} not shared, or lost; 64 threads "
          f"{yours[-1]:.1f} times one." if gained else
          "No curve is fitted to your machine: more threads gained nothing.")
show(figure, alt="With 5 % serial work 64 threads reach 15 times one thread; "
     "with a price of 0.1 % a thread all curves turn down again, the one "
     "without serial work at 32 threads. " + fitted)

# %% [markdown]
# ### Exercise: the limit
#
# <!-- exercise: amdahl_limit -->
#
# Then put your own machine's numbers into it: what is not shared as serial, the shared time, and the barrier's from section 2. (The fit has barriers in it already: the answer is rough.)

# %% [markdown]
# ## 6 · The order of work, as data
#
# In 2016 two students at Carnegie Mellon wrote an RNN in **Halide**, a language that keeps *what* is computed apart from the **schedule**: the order of the loops, tiles, vectors, threads. They tried eight schedules on 61 cores. Compiled ahead of time, the best took 2.9 s an epoch in the long run (3.7 s in their table of schedules), and NumPy 0.95 s, says their progress report. (Their web page has other times; NumPy is ahead there, too.)
#
# **Predict:** what was missing: threads, vectors, tiles, or something else? The answer is folded below the picture. The picture shows one run on one machine; diamonds are the project's own table.

# %%
my_guess = ...
from rnncourse import records
from rnncourse.figures.picture import show
from rnncourse.records import cmu_picture, cmu_report

paths = records.stored("bench cmu")
if paths:
    epoch = records.read(paths[-1])
    print(cmu_report.heading(epoch))
    show(cmu_picture.draw(epoch), alt=cmu_picture.finding(epoch))
else:
    print("no record is kept; `rnnlab bench cmu --record` makes one")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The project's schedules have threads, vectors and tiles. What they lack is a tile whose loads serve **several rows**, with its sums in registers: they load a vector of weights, multiply once, and load the next. So the loads set the pace. The experiment below shows what such loads are worth; with Numba the sums still go through a cache.
#
# </details>
#
# A schedule needs no language of its own. Here is one as a dictionary; Numba compiles it, and Halide too where it is installed.

# %% needs a compiler
from importlib.util import find_spec

from rnncourse.loop_nests.race import race, race_all
from rnncourse.lab.apart import ProcessEnded, call_apart

sizes = (288, 288, 288)
tries = {
    "vectors": {"tile": {"n": 16}, "vectorise": 8},
    "vectors, threads": {"tile": {"n": 16}, "vectorise": 8, "parallel": True},
    "a tile of 4 rows by 2 vectors":
        {"tile": {"m": 4, "n": 16}, "vectorise": 8},
    "the same, k outside": {"order": "kmn", "tile": {"m": 4, "n": 16},
                            "vectorise": 8},
}
raced = {}
for by in filter(find_spec, ("numba", "halide")):
    try:  # in its own process: if its code crashes, this notebook continues
        raced[by] = call_apart(race_all, tries, sizes, by=by, rounds=3)
    except ProcessEnded as ended:
        print(f"{by} is left out: {ended}")
for name in tries:
    print(name, *(f"    {races[name]}" for races in raced.values()), sep="\n")
for by, races in raced.items():
    gain = (races["a tile of 4 rows by 2 vectors"].gflops
            / races["vectors"].gflops)
    print(f"{by}: the tile reaches {gain:.1f} times the rate of vectors alone")

# %% [markdown]
# Each vector of weights that the tile loads serves four rows, each number of the states two vectors. With k outside, all sums, 332 kB, pass by once for each term; in a tile the same 64 sums stay at hand.
#
# Halide keeps them in registers ([docs/halide.md](../docs/halide.md)). Numba cannot know that `out` and `b` are not the same memory, so it writes each sum to the nearest cache and reads it back. Lesson 08 finds the best tile, and makes Numba keep its sums in registers.
#
# **Break it:** let threads share the outermost loop of the last schedule, the one with k outside. **Predict** what that gains.

# %% needs a compiler
my_guess = ...
try:
    result = race(tries["the same, k outside"] | {"parallel": True}, sizes,
                  rounds=3)
    print(f"{result}; you guessed {my_guess}")
except ValueError as refused:
    print(f"{refused}; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Nothing: it is refused. All threads would add to the same sums, which is the race of section 3. A schedule changes only the order of the work, but not every order is right.
#
# </details>

# %% [markdown]
# ## 7 · Beside the others
#
# The same training step by every rung and by PyTorch, JAX, Halide and Theano's successor PyTensor, each in a process of its own, in turns, with as many threads each. This is a record, of which the picture shows the fastest rung, JAX and PyTensor; `make peers` and `rnnlab bench cpu` measure yours.
#
# **Predict:** at how many sequences does PyTorch come nearest to the fastest rung, between 1 and 64?

# %%
my_guess = ...

# %% [folded]
# Draw the record that comes nearest to your machine.
from rnncourse.records import cpu_picture, cpu_report

ladder = cpu_report.newest()
if ladder:
    print(cpu_report.heading(ladder))
    print(cpu_picture.nearest(ladder), "You guessed", my_guess)
    show(cpu_picture.draw(ladder), alt=cpu_picture.finding(ladder))
else:
    print("no record is kept; `rnnlab bench cpu --record` makes one")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With a single sequence Numba and JAX, which compile the loop over time, are fastest: the others pay for calls between the products. Where steps are large, the faster products decide. `packed_weights`, which lesson 08 builds, has products of its own. What bounds each size stands in [docs/performance.md](../docs/performance.md). PyTorch comes near in the largest steps, where both spend most of their time on multiply-adds, and with an LSTM, which it hands to a library. The line above the picture names the nearest case and the rung's speed over PyTorch's: below 1, PyTorch is ahead. If a line names other programs, a lead of a few percent says nothing. “Bare products” are NumPy's calls; a rung with fewer calls or packed weights can pass them.
#
# </details>
#
# **Predict** your own rows of the scoreboard: how many times as fast is the forward pass if sequences are shared?

# %% needs a compiler
from rnncourse import scoreboard

my_guess = ...
network, x, state, _ = scoreboard.problem("rnn_tanh")
forward = lambda: numba_parallel.forward(network, x, state)
seconds = {
    n: scoreboard.measure("07", {f"sequences shared, threads: {n}": forward},
                          network, threads=n, show=n == cores)
    for n in sorted({1, cores})
}
one, many = (next(iter(seconds[n].values())).median for n in (1, cores))
print(f"{one / many:.2f} times as fast with {cores} threads; you guessed "
      f"{my_guess}")

# %% [markdown]
# Below the number of cores, what is missing was lost as section 1 says, or to other programs; a star marks rows that those disturbed. A row can pass 100 %: that is one large product on one core, in a single measurement.
#
# ## Recap
#
# **The smaller the steps, the more a barrier in each of them costs: shared sequences need one a layer and pass. BLAS is held to one thread, and gradients are added up in a fixed order. Whether two cores are then twice as fast depends on the machine: products with fewer rows, serial work and shared hardware can cost time.**

# %% [folded] needs a compiler
# Print what this run says of the claim.
reached = ", ".join(f"{kind} shared {speedup[0]:.2f} times"
                    for kind, speedup in speedups.items())
least, low, high = min(speedups.values())
says = verdict(least > 0.9 * cores, disturbed)
if cores == 1 or (low < 0.9 * cores < high and not disturbed):
    says = "is undecided: one core, or a range with 0.9 times the cores in it"
print(f"claim: {says}; cores here: {cores} ({0.9 * cores:.1f} times "
      f"counts as reached): {reached}")

# %% [folded]
# Print the lesson in a table, and your progress.
rows = [
    ("what can be shared", "products, units, sequences; not time directly"),
    ("a barrier", "threads wait for the last one: as few as possible"),
    ("sequences shared", "one barrier a layer and pass, not one a step"),
    ("gradients", "an array a thread, added up in a fixed order"),
    ("two pools of threads", "hold one of them to a single thread"),
    ("Amdahl", "the serial part bounds all; barriers make a best number"),
    ("schedule", "the order of work, apart from the work"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")
rnnlab.progress("07_parallel_cpu")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why is the loop over time inside the threads, and not the threads inside the loop?</summary>Threads that share a step need a barrier after each of T steps; threads that share sequences need one a layer and pass.</details>
#
# <details><summary>Why are two runs with two threads equal to the last bit, and not equal to a run with one?</summary>The sum over sequences is cut in two at the same place each time; with one thread it is not cut.</details>
#
# <details><summary>A tenth of a run is serial. What do 1,000 cores give at most?</summary>Ten times, and a little less.</details>
#
# <details><summary>What did eight schedules with threads, vectors and tiles lack?</summary>A tile that uses each load several times, with its sums in registers: they loaded a vector for every multiply-add.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN), 2016: the eight schedules and their times.
# - G. M. Amdahl, *Validity of the single processor approach*, AFIPS 1967.
# - J. Ragan-Kelley et al., *Halide*, PLDI 2013: schedules apart from algorithms.
# - [docs/halide.md](../docs/halide.md) and [docs/performance.md](../docs/performance.md): how the two records were made.
#
# Next: [08 · Packed products](08_packed_products.ipynb)
