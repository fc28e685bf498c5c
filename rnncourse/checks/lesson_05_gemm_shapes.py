"""Checks of lesson 05: work for each byte, products over several steps."""

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import add_to_case
from nbjudge.exercise import Code
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect
from rnncourse.checks.traces import require_calls

ANSWERS = answers("05_gemm_shapes")


def _work_and_bytes(B, H, itemsize, peak, bandwidth) -> str:
    """What this minibatch and the smallest one that is enough compute and move."""
    answer = ANSWERS["arithmetic_intensity"]
    weight_reads = answer.number("weight_reads", 1)

    def work(B):
        flop = 2 * B * H * H
        numbers = 2 * B * H + weight_reads * H * H
        return f"{flop} FLOP, {numbers * itemsize} bytes"

    _, smallest = answer.call(B, H, itemsize, peak, bandwidth)
    enough = "no B is enough"
    if smallest:
        enough = f"with B={smallest} {work(smallest)}"
    balance = peak / bandwidth
    return f"{work(B)}; needed are {balance:.6g} FLOP a byte: {enough}"


# two products reach the balance exactly, one with no minibatch
@ANSWERS.exercise("""
          B            H  itemsize     peak   bandwidth
          3          100         8     90.0        21.0
          2          110         4     75.0        10.0  # 20.6 sequences: to round is not to round down
          1            2         4     30.0        20.0
         64           16         4    300.0        30.0
          5           64         4    160.0        20.0
          5           64         4     10.0        50.0  # one sequence is enough
          5           32         4    160.0        20.0
          7         4096         2  90000.0        45.0  # 85 334 sequences: not among the first thousand
       3:40      300:900         4    500.0      21:40.
    100:999  2_000:9_000         2  90000.0  900:4_000.
""")
def check_arithmetic_intensity(answer, submission, rng, *case):
    add_to_case(_work_and_bytes(*case))
    compare(answer, submission, case, "FLOP a byte; the smallest minibatch", tolerance=1e-9)


COUNTED = """
weights, calls, rows_left = np.array({weights!r}, {dtype!r}), 0, {rows}

def multiply(rows):
    global calls, rows_left
    calls += 1
    trace.append(("multiply", rows))
    rows_left -= len(rows)
    if getattr(rows, "ndim", 0) != 2 or rows.shape[1] != weights.shape[1]:
        got = getattr(rows, "shape", type(rows))
        raise Wrong(f"multiply takes [rows, {{weights.shape[1]}}], not {{got}}.")
    if len(rows) == 0:
        raise Wrong(f"Call {{calls}} has no rows.")
    if len(rows) > {most_rows}:
        raise Wrong(f"A call has {{len(rows)}} rows; {steps} steps of {B} sequences are {most_rows}.")
    if calls > {most_calls}:
        raise Wrong(f"multiply is called more than {most_calls} times for {T} steps, {steps} at a time.")
    if len(rows) not in ({most_rows}, {left_over}) and rows_left > 0:  # threads call in any order
        raise Wrong(f"Call {{calls}} of several has {{len(rows)}} rows, not {steps} · {B} = {most_rows}.")
    if rows_left < 0:
        raise Wrong(f"All calls together have more than {rows} rows; {T} steps of {B} sequences are {rows}.")
    return rows @ weights.T

multiply.outputs = len(weights)
"""


@ANSWERS.exercise("""
    T  B  I  M  steps  dtype
    5  3  2  4      2  float32
    1  1  2  1      3  float32
    4  1  3  2      2  float32
    8  2  3  5      5  float64
    6  4  2  3      6  float32
    n  2  3  4      7  float32
""")
def check_batch_input_gemm(answer, submission, rng, T, B, I, M, steps, dtype):
    """`dtype`: of the weights, and so of the products; x is float32."""
    x = rng.normal(size=(T, B, I)).astype("float32")
    weights = rng.normal(size=(M, I)).astype(dtype)
    rest = T % steps
    source = COUNTED.format(
        weights=weights.tolist(),
        dtype=dtype,
        steps=steps,
        B=B,
        T=T,
        rows=T * B,
        most_rows=steps * B,
        left_over=rest * B,
        most_calls=-(-T // steps),
    )
    multiply = Code(source, "multiply", [])
    got = submission(x, multiply, steps)
    want = x @ weights.T

    def advice():
        whole = T - rest
        if rest and same(got[:whole], want[:whole], None):
            return f"{T} steps, {steps} at a time, leave {rest}: one more call multiplies what is left."
        return None

    if expect(got, want, "the products: step, sequence, unit", advice=advice):
        require_calls(answer, multiply.trace, (x, multiply, steps))
