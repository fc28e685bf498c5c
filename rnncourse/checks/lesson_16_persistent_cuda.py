"""Checks of lesson 16: rounding by bits, where a lane stores its sums, what it holds of a tile."""

import ast
import math
import operator
import re
from itertools import product

import numpy as np

from nbjudge.comparing.differences import describe
from nbjudge.comparing.judging import add_to_case, refuse
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect
from rnncourse.checks.tables import rows_of

ANSWERS = answers("16_persistent_cuda")


@ANSWERS.exercise("""
         pitch
          9:17
             8
    40:100_000
""")
def check_index_of_sums(answer, submission, rng, pitch):
    """The line runs as C++ would, for every lane and register."""
    text = submission(pitch)
    case = f"pitch={pitch}"
    indices = f"The result must be text, not {describe(text)}."
    if isinstance(text, str):
        case += f", INDEX is {text!r:.160}"
        indices = emulate(text)
    if isinstance(indices, str):
        refuse(indices, case, result=text)
        return
    want = emulate(answer.call(pitch))

    def advice() -> str:
        lane, register = np.argwhere(indices != want)[0]
        row, sequence = divmod(want[lane, register], pitch)
        shift = " `a << 1 + b` is `a << (1 + b)`." if "<<" in text else ""
        return f"register {register} of lane {lane} holds row {row} of sequence {sequence}.{shift}"

    expect(indices, want, "the index: lane, register", case, advice=advice)


def emulate(text: str) -> np.ndarray | str:
    """Values [32,4] of a C++ expression of lane and reg, or why it has none."""
    if "//" in text:
        return "`//` begins a comment in C++, so the rest of the line is gone; `/` is the quotient there."
    signs = re.search(r"\+\+|--", text)
    if signs:
        return f"`{signs[0]}` changes a variable in C++: put a blank between the signs."
    text = re.sub(r"\s", " ", text).strip()  # to C++ a line break is a space
    values = []
    try:
        tree = ast.parse(text, mode="eval").body
        for lane, reg in product(range(32), range(4)):
            values.append(_value(tree, {"lane": lane, "reg": reg}))
        end = TOKENS.match(text).end()
        foreign = text[end:]
        if foreign:
            raise SyntaxError(f"{foreign!r:.40} is not allowed")
        return np.reshape(values, (32, 4))
    except SyntaxError as error:
        return f"INDEX may hold whole numbers, `lane`, `reg`, parentheses and {OPERATIONS}: {error.msg}."
    except (ZeroDivisionError, OverflowError, RecursionError, MemoryError) as error:
        return f"C++ leaves open what it does: {error}."


def _value(node: ast.AST, names: dict[str, int]) -> int:
    """The value of an expression of int.  Raises SyntaxError for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
    elif isinstance(node, ast.Name) and node.id in names:
        value = names[node.id]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        sign = SIGNS[type(node.op)]
        value = sign(_value(node.operand, names))
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        operation = OPERATORS[type(node.op)]
        left = _value(node.left, names)
        right = _value(node.right, names)
        value = operation(left, right)
    else:
        raise SyntaxError(f"{ast.unparse(node)!r:.40} is not allowed")
    if not -(2**31) <= value < 2**31:
        raise OverflowError("a number leaves the range of int")
    return value


def _shift_left(left: int, right: int) -> int:
    _check_shift(right)
    return left << right


def _shift_right(left: int, right: int) -> int:
    _check_shift(right)
    return left >> right


def _check_shift(bits: int) -> None:
    if not 0 <= bits < 32:
        raise OverflowError("a shift by less than 0 or more than 31 bits")


def _quotient(left: int, right: int) -> int:
    return int(left / right)  # towards zero, and exact: numbers are below 2**31


def _remainder(left: int, right: int) -> int:
    if right == 0:
        return left % right  # raises the error of Python
    return int(math.fmod(left, right))  # the sign of `left`, as in C++


# what C++ and Python read alike, in their precedence, too: 1_000 and # are Python's alone
TOKENS = re.compile(r"(?: |lane|reg|0x[0-9a-fA-F]+|0|[1-9][0-9]*|<<|>>|[-+*/%&|^~()])*")
OPERATIONS = "`+ - * / % << >> & | ^ ~`"
SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Mod: _remainder,
    ast.LShift: _shift_left,
    ast.RShift: _shift_right,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


RANDOM = "random words"
SPREAD = "every other row and word of a larger array"


@ANSWERS.exercise("""
    case
    the word of row r and column w is 8r + w
    random words
    every other row and word of a larger array
