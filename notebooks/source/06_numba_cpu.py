# Course map: loops fused, a tanh that becomes vectors; what a loop's time is spent on, and when compiling pays

# %% [markdown]
# # 06 · One pass over memory
#
# **Claim to test: for the gates of an LSTM, NumPy spends most of its time on passes over memory, which one compiled loop saves. Is that so?**
#
# You will count the passes, time a loop that makes only one, and find out what else that loop spends its time on. The recap prints the verdict for your machine.
#
# - **Time:** 80 minutes, exercises included.
# - **You need:** [01 · A recurrent network runs](01_rnn_forward.ipynb), what an LSTM computes (section 4 of [lesson 04](04_differentiable_graphs.ipynb)), and Numba, which `make lab` installs. No GPU.
# - **Afterwards you can** fuse loops, write a tanh that becomes vector instructions and say how far it is off, and say when compiling pays.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · What an expression costs
#
# Below is one step of an LSTM, after its matrix products: `a [B,4H]` holds the four gates before their functions. NumPy works out each operation by itself: it reads whole arrays and writes a whole array back, which the next operation reads again.
#
# **Predict:** how many bytes does the step move for each byte that it needs? It needs to read `a` and `c` once, and to write two results once.

# %%
import numpy as np

from rnncourse import drawings
from nbjudge.grading.meter import BYTES, OPERATIONS, count_costs

my_guess = ...
one = np.float32(1)


