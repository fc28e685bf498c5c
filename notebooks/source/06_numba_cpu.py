# %% [markdown]
# # 06 · One pass over memory
#
# **Claim to test: NumPy needs most of its time for the gates of an LSTM because it passes over memory again and again, so one compiled loop with a single pass saves most of that time.**
#
# You will count the passes, time a loop that makes only one, and find out what else decides. The recap prints the verdict for your machine.
#
# - **Time:** 115 minutes, exercises included.
# - **You need:** [01 · RNN forward](01_rnn_forward.ipynb), what an LSTM computes, and Numba, which `make lab` installs. No GPU.
# - **Afterwards you can** fuse loops, write a tanh that becomes vector instructions and say how far it is off, tell which order of loops misses the cache, and say when compiling pays.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · What an expression costs
#
# Below is one step of an LSTM, after its matrix products: `a [B,4H]` holds the four gates before their functions. NumPy works out each operation by itself: it reads whole arrays from memory and writes a whole array back, which the next operation reads again.
#
# **Predict:** how many bytes does the step move for each byte that it needs? It needs to read `a` and `c` once, and to write two results once.

# %%
import numpy as np

from rnncourse import drawings
from rnncourse.lab.array_traffic import traffic

drawings.show("passes_over_memory")

my_guess = 2.0


def step_in_numpy(a, c):
    """(h, c) [B,H] after the step, from gates before their functions a [B,4H] and c [B,H]."""
    i, f, g, o = np.split(a, 4, axis=1)
    i, f, o = 1 / (1 + np.exp(-i)), 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