""")
def check_pack_fragment(answer, submission, rng, case):
    tile = np.arange(128, dtype="uint32").reshape(16, 8)  # the word of row r and column w is 8r + w
    if case == RANDOM:
        tile = rng.integers(0, 2**32, (16, 8), dtype="uint32")
    if case == SPREAD:
        larger = rng.integers(0, 2**32, (32, 16), "uint32")
        tile = larger[::2, ::2]
    compare(answer, submission, (tile,), "the fragment: lane, register", case=case)


ONE = 0x3F800000
INFINITY = 0x7F800000


@ANSWERS.exercise("""
    case
    six numbers from 1 on
    ties and their neighbours
    negative numbers
    zeros and the smallest numbers
    the largest numbers and infinity
    NaN
    random bits
    random ties
""")
def check_round_bits(answer, submission, rng, case):
    """Bits of numbers near ties, of all kinds of numbers, and at random."""
    step = 1 << answer.number("dropped", 16)
    half = step // 2
    ties = ONE + step * np.arange(4)
    distances = [-half, -1, 0, 1, half - 1, half, half + 1]
    near_ties = np.add.outer(ties, distances)
    rests = np.array([0, half + 1, 1, half, half - 1, step])  # no wrong answer is the right one, moved on
    smallest = half * np.arange(9)
    largest = INFINITY - np.array([0, 1, half, half + 1, step, step + half])
    both_signs = [[0], [2**31]]
    random_bits = rng.integers(0, 2**32, 150)
    random_ties = step * rng.integers(0, 2**32 // step, 41) + half
    bits = {
        "six numbers from 1 on": ONE + rests,
        "ties and their neighbours": near_ties,
        "negative numbers": near_ties + 2**31,
        "zeros and the smallest numbers": smallest + both_signs,
        "the largest numbers and infinity": largest + both_signs,
        "NaN": [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF, INFINITY + half],
        "random bits": random_bits,
        "random ties": random_ties,
    }[case]
    bits = np.ravel(bits).astype("uint32")

    def advice(result: np.ndarray, want: np.ndarray) -> str:
        is_wrong = np.asarray(result) != want
        k = np.argmax(is_wrong)
        number = bits[k]
        right = want[k]
        rounded = int(result[k])
        return f"0x{number:08X} becomes 0x{right:08X}, not 0x{rounded:08X}."

    compare(answer, submission, (bits,), "the bits: number", advice, case)


BUDGETS = """
    gates     H  itemsize  blocks  warps  beside
        3    20         2       1      1      60
        1    16         4       1      1      60
        1    64         2       1      4      64
        4  1024         2     128      8      82
        3   512         4      16     12      64
        4   512         2      16      8      65
        1   100         2       3      5      60
        1    40         4       1      1     100
        1   256         4       8     16      64
        4  2048         2     132      8      80
        1  1152         4      24      8      39
        3    70         2       5     32      56
        1    33         2       1      1      60  # half a word begins a tile
        1   256         4       1     12      40  # fewer than 255, more than a thread's share
      2:5    70:400         2     2:9    1:9  40:100
      2:5  400:4000         2     2:9    1:9  40:100
"""


def draw_budgets(rng) -> list[tuple]:
    """Rests of rows, words and pairs, and one that fits exactly."""
    registers = ANSWERS["register_budget"].number("registers", 65536)
    registers_of_thread = min(255, registers // 256)
    exact = 4, 1024, 2, 128, 8, registers_of_thread - 64
    rows = rows_of(BUDGETS, rng)
    return [*rows[:-2], exact, *rows[-2:]]


@ANSWERS.exercise(draw_budgets)
def check_register_budget(answer, submission, rng, gates, H, itemsize, blocks, warps, beside):
    tile_rows = -(-gates * H // 16)
    pairs = -(-H * itemsize // 64)
    all_warps = blocks * warps
    threads = 32 * warps
    add_to_case(f"{tile_rows} by {pairs} pairs for {all_warps} warps, {threads} threads a block")
    case = gates, H, itemsize, blocks, warps, beside
    results = "the number of words; the largest number of registers; whether it fits"
    compare(answer, submission, case, results)