def step_in_numpy(a, c):
    """(h, c) [B,H] after the step, from gates before their functions a [B,4H]
    and c [B,H]."""
    i, f, g, o = np.split(a, 4, axis=1)
    i, f, o = (one / (one + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


B, H = 64, 512
rng = np.random.default_rng(0)
a, c = (rng.normal(size=(B, 4 * H)).astype("float32"),
        rng.normal(size=(B, H)).astype("float32"))
h_next, c_next = np.empty_like(c), np.empty_like(c)  # for section 2
costs = count_costs(step_in_numpy, a, c)
moved = costs[BYTES]
needed = a.nbytes + 3 * c.nbytes
print(f"{costs[OPERATIONS]} passes move {moved / 1e6:.1f} MB; needed: "
      f"{needed / 1e6:.1f} MB")
print(f"factor {moved / needed:.1f}; you guessed {my_guess}")
drawings.show("passes_over_memory")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 18 passes, and 5.7 times the bytes that are needed.
#
# </details>
#
# Each operation is a **pass** over its arrays. A **cache** is a small, fast memory near the core, which holds copies of what was used last. Where the arrays fit into a cache, a pass costs less; where they do not, each pass waits for memory again. Each result here has 128 KiB, so these passes load and store mostly in caches.
#
# **Loop fusion** changes the order: one loop over the units, and all operations of unit j inside it. The results in between stay in registers.

# %% [markdown]
# ## 2 · One loop, and a surprise
#
# **Numba** translates a Python function to machine code when it is first called; `@njit` is all it takes. Here is the same step in one loop.
#
# **Predict:** by what factor is it faster than NumPy? Both run on one core here.

# %% needs a compiler
import math

from numba import njit

from rnncourse.lab.turns import disturbance, take_turns, verdict

my_guess = ...


@njit
def step_in_one_loop(a, c, h_next, c_next):
    H = c.shape[1]
    for b in range(c.shape[0]):
        for j in range(H):
            i = one / (one + math.exp(-a[b, j]))
            f = one / (one + math.exp(-a[b, H + j]))
            o = one / (one + math.exp(-a[b, 3 * H + j]))
            c_next[b, j] = f * c[b, j] + i * math.tanh(a[b, 2 * H + j])
            h_next[b, j] = o * math.tanh(c_next[b, j])


fused = lambda: step_in_one_loop(a, c, h_next, c_next)
times = take_turns({"NumPy": lambda: step_in_numpy(a, c), "one loop": fused},
                   settled=True)
print(disturbance(times))
for name, timing in times.items():
    print(f"{name:9} {1e9 * timing.median / c.size:6.1f} ns a unit")
factor = times["NumPy"].median / times["one loop"].median
print(f"{factor:.2f} times NumPy's speed; you guessed {my_guess}")
print("same results:", np.allclose(h_next, step_in_numpy(a, c)[0], atol=1e-6))

# %% [markdown]
# The loop moves 5.7 times fewer bytes. If its factor is well below that, something else takes its time. (`settled=True` waits until BLAS's threads are idle and runs each way once untimed, so that its arrays are in cache.) Before you read on: which line do you suspect? **Change** it: replace `exp` and `tanh` by their arguments, run the cell again, and put the functions back. The results are then meaningless, and each division still tests for zero (section 4).
#
# ### Exercise: a GRU's gates in one loop
#
# <!-- exercise: fused_gates -->
#
# In [work/06_numba_cpu.ipynb](../work/06_numba_cpu.ipynb). The check's arrays notice a second pass.

# %% [markdown]
# ## 3 · What a call in a loop costs
#
# A core has registers that hold several numbers, and instructions that work on all of them: **vector instructions**. A compiler can use them if the loop's body is arithmetic alone. `math.tanh` is a function, usually the C library's, which is called for one number at a time. Such a call goes number by number, whatever the rest of the loop does. (Up to Numba 0.61 Intel's SVML could do that; 0.65 calls tanh once per number.)
#
# **Guess** which of these two loops becomes vectors, and how many times as fast it is. The evidence is the machine code, and the clock.

# %% needs a compiler
import re

my_guess = (..., ...)
VECTOR = r"mulps|\bfmul\S*\s+v\d"  # x86, ARM
drawings.show("vector_lanes")


@njit(error_model="numpy")
def with_tanh(a, y):
    for j in range(a.size):
        y[j] = a[j] * a[j] * math.tanh(a[j])


@njit(error_model="numpy")
def with_division(a, y):
    for j in range(a.size):
        y[j] = a[j] * a[j] / (a[j] + a[j] * a[j])


x, y = rng.normal(size=65536).astype("float32"), np.empty(65536, "float32")
timings = take_turns({loop: lambda loop=loop: loop(x, y)
                      for loop in (with_tanh, with_division)})
print(disturbance({loop.__name__: timing for loop, timing in timings.items()}))
for loop, timing in timings.items():
    code = next(iter(loop.inspect_asm().values()))
    calls, vectors = code.count("tanhf"), len(re.findall(VECTOR, code))
    print(f"{loop.__name__}: code names tanh {calls} times, multiplies vectors "
          f"{vectors} times; {1e9 * timing.median / x.size:.2f} ns a number")
slow, fast = (timings[loop].median for loop in (with_tanh, with_division))
print(f"with_division: {slow / fast:.1f} times as fast; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The loop that names no tanh is made of vectors. If the other one multiplies vectors, too, it unpacks each vector and calls tanh once per number, however often the name appears in the code. (Vectors alone explain a factor of 16 at most; the rest is that a tanh is more work than a division.)
#
# </details>
#
# So the loop needs a tanh that is made of arithmetic. Lambert found one in 1768:
#
# tanh a = a / (1 + a² / (3 + a² / (5 + a² / (7 + …))))
#
# Cut off after n levels and multiplied out, it is a times a quotient of two polynomials in a². How good is it? The measure is the **ulp**, the unit in the last place: the distance of two neighbouring float32 numbers there. Half an ulp is as good as rounding gets.
#
# **Predict:** how many levels does it take to stay below 1 ulp up to a = 9? A little beyond, tanh is 1 in float32.

# %%
from rnncourse.lambert import lambert
from rnncourse.figures.picture import canvas, show

my_guess = ...


def ulps_off(got, a):
    """Distance of results from tanh(a), in units of a float32's last place."""
    want = np.tanh(a.astype("float64"))
    return np.abs(got - want) / np.spacing(np.abs(want).astype("float32"))


figure, axis = canvas()
points, worst = np.linspace(0.01, 9, 2000), {}
for levels in (5, 7, 9, 11, 12, 13):
    odd, even = lambert(levels)
    squares = points**2
    quotient = (points * np.polyval(odd[::-1], squares)
                / np.polyval(even[::-1], squares))
    off = ulps_off(quotient, points)
    worst[levels] = off.max()
    axis.semilogy(points, off, label=f"{levels} levels")
axis.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
axis.set(xlabel="a", ylabel="error (float32 ulps)", ylim=(1e-3, 1e7))
axis.legend(fontsize=8, ncols=2)
summary = ", ".join(f"{levels} levels {off:.1g}"
                    for levels, off in worst.items())
show(figure, f"Error in float32 ulps, worst up to a = 9: {summary}. Dotted: "
     "what rounding costs.")
print(summary, "· you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 13 levels: with 12 the error still reaches 6 ulps, with 13 only 0.6. That is two polynomials of seven coefficients, and one division.
#
# </details>
#
# What remains is the rounding of each operation, and the points where formulas break: beyond 9, at ±∞, at NaN, at −0.
#
# ### Exercise: a tanh of arithmetic
#
# <!-- exercise: fast_tanh -->
#
# In [work/06_numba_cpu.ipynb](../work/06_numba_cpu.ipynb). Each operation is counted.

# %% [markdown]
# ## 4 · Five ways to a tanh
#
# Lambert's fraction after seven levels is short enough for one line. It is compiled twice. `error_model="python"`, Numba's default, tests every divisor for zero, because Python raises an error there. `error_model="numpy"` divides and lets ∞ come out. Beside them stand the course's own tanh, the C library's and NumPy's.
#
# **Predict** the order of the five, fastest first.

# %% needs a compiler
from functools import partial

from rnnlab.kernels.compiled import nonlinear

SEVEN = tuple(map(np.float32, (135135, 17325, 378, 62370, 3150, 28)))


def seven_levels(a, c):
    """Lambert's fraction cut after seven levels; c holds its coefficients,
    and at |a| = 4 it is 1.5e-5 off."""
    z = a * a
    return (a * (c[0] + z * (c[1] + z * (c[2] + z)))
            / (c[0] + z * (c[3] + z * (c[4] + z * c[5]))))


def over_an_array(function, error_model):
    """A compiled loop: function(a, coefficients) of every a goes into y."""
    compiled = njit(error_model=error_model)(function)

    @njit(error_model=error_model)
    def loop(a, y, coefficients):
        for j in range(a.size):
            y[j] = compiled(a[j], coefficients)

    return loop


# %% needs a compiler
my_guess = [...]
loops = {f"seven levels, {rule}": over_an_array(seven_levels, rule)
         for rule in ("python", "numpy")}
loops["C library"] = over_an_array(lambda a, c: math.tanh(a), "numpy")
own = lambda a, c: nonlinear.tanh(a)
loops["the course's own"] = over_an_array(own, "numpy")
tanh_ways = {name: partial(loop, x, y, SEVEN) for name, loop in loops.items()}
tanh_ways["np.tanh"] = partial(np.tanh, x, y)

# %% needs a compiler
tanh_times = take_turns(tanh_ways)

# %% [folded] needs a compiler
# Print the times and errors of the five, fastest first.
print(disturbance(tanh_times))
for name in sorted(tanh_ways, key=lambda name: tanh_times[name].median):
    tanh_ways[name]()
    nanoseconds = 1e9 * tanh_times[name].median / x.size
    print(f"{name:21} {nanoseconds:6.2f} ns a number, at most "
          f"{ulps_off(y, x).max():.3g} ulps off")
print("you guessed", ", ".join(my_guess))
tested, untested = (tanh_times[f"seven levels, {rule}"].median
                    for rule in ("python", "numpy"))
print(f"the test for zero makes the same formula {tested / untested:.1f} times "
      "as slow")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# No divisor here can be zero, but the compiler does not know that. With the test, the loop may leave its path at every number, which usually keeps the compiler from making vectors. A factor near 1 says that yours found a way around the test. NumPy's own tanh is made of vectors, too, on most processors, but cannot keep its result in a register for the next operation.
#
# Seven levels are too few for large numbers. The course's own stays within 5 ulps (6.3 where the processor has no fused multiply-add), with 11 coefficients; thirteen levels have 14.
#
# </details>
#
# **Break it:** leave the coefficients in float64, as Python has them. Each product with a coefficient then becomes float64, and a register holds half as many numbers. **Guess** the factor.

# %% needs a compiler
my_guess = ...
coefficients = {"float32": SEVEN, "float64": tuple(map(float, SEVEN))}
widths = take_turns(
    {dtype: partial(loops["seven levels, numpy"], x, y, values)
     for dtype, values in coefficients.items()}
)

# %% [folded] needs a compiler
# Print the times of both widths.
print(disturbance(widths))
for dtype, timing in widths.items():
    print(f"coefficients in {dtype}: {1e9 * timing.median / x.size:.2f} ns a "
          "number")
print(f"factor {widths['float64'].median / widths['float32'].median:.1f}; you "
      f"guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In float64 half as many numbers fit into a register, which explains a factor of 2; conversions and a slower division can add to it.
#
# </details>
#
# ## 5 · The loop again
#
# Here is the loop of the course's ladder. `tanh` and `sigmoid` are its own: a fitted quotient (Eigen's), and a polynomial for eᵃ (Cephes). Both are arithmetic alone, compiled with `error_model="numpy"`: no call and no test for zero is left in the loop. `fastmath=True` (in `OPTIONS`) lets the compiler reorder sums and assume that no number is NaN.

# %% needs a compiler
from rnnlab.kernels.compiled import gates

rnnlab.show_source(gates.lstm)

# %% [markdown]
# It does more than the loop of section 2: it adds the recurrent product, `recurrent`, and the bias, which are zeros here, and stores the gates in `gates`, because the backward pass needs them. Nobody wrote this text by hand: the course derives it from the equation of lesson 04, as it does for every cell.
#
# A loop can be faster for two reasons: fewer passes, or cheaper functions. To tell them apart, `step_in_passes` has the same cheap functions but makes NumPy's 18 passes. It writes into arrays that exist, where NumPy makes new ones. **Predict** again: by what factor is the fused loop faster than NumPy? And how much of that is due to the passes?

# %% needs a compiler
my_guess = ...


@njit
def all_rows(a, zeros, c, c_next, h_next):
    for b in range(len(c)):
        gates.lstm(a[b], zeros, zeros, c[b], c_next[b], h_next[b])


def in_one_pass(function):
    """A compiled pass that writes function(a [B, first:first+H]) into y
    [B,H]."""

    @njit(error_model="numpy", fastmath=True)
    def loop(a, first, y):
        for b in range(y.shape[0]):
            # a slice: `first + j` could be negative, and Numba would test that
            row, result = a[b, first : first + y.shape[1]], y[b]
            for j in range(result.size):
                result[j] = function(row[j])

    return loop


# %% needs a compiler
@njit(error_model="numpy", fastmath=True)
def exponential(a):
    """eᵃ of a float32 within ±87, as inside the course's sigmoid."""
    n = np.floor(a * nonlinear.LOG2_E + nonlinear.HALF)
    r = a - n * nonlinear.LN2_HIGH - n * nonlinear.LN2_LOW
    bits = np.int32((np.int32(n) + nonlinear.BIAS) << nonlinear.MANTISSA)
    return nonlinear.exponential(r) * bits.view(np.float32)


own_tanh, own_exp = in_one_pass(nonlinear.tanh), in_one_pass(exponential)


def step_in_passes(a, c, i, f, g, o, c_next, h_next):
    """The step by the course's own functions in 18 passes, into arrays [B,H]
    that exist."""
    for k, gate in ((0, i), (1, f), (3, o)):
        np.negative(a[:, k * H : (k + 1) * H], out=c_next)
        own_exp(c_next, 0, gate)
        np.divide(one, np.add(one, gate, out=gate), out=gate)
    own_tanh(a, 2 * H, g)
    np.add(np.multiply(f, c, out=f), np.multiply(i, g, out=i), out=c_next)
    own_tanh(c_next, 0, g)
    np.multiply(o, g, out=h_next)


# %% needs a compiler
zeros, work = np.zeros(4 * H, "float32"), a.copy()
gate_arrays = np.empty((4, *c.shape), "float32")
ways = {
    "NumPy": lambda: step_in_numpy(a, c),
    "one loop, C library's tanh": lambda:
        step_in_one_loop(a, c, h_next, c_next),
    "many passes, own functions": lambda:
        step_in_passes(a, c, *gate_arrays, c_next, h_next),
    "one loop, own functions": lambda: all_rows(work, zeros, c, c_next, h_next),
}

# %% needs a compiler
times = take_turns(ways, 15, settled=True)
print(disturbance(times))
for name, timing in times.items():
    print(f"{name:27} {1e9 * timing.median / c.size:6.2f} ns a unit")

# %% needs a compiler
compared = {name: times[name] for name in ("NumPy", *list(ways)[2:])}
numpy_seconds, many, fused_seconds = (timing.median
                                      for timing in compared.values())
disturbed = disturbance(compared)
saved_by_loop = numpy_seconds - fused_seconds
by_functions, by_passes = (1e9 * seconds / c.size
                           for seconds in (numpy_seconds - many,
                                           many - fused_seconds))
of_passes = min(many - fused_seconds, saved_by_loop) / numpy_seconds
print(f"{numpy_seconds / fused_seconds:.1f} times as fast, guessed {my_guess}")
print(f"saved per unit: {by_functions:.2f} ns by other functions and no new "
      f"arrays, {by_passes:.2f} ns by fewer passes")
print(f"fewer passes save {of_passes:.0%} of NumPy's time")
wanted = step_in_numpy(a, c)[0]
step_in_passes(a, c, *gate_arrays, c_next, h_next)
assert np.allclose(h_next, wanted, atol=1e-6)
all_rows(a.copy(), zeros, c, c_next, h_next)
print("same results:", np.allclose(h_next, wanted, atol=1e-6))

# %% [markdown]
# The last percentage answers the claim at the top: above one half, NumPy spends most of its time on passes, here mostly over caches. Below, the rest matters more: arithmetic and new arrays. If the first saving is negative, `step_in_passes` is slower than NumPy and cannot tell passes from the rest; the claim is then undecided. **Change** B in section 1 to 8, then to 1,024, and run from there. How does the share of the passes change? At B = 8 the cost of each call into NumPy adds to it.

# %% [markdown]
# ## 6 · What compiling costs
#
# With `cache=True` the machine code goes to disk, for the next process. Below, two fresh processes call `gates.lstm`, with one folder as cache: empty for the first, filled for the second.
#
# **Predict** both first calls, in seconds.

# %% needs a compiler
import os
import subprocess
import sys
import tempfile

my_guess = {"cache empty": ..., "cache filled": ...}
program = """
import time, numpy as np
from rnnlab.kernels.compiled import gates
g, c = np.zeros(2048, "float32"), np.zeros(512, "float32")
for call in range(2):
    start = time.perf_counter()
    gates.lstm(g, g.copy(), g.copy(), c, c.copy(), c.copy())
    print(time.perf_counter() - start)
"""
first, again = {}, {}
with tempfile.TemporaryDirectory() as folder:
    for state in ("cache empty", "cache filled"):
        inside = os.environ | {"NUMBA_CACHE_DIR": folder}
        seconds = subprocess.check_output([sys.executable, "-c", program],
                                          env=inside, text=True)
        first[state], again[state] = map(float, seconds.split())

# %% [folded] needs a compiler
# Print the times of the first call and of the second.
for state, seconds in first.items():
    steps = (f"{seconds / saved_by_loop:.0f} steps of {B} sequences"
             if saved_by_loop > 0 else "no steps: the loop saved nothing")
    print(f"{state:12} first call {seconds:.3f} s, second "
          f"{1e3 * again[state]:.3f} ms; paid back by {steps}")
print("you guessed", my_guess)

# %% [markdown]
# In each process the second call does the same work as the first. So the rest of the first call's time is compiling, or loading what was compiled, and Numba's own start. A project at CMU (lesson 07) measured in Halide 8.9 s an epoch with the compiler running inside, 2.9 s with code compiled **ahead of time**. A cache is the middle way. It is keyed by the source file and the processor: change the file, and the next process compiles again. A change in another file that it calls is not noticed: empty the cache then.

# %% [markdown]
# ## 7 · A whole layer
#
# Fused loops, own functions, the loop over time compiled as well: that is the rung `numba_fused`. Beside it stands `one_big_gemm`, the same layer in NumPy with the same products, on one core each. **Predict:** by what factor is the fused one faster for an LSTM on the scoreboard's problem?

# %% needs a compiler
from rnncourse import scoreboard
from rnnlab.ladder import numba_fused, one_big_gemm

my_guess = ...
network, sequence, state, _ = scoreboard.problem("lstm")
ways = {
    "LSTM, gates in NumPy": partial(one_big_gemm.forward, network, sequence,
                                    state),
    "LSTM, gates in one loop": partial(numba_fused.forward, network, sequence,
                                       state),
}
measured = scoreboard.measure("06", ways, network)
plain, one_pass = (timing.median for timing in measured.values())
print(f"faster by {plain / one_pass:.2f}; you guessed {my_guess}")

# %% [markdown]
# The products are the same, but NumPy's version calls NumPy's BLAS, and the compiled loop SciPy's. Between them lie calls into NumPy, passes and new arrays, which fusing removes, and the course's own functions. A star marks a row that another program disturbed. Below 1 without a star, the likeliest reason is that NumPy's BLAS is the faster one here.
#
# ## Recap
#
# **One compiled loop makes one pass where NumPy makes 18. What that saves depends on the functions in the loop: with a call for each number it can lose; with functions that are arithmetic alone it can run in vectors.**

# %% [folded] needs a compiler
# Print what this run says of the claim.
says = verdict(of_passes > 0.5, disturbed)
if abs(of_passes - 0.5) < 0.05 and not disturbed:
    says = "is undecided: the part is too near one half"
elif by_functions < 0 and not disturbed:
    says = "is undecided: step_in_passes is slower than NumPy"
print(f"claim: {says}; here fewer passes save {of_passes:.0%} of NumPy's time")

# %% [folded]
# Print the lesson in a table, and your progress.
rows = [
    ("an operation of NumPy", "one pass; a new array, unless `out=` names one"),
    ("a fused loop", "one pass; results in between stay in registers"),
    ("a call or test in the loop", "usually one number at a time"),
    ("compiling", "once a process; a cache shortens it"),
]
for question, answer in rows:
    print(f"{question:28}{answer}")
rnnlab.progress("06_numba_cpu")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why can the first fused loop lose against NumPy, although it makes one pass only?</summary>It calls exp and tanh for one number at a time; NumPy's own are vectorised.</details>
#
# <details><summary>What does Numba's default error model cost here?</summary>A test of each divisor for zero, and with it the vector instructions.</details>
#
# <details><summary>Without <code>fastmath</code>, which comparison lets a NaN through: <code>a if a &lt; edge else edge</code>, or <code>edge if a &gt; edge else a</code>?</summary>The second: a comparison with NaN is false, so a is kept. With it, the compiler may assume that there is no NaN.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN): 8.9 s with Halide's compiler inside, 2.9 s ahead of time.
# - J. H. Lambert, *Mémoire sur quelques propriétés remarquables des quantités transcendentes*, 1768: the continued fraction.
# - Eigen (generic_fast_tanh_float) and Cephes (expf): the coefficients in rnnlab/kernels/compiled/nonlinear.py.
# - Numba's manual: error_model, fastmath, caching.
#
# Next: [07 · Threads](07_parallel_cpu.ipynb)