B, H = 64, 512
rng = np.random.default_rng(0)
a, c = rng.normal(size=(B, 4 * H)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
moved = traffic(step_in_numpy, a, c)
needed = a.nbytes + 3 * c.nbytes
print(f"{moved.calls} passes move {moved.bytes_moved / 1e6:.1f} MB; needed: {needed / 1e6:.1f} MB")
print(f"factor {moved.bytes_moved / needed:.1f}; you guessed {my_guess}")

# %% [markdown]
# Each operation is a **pass** over its arrays. A **cache** is a small, fast memory near the core, which holds copies of what was used last. Where the arrays fit into a cache, a pass is cheap; where they do not, each pass waits for memory again. A pass does only a handful of operations for each number.
#
# **Loop fusion** changes the order: one loop over the units, and all operations of unit j inside it. The results in between stay in registers.
#
# ## 2 · One loop, and a surprise
#
# **Numba** translates a Python function to machine code when it is first called; `@njit` is all it takes. Here is the same step in one loop. It makes one pass where NumPy makes many.
#
# **Predict:** by what factor is it faster than NumPy? Both run on one core here.

# %%
import math

from numba import njit

from rnncourse.lab.turns import disturbance, take_turns, verdict

my_guess = 5.0


@njit
def step_in_one_loop(a, c, h_next, c_next):
    H = c.shape[1]
    for b in range(c.shape[0]):
        for j in range(H):
            i = 1 / (1 + math.exp(-a[b, j]))
            f = 1 / (1 + math.exp(-a[b, H + j]))
            o = 1 / (1 + math.exp(-a[b, 3 * H + j]))
            c_next[b, j] = f * c[b, j] + i * math.tanh(a[b, 2 * H + j])
            h_next[b, j] = o * math.tanh(c_next[b, j])


h_next, c_next = np.empty_like(c), np.empty_like(c)
fused = lambda: step_in_one_loop(a, c, h_next, c_next)
times = take_turns({"NumPy": lambda: step_in_numpy(a, c), "one loop": fused})
for name, timing in times.items():
    print(f"{name:9} {1e9 * timing.median / c.size:6.1f} ns a unit")
print(f"faster by {times['NumPy'].median / times['one loop'].median:.2f}; you guessed {my_guess}")
print("same results:", np.allclose(h_next, step_in_numpy(a, c)[0], atol=1e-6), disturbance(times))

# %% [markdown]
# It makes one pass only, and yet the factor is far from the ratio of the bytes; on most machines it is below 1, and the loop has lost. Before you read on: which line do you suspect? **Change** it: take the functions out of the loop, run it again, and put them back.
#
# ### Exercise: a GRU's gates in one loop
#
# <!-- exercise: fused_gates -->
#
# In [work/06_numba_cpu.ipynb](../work/06_numba_cpu.ipynb). Its arrays notice a second pass.
#
# ## 3 · What a call in a loop costs
#
# A core has registers that hold several numbers, and instructions that work on all of them: **vector instructions**. A compiler uses them if the loop's body is arithmetic. `math.tanh` is not arithmetic: it is a function of the C library, which is called for one number at a time. A single call makes the whole loop go number by number.
#
# **Guess** which of these two loops becomes vectors. The evidence is the machine code, and the clock.

# %%
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
timings = take_turns({loop: lambda loop=loop: loop(x, y) for loop in (with_tanh, with_division)})
print(disturbance({loop.__name__: timing for loop, timing in timings.items()}))
for loop, timing in timings.items():
    code = next(iter(loop.inspect_asm().values()))
    calls, rate = code.count("tanhf"), 1e-9 * x.size / timing.median
    print(f"{loop.__name__:14} names tanh {calls} times in machine code, {rate:6.2f} numbers a nanosecond")

# %% [markdown]
# So the loop needs a tanh that is made of arithmetic. Lambert found one in 1768:
#
# tanh a = a / (1 + a² / (3 + a² / (5 + a² / (7 + …))))
#
# Cut off after n levels and multiplied out, it is a quotient of two polynomials in a². How good is it? The measure is the **ulp**, the unit in the last place: the distance of two neighbouring float32 numbers there. Half an ulp is as good as rounding gets.
#
# **Predict:** how many levels does it take to stay below 1 ulp up to a = 9? A little beyond, tanh is 1 in float32.

# %%
from rnncourse.lambert import lambert
from rnncourse.figures.picture import canvas, show

my_guess = 5


def ulps_off(got, a):
    """How far results are from tanh(a), in units in the last place of a float32."""
    want = np.tanh(a.astype("float64"))
    return np.abs(got - want) / np.spacing(np.abs(want).astype("float32"))


figure, axis = canvas()
points, worst = np.linspace(0.01, 9, 2000), {}
for levels in (5, 7, 9, 11, 13, 15):
    odd, even = lambert(levels)
    quotient = points * np.polyval(odd[::-1], points**2) / np.polyval(even[::-1], points**2)
    off = ulps_off(quotient, points)
    worst[levels] = off.max()
    axis.semilogy(points, off, label=f"{levels} levels")
axis.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
axis.set(xlabel="a", ylabel="error (float32 ulps)", ylim=(1e-3, 1e7))
axis.legend(fontsize=8, ncols=2)
summary = ", ".join(f"{levels} levels {off:.1g}" for levels, off in worst.items())
show(figure, f"Error in float32 ulps, worst up to a = 9: {summary}. Dotted: what rounding costs.")
print(summary, "· you guessed", my_guess)

# %% [markdown]
# Two polynomials of seven coefficients, and one division. What remains is the rounding of each operation, and the points where formulas break: beyond 9, at ±∞, at NaN, at −0.
#
# ### Exercise: a tanh of multiplications
#
# <!-- exercise: fast_tanh -->
#
# In [work/06_numba_cpu.ipynb](../work/06_numba_cpu.ipynb). Each operation is counted.
#
# ## 4 · Five ways to a tanh
#
# Lambert's fraction after seven levels is short enough for one line. It is compiled twice. `error_model="python"`, Numba's default, tests every divisor for zero, because Python raises an error there. `error_model="numpy"` divides and lets ∞ come out. Beside them stand the course's own tanh, the C library's and NumPy's.
#
# **Predict** the order of the five, fastest first.

# %%
from functools import partial

from rnnlab.kernels.compiled import nonlinear

SEVEN = tuple(map(np.float32, (135135, 17325, 378, 62370, 3150, 28)))


def seven_levels(a, c):
    """Lambert's fraction cut after seven levels, for |a| up to about 4; c holds its coefficients."""
    z = a * a
    return a * (c[0] + z * (c[1] + z * (c[2] + z))) / (c[0] + z * (c[3] + z * (c[4] + z * c[5])))


def over_an_array(function, error_model):
    """A compiled loop that writes function(a, coefficients) of every a into y."""
    compiled = njit(error_model=error_model)(function)

    @njit(error_model=error_model)
    def loop(a, y, coefficients):
        for j in range(a.size):
            y[j] = compiled(a[j], coefficients)

    return loop


# %%
my_guess = ["C library", "seven levels, python", "seven levels, numpy", "the course's own", "np.tanh"]
loops = {f"seven levels, {rule}": over_an_array(seven_levels, rule) for rule in ("python", "numpy")}
loops["C library"] = over_an_array(lambda a, c: math.tanh(a), "numpy")
loops["the course's own"] = over_an_array(lambda a, c: nonlinear.tanh(a), "numpy")
tanh_ways = {name: partial(loop, x, y, SEVEN) for name, loop in loops.items()}
tanh_ways["np.tanh"] = partial(np.tanh, x, y)

# %%
tanh_times = take_turns(tanh_ways)
for name in sorted(tanh_ways, key=lambda name: tanh_times[name].median):
    tanh_ways[name]()
    nanoseconds = 1e9 * tanh_times[name].median / x.size
    print(f"{name:21} {nanoseconds:6.2f} ns a number, at most {ulps_off(y, x).max():.3g} ulps off")
print("you guessed", ", ".join(my_guess))
tested, untested = (tanh_times[f"seven levels, {rule}"].median for rule in ("python", "numpy"))
print(f"the test for zero makes the same formula {tested / untested:.1f} times as slow; {disturbance(tanh_times)}")

# %% [markdown]
# No divisor here can be zero, but the compiler does not know that. With the test, the loop may leave its path at every number, so the compiler does not make vectors of it: if the last line says 2 or more, that is the reason. NumPy's own tanh is made of vectors, too, on most processors. What NumPy cannot do is keep the result in a register for the next operation.
#
# How far the seven levels are off says why more of them are needed for large numbers, or a better fit: the course's own has fewer coefficients and stays within 5 ulps.
#
# **Break it:** leave the coefficients in float64, as Python has them. Each product then becomes float64, and a register holds half as many numbers. **Guess** the factor.

# %%
my_guess = 2.0
coefficients = {"float32": SEVEN, "float64": tuple(map(float, SEVEN))}
widths = take_turns(
    {dtype: partial(loops["seven levels, numpy"], x, y, values) for dtype, values in coefficients.items()}
)
for dtype, timing in widths.items():
    print(f"coefficients in {dtype}: {1e9 * timing.median / x.size:.2f} ns a number")
print(f"factor {widths['float64'].median / widths['float32'].median:.1f}; you guessed {my_guess}. {disturbance(widths)}")

# %% [markdown]
# ## 5 · The loop again
#
# This is how the course's ladder does it. `tanh` and `sigmoid` are its own: a quotient with fewer coefficients, fitted so that the worst error is small (Eigen's), and a polynomial for eᵃ (Cephes). Look for what section 4 would object to, and does not find.

# %%
from rnnlab.kernels.compiled import gates

rnnlab.show_source(gates.lstm)

# %% [markdown]
# One difference: it also stores the gates, in `g`, because the backward pass needs them. So it writes four arrays more than the loop of section 2. The recurrent product `u` and the bias are zeros here.
#
# A loop can be faster for two reasons: fewer passes, or cheaper functions. To tell them apart, `step_in_passes` has the same cheap functions but makes a pass for each operation, as NumPy does. **Predict** again: by what factor is the fused loop faster than NumPy? And how much of that is due to the passes?

# %%
my_guess = 1.0


@njit
def all_rows(a, zeros, c, c_next, h_next):
    for b in range(len(c)):
        gates.lstm(a[b], zeros, zeros, c[b], c_next[b], h_next[b])


def in_one_pass(function):
    """A compiled pass that writes function(a [B, first:first+H]) into y [B,H]."""

    @njit(error_model="numpy", fastmath=True)
    def loop(a, first, y):
        for b in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[b, j] = function(a[b, first + j])

    return loop


# %%
own_tanh, own_sigmoid = in_one_pass(nonlinear.tanh), in_one_pass(nonlinear.sigmoid)


def step_in_passes(a, c, i, f, g, o, c_next, h_next):
    """The step by the course's own functions, a pass for each operation, into arrays [B,H] that exist."""
    for function, k, gate in ((own_sigmoid, 0, i), (own_sigmoid, 1, f), (own_tanh, 2, g), (own_sigmoid, 3, o)):
        function(a, k * H, gate)
    np.add(np.multiply(f, c, out=f), np.multiply(i, g, out=i), out=c_next)
    own_tanh(c_next, 0, g)
    np.multiply(o, g, out=h_next)


# %%
zeros, work = np.zeros(4 * H, "float32"), a.copy()
gate_arrays = np.empty((4, *c.shape), "float32")
ways = {
    "NumPy": lambda: step_in_numpy(a, c),
    "one loop, C library's tanh": lambda: step_in_one_loop(a, c, h_next, c_next),
    "many passes, own functions": lambda: step_in_passes(a, c, *gate_arrays, c_next, h_next),
    "one loop, own functions": lambda: all_rows(work, zeros, c, c_next, h_next),
}

# %%
times = take_turns(ways, 15)
for name, timing in times.items():
    print(f"{name:27} {1e9 * timing.median / c.size:6.2f} ns a unit")
compared = {name: times[name] for name in ("NumPy", *list(ways)[2:])}
numpy_seconds, many, one = (timing.median for timing in compared.values())
disturbed = disturbance(compared)
saved_by_loop = numpy_seconds - one
by_functions, by_passes = (1e9 * seconds / c.size for seconds in (numpy_seconds - many, many - one))
print(f"faster by {numpy_seconds / one:.1f}, you guessed {my_guess}; {disturbance(times)}")
print(f"saved per unit: {by_functions:.2f} ns by other functions, {by_passes:.2f} ns by fewer passes")
all_rows(a.copy(), zeros, c, c_next, h_next)
print("same results:", np.allclose(h_next, step_in_numpy(a, c)[0], atol=1e-6))

# %% [markdown]
# The line *saved per unit* answers the claim at the top. If the functions save more than the passes, then NumPy's time was mostly arithmetic: its exp and tanh are more exact than the course's, and cost more; new arrays for each result cost time, too. If the passes save more, your arrays are far from the core. A negative number says that this part cost time. **Change** B in section 1 to 8, then to 1 024, and run from there: the share of the passes grows where arrays outgrow a cache, and at B = 8 the cost of each call into NumPy adds to it.
#
# ## 6 · What compiling costs
#
# A function compiled at run time keeps its first caller waiting. With `cache=True` the machine code goes to disk, for the next process. Below, two fresh processes call `gates.lstm`, with one folder as cache: empty for the first, filled for the second.
#
# **Predict** both first calls, in seconds.

# %%
import os
import subprocess
import sys
import tempfile

my_guess = {"cache empty": 0.1, "cache filled": 0.1}
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
        seconds = subprocess.check_output([sys.executable, "-c", program], env=inside, text=True)
        first[state], again[state] = map(float, seconds.split())
for state, seconds in first.items():
    print(f"{state:12} first call {seconds:.3f} s, second {1e3 * again[state]:.3f} ms")
print("you guessed", my_guess)

# %% [markdown]
# Both second calls do the same work as the first: all the rest is compiling, or finding and loading what was compiled. Whether it pays depends on how often you come back. **Guess** before you run: after how many steps of 64 sequences has the loop earned its compilation back, and after how many its reading from the cache?

# %%
my_guess = 1000
for state, seconds in first.items():
    steps = f"after {seconds / saved_by_loop:.0f} steps" if saved_by_loop > 0 else "never: the loop saved nothing"
    print(f"{state:12} paid back {steps}; you guessed {my_guess}")
print(disturbed)

# %% [markdown]
# Students at CMU paid the same compilation cost in Halide: 8.9 s with the compiler running inside, 2.9 s with code compiled **ahead of time**. A cache is the middle way. It is keyed by the source file and the processor: change the file, and the next call compiles again. The ladder's functions are all cached, and are compiled when their first caller comes.
#
# ## 7 · In which order?
#
# Three loops make a product, c[i,j] += a[i,k] · b[k,j], and any order of them gives the same sums. Memory comes in **cache lines**, here 64 bytes, 16 float32: a loop along a row uses all of a line, a loop down a column uses one number of each line.
#
# The function below runs all six orders with the same instructions: only the strides differ. **Predict:** which loop should be the innermost, i, j or k? Which must not be?

# %%
drawings.show("cache_lines")


@njit
def nest(turns, n, stride_a, stride_b, stride_c, a, b, c):
    """c += a b, n by n; strides say how far each loop, outermost first, moves in each matrix."""
    for p in range(turns):
        for q in range(n):
            at_a = p * stride_a[0] + q * stride_a[1]
            at_b = p * stride_b[0] + q * stride_b[1]
            at_c = p * stride_c[0] + q * stride_c[1]
            for r in range(n):
                c[at_c + r * stride_c[2]] += a[at_a + r * stride_a[2]] * b[at_b + r * stride_b[2]]


def run_nest(order, n, turns):
    strides = [{"i": n, "j": 0, "k": 1}, {"i": 0, "j": 1, "k": n}, {"i": n, "j": 1, "k": 0}]
    flat = [np.ones(n * n, "float32") for _ in "abc"]
    arguments = (turns, n, *(tuple(matrix[loop] for loop in order) for matrix in strides), *flat)
    return lambda: nest(*arguments)


# %% [markdown]
# The cell measures matrices of 40 by 40, which lie in the nearest cache, and of 1 000 by 1 000, which do not; it runs only some turns of the outermost loop. The last column shows the misses that a **cache model** counts. It has no clock, only lines, a capacity, and one rule: a new line replaces the one that was used *least recently*.

# %%
from rnncourse.cache_model import Cache, product_misses

my_guess = "j innermost"
orders, toy = ("ijk", "ikj", "jik", "jki", "kij", "kji"), Cache(ways=32, line=64)
times = {n: take_turns({order: run_nest(order, n, 20) for order in orders}, 3) for n in (40, 1000)}
print("          ns a product        misses for 100 products, by the model:")
print(f"loops   n = 40   n = 1000   n = 40, a cache of {toy.bytes} bytes")
for order in orders:
    near, far = (1e9 * times[n][order].median / (20 * n**2) for n in (40, 1000))
    misses = product_misses(order, (40, 40, 40), None, toy)
    print(f"{order:6} {near:7.2f}   {far:8.2f} {100 * misses / 40**3:9.1f}")
innermost = {
    loop: {n: min(times[n][order].median for order in orders if order[-1] == loop) / n**2 for n in times}
    for loop in "ijk"
}
for n in times:
    ranking = sorted(innermost, key=lambda loop: innermost[loop][n])
    slower = [innermost[loop][n] / innermost[ranking[0]][n] for loop in ranking]
    steps = ", then ".join(f"{loop} ({factor:.1f} times)" for loop, factor in zip(ranking, slower, strict=True))
    print(f"n = {n}: fastest with innermost {steps}. {disturbance(times[n])}")
print("you guessed", my_guess)

# %% [markdown]
# Two causes compete. The first is the cache: with i innermost the loop goes down columns of a and c, with k innermost down a column of b. The model counts this, scaled down.
#
# The second is a **chain of additions**. With k innermost, each addition waits for the one before: it takes the *latency* of an addition, about 4 clock cycles, although a core can begin several in each cycle. The model does not see the chain.
#
# If k is slowest at n = 40, where everything lies in the nearest cache, the chain is the reason. At n = 1000 the loop over i goes down two columns, that over k down one, with the chain. The slower of the two shows what costs more, a column's misses or the chain; a processor that fetches the lines of a regular loop ahead of time makes misses cheap. With j innermost a loop has neither problem.
#
# Now look at the cache. Blue lines are in it, red numbers are in use. **Try:** the order jki without tiles, then with tiles of 4. Which two orders lose by tiles of 8, and why?

# %%
from rnncourse.views.loop_order import explore_loop_order

drawings.show("product_in_tiles")
explore_loop_order()

# %% [markdown]
# A **tile** is a piece of each matrix, chosen so that the three pieces fit into the cache together. Then each number is fetched once for every tile that needs it, not once for every product; with tiles of 4, the order no longer matters. With tiles of 8 it does. In ijk and ikj a tile of b must stay, 16 lines, and a row of the other two: 20 lines of 24. In jik and kij a column comes on top, and that is too much.
#
# ### Exercise: a product in tiles
#
# <!-- exercise: blocked_matmul -->
#
# In [work/06_numba_cpu.ipynb](../work/06_numba_cpu.ipynb).

# %% [markdown]
# ## 8 · How wide should a tile be?
#
# A recurrent product: 64 sequences times weights of 1 000 by 1 000, 4 MB in float32. Without tiles, each sequence reads all weights. Below, the loops over k and j are cut; a tile of weights then serves all 64 sequences before the next one is fetched.
#
# The model's column is scaled down: 4 sequences, weights of 125 by 125, a cache that holds half of them, and tiles an eighth as wide. The last line is the library's product, on one core like the others.
#
# **Predict:** which width is best on your machine? Its caches are printed first.

# %%
from rnnlab.kernels.compiled.threads import single_threaded_blas
from rnnlab.resources import caches

my_guess = 64
print({name: f"{size // 1024} KiB" for name, size in caches().items()})


@njit(fastmath=True)
def recurrent_product(h, weights, out, tile):
    (B, K), N = h.shape, weights.shape[1]
    for j0 in range(0, N, tile):
        for k0 in range(0, K, tile):
            for b in range(B):
                row = out[b, j0 : j0 + tile]
                for k in range(k0, min(k0 + tile, K)):
                    factor, of_weights = h[b, k], weights[k, j0 : j0 + tile]
                    for j in range(row.size):
                        row[j] += factor * of_weights[j]


h, weights = (rng.normal(size=(rows, 1000)).astype("float32") for rows in (64, 1000))
out, half = np.zeros_like(h), Cache(ways=512, line=64)
widths = (32, 64, 128, 256, 512, 1000)
ways = {width: lambda width=width: recurrent_product(h, weights, out, width) for width in widths}


# %%
with single_threaded_blas():
    times = take_turns(ways | {"BLAS": lambda: np.dot(h, weights, out=out)}, 5)
misses = {width: product_misses("ikj", (4, 125, 125), width // 8, half) for width in widths}
for width, timing in times.items():
    rate = 2e-9 * out.size * 1000 / timing.median
    print(f"{width!s:>5} {rate:6.1f} GFLOP/s", f"  model: {misses[width]:6} misses" if width in misses else "")
best = min(widths, key=lambda width: times[width].median)
print(f"best width: {best}, {times[1000].median / times[best].median:.2f} times as fast as no tile (1000)",
      disturbance({str(width): timing for width, timing in times.items()}))
print(f"BLAS is {times[best].median / times['BLAS'].median:.1f} times as fast as that; you guessed {my_guess}")

# %% [markdown]
# A width of 1 000 is no tile, and the model says that it misses most. If a narrower width is best on your machine, the loop waits for memory, and tiles help. If 1 000 is best, or nearly, it waits for something else: for each vector of multiply-adds it loads two vectors and stores one, and narrow tiles only add shorter loops.
#
# BLAS helps in both cases. It keeps a small tile of sums in **registers**, so that each load feeds several multiply-adds, and it packs the weights into the order in which it reads them. Lesson 07 writes such a tile as a schedule, lesson 08 in registers of its own. Until then the ladder leaves its products to BLAS.
#
# ## 9 · A power of two
#
# A line cannot lie anywhere in the cache: its address decides in which **set** of the cache. In a common first cache, 64 sets of 12 lines, addresses 4 096 bytes apart fall into one set.
#
# **Predict:** a loop reads a column of 256 numbers twice. The rows have 1 000 numbers, then 1 024: how many accesses of the second reading miss?

# %%
from rnncourse.cache_model import missed

my_guess = {1000: 0, 1024: 0}
first_cache = Cache(ways=12, sets=64, line=64)
for row in my_guess:
    column = np.arange(256) * row * 4  # byte addresses
    misses = missed(np.tile(column, 2), first_cache)[256:].sum()
    print(f"rows of {row}: {misses} of 256 miss; you guessed {my_guess[row]}")
print(f"the cache has {first_cache.bytes // 1024} KiB")

# %% [markdown]
# 256 lines are a third of this cache, yet none is found again: with rows of 1 024 all fall into the same set. The students at CMU trained with 1 000 units, not 1 024, because powers of two cost them half a second an epoch (their progress report). **Change** the rows in `my_guess` to 1 008 and 1 040: which spread the lines?
#
# ## 10 · A whole network
#
# Fused loops, own functions, the loop over time compiled as well: that is the rung `numba_fused`. Beside it, the same layer in NumPy with the same number of products, `one_big_gemm`; both on one core. **Predict** where fusing pays more: at few units or at many?

# %%
from rnnlab.ladder import one_big_gemm
from rnnlab.ladder import numba_fused
from rnnlab.network import Network

my_guess, factors = "few", {}
for T, B, H in ((100, 1, 64), (50, 16, 128), (20, 64, 512)):
    network = Network.create("lstm", H, H, seed=0)
    sequence = rng.normal(size=(T, B, H)).astype("float32")
    rungs = {"one_big_gemm": one_big_gemm, "numba_fused": numba_fused}
    ways = {name: partial(rung.forward, network, sequence, None) for name, rung in rungs.items()}
    with single_threaded_blas():
        times = take_turns(ways, 5)
    plain, fused = (1e3 * timing.median for timing in times.values())
    shape, factor = f"T={T:3} B={B:2} H={H:3}", plain / fused
    print(f"{shape}: NumPy {plain:6.2f} ms, fused {fused:6.2f} ms, factor {factor:.1f} {disturbance(times)}")
    factors[H] = factor
print(f"fusing pays most at {max(factors, key=factors.get)} units; you guessed {my_guess}")

# %% [markdown]
# The products are the same on both sides. What fusing removes is everything between them: calls into NumPy and passes. They are most of a small step and little of a large one, so the factor should fall from the first line to the last. A factor below 1 in the last line says that the compiled part no longer saves anything there, or that another program used the cores. Threads come in the next lesson.
#
# ## Recap

# %%
rows = [
    ("an operation of NumPy", "one pass over memory, one new array"),
    ("a fused loop", "one pass; results in between stay in registers"),
    ("a call in the loop, a test for zero", "no vector instructions"),
    ("compiling", "once a process, or once a machine with a cache"),
    ("order of loops; tile", "the innermost along rows, not into one sum; three pieces fit into the cache"),
]
for question, answer in rows:
    print(f"{question:38}{answer}")
says = verdict(by_passes > abs(by_functions), disturbed)
print(f"\nclaim: {says}; here fewer passes save {by_passes:.2f} ns a unit, other functions {by_functions:.2f} ns")
rnnlab.progress("numba_cpu")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why did the first fused loop lose against NumPy?</summary>It called exp and tanh for one number at a time; NumPy's own are vectorised.</details>
#
# <details><summary>What does Numba's default error model cost here?</summary>A test of each divisor for zero, and with it the vector instructions.</details>
#
# <details><summary>Which comparison lets a NaN through: `a if a &lt; edge else edge`, or `edge if a &gt; edge else a`?</summary>The second: a comparison with NaN is false, so a is kept.</details>
#
# <details><summary>Which orders of loops go along rows in all matrices that move?</summary>ikj, and kij: j is the innermost.</details>
#
# <details><summary>A cache holds 96 numbers in lines of 4. How wide may three square tiles be?</summary>4: three tiles are 48 numbers, 12 lines. Three tiles of 8 are 192 numbers.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN): 8.9 s with Halide's compiler inside, 2.9 s ahead of time; 1 000 units instead of 1 024.
# - J. H. Lambert, *Mémoire sur quelques propriétés remarquables des quantités transcendentes*, 1768: the continued fraction.
# - Eigen (generic_fast_tanh_float) and Cephes (expf): the coefficients in rnnlab/kernels/compiled/nonlinear.py.
# - Numba's manual: error_model, fastmath, caching.
#
# Next: [07 · Threads](07_parallel_cpu.ipynb)
