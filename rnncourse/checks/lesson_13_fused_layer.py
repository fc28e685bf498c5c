"""Checks of lesson 13: which operations must keep their order, and which may leave the loop over time."""

import re

from nbjudge.comparing.differences import whole_numbers
from nbjudge.comparing.judging import refuse
from rnncourse.checks.answers import answers

ANSWERS = answers("13_fused_layer")
PARTS = "reads", "writes", "adds to"
BUFFERS = "x", "gates", "sums", "h", "dU"
LOOPS = {  # a line an operation of a step: what it reads -> what it writes, or reads += what it adds to
    "a tanh network": """
        embedding: token -> x
        input product: x -> gates
        recurrent product: h -> sums*
        tanh: gates sums* -> h+1
    """,
    "its backward pass": """
        pointwise: dh h+1 -> da
        dW: da x += dW*
        dh: da -> dh+1
        db: da += db*
    """,
    "a network that reads its own output": """
        input product: y -> gates
        recurrent product: h -> sums*
        tanh: gates sums* -> h+1
        output: h+1 -> y+1
        loss: y+1 target += error*
    """,
    "a network with an output": """
        output: h -> y
        attention: y keys* -> scores
        recurrent product: h -> sums*
        tanh: x sums* -> h+1
    """,
    "a dilated network, whose state depends on the one two steps before": """
        input product: x -> gates
        recurrent product: h -> sums
        tanh: gates sums -> h+2
        output: h+2 -> y
    """,
    "a loop that also loads its inputs ahead": """
        prefetch: x ->
        tanh: x h -> h+1
    """,
    "a network of five layers that reads its own output": """
        layer 0: output -> h0
        layer 1: h0 -> h1
        layer 2: h1 -> h2
        layer 3: h2 -> h3
        layer 4: h3 -> h4
        output: h4 -> output+1
        loss: output+1 target -> losses
    """,
    "inputs in one buffer for all steps": """
        input product: x -> gates*
        tanh: gates* h -> h+1
        mean: h+1 -> means
    """,
}


def operations_of(text: str) -> list[tuple]:
    """Operations from their lines: (name, reads, writes, adds), each a list of places.

    h[0:2] is a region.  Of step t of a loop, h+1 are the rows of the next step, (h, 1), and sums* the same
    rows in every step, (sums, None).
    """
    operations = []
    for line in text.strip().splitlines():
        name, _, places = line.strip().partition(":")
        places, _, adds = places.partition(" +=")
        reads, _, writes = places.partition(" ->")
        parts = []
        for part in (reads, writes, adds):
            parts.append([_place(word) for word in part.split()])
        operations.append((name, *parts))
    return operations


def _place(word: str) -> tuple:
    name, *numbers = re.findall(r"\w+", word)
    if word.endswith("*"):
        return name, None
    if not numbers:
        return name, 0
    return name, *map(int, numbers)


MEETINGS = [  # in the fourth, operations at other places are equal
    """
    a: -> h[0:2]
    b: h[0:2] ->
    """,
    """
    a: h[0:2] ->
    b: -> h[1:3]
    c: h[3:4] -> x[1:3]
    """,
    """
    a: x[0:2] += dU[0:4]
    b: x[0:2] += dU[0:4]
    c: dU[2:3] -> h[0:4]
    d: -> h[2:4]
    """,
    """
    a: h[0:2] -> h[1:2]
    a: h[0:2] -> h[1:2]
    a: h[0:2] -> h[1:2]
    """,
]


def issue(loop: tuple, steps: int, sequences: int) -> list[tuple]:
    """All steps of a loop as operations (name, reads, writes, adds) with regions (buffer, first, end)."""

    def region(place, t):
        buffer, after = place
        block = 0 if after is None else t + after
        first = block * sequences
        return buffer, first, first + sequences

    operations = []
    for t in range(steps):
        for name, *parts in loop:
            regions = []
            for part in parts:
                regions.append([region(place, t) for place in part])
            operations.append((name, *regions))
    return operations


def draw_operations(rng, count: int) -> list[tuple]:
    """Operations on few rows of few buffers, so that all kinds of meetings occur."""
    operations = []
    for number in range(count):
        parts = [[], [], []]
        for _ in range(rng.integers(1, 4)):
            first = int(rng.integers(6))
            buffer = str(rng.choice(BUFFERS))
            rows = int(rng.integers(1, 4))
            part = rng.integers(3)
            parts[part].append((buffer, first, first + rows))
        operations.append((f"operation {number}", *parts))
    return operations


BACKWARD_PASS = issue(operations_of(LOOPS["its backward pass"]), steps=3, sequences=2)
CASES = [*map(operations_of, MEETINGS), BACKWARD_PASS, 12, 40]


@ANSWERS.exercise(tuple((case,) for case in CASES))
def check_must_wait(answer, submission, rng, case):
    """case: operations, or how many are drawn."""
    operations = case
    if isinstance(case, int):
        operations = draw_operations(rng, case)
    want = answer.call(operations)
    got = submission(operations)
    pairs = whole_numbers(got, 2)
    problem = _misjudged_pair(got, pairs, want, operations)
    distinct = None if pairs is None else sorted(set(pairs))
    refuse(problem, f"{len(operations)} operations", result=distinct)


def _misjudged_pair(got: object, pairs: list | None, want: list, operations: list) -> str | None:
    """The first pair that is missing or too many, with both operations."""
    if pairs is None:
        return f"The result must be a list of pairs of places; it returns {got!r:.60}."
    last = len(operations) - 1
    for i, j in pairs:
        if not 0 <= i < j <= last:
            return f"({i}, {j}): a pair is two places from 0 to {last}, the earlier one first."
    wrong = set(pairs) ^ set(want)
    if not wrong:
        return None
    pair = min(wrong, key=lambda pair: pair[::-1])
    verb = "is missing" if pair in want else "is too many: the two may change places"
    earlier, later = (_describe(operations[place]) for place in pair)
    return f"Pair {pair} {verb}. {earlier}; {later}."


def _describe(operation: tuple) -> str:
    name, *parts = operation
    touched = []
    for verb, part in zip(PARTS, parts, strict=True):
        regions = ", ".join(f"{buffer}[{first}:{end}]" for buffer, first, end in part)
        if regions:
            touched.append(f"{verb} {regions}")
    summary = " and ".join(touched) or "touches nothing"
    return f"{name} {summary}"


def draw_loop(rng) -> list[tuple]:
    """Six operations of a step: each reads two results of this step or the one before, and writes its own."""
    names = [f"operation {number}" for number in rng.permutation(6)]

    def draw_result():
        name = rng.choice(names)
        return f"{name}'s", int(rng.random() < 0.7)

    return [(name, [draw_result(), draw_result()], [(f"{name}'s", 1)], []) for name in names]


# a loop that is drawn has 6 operations: no chain from one back to itself takes more than 7 steps
@ANSWERS.exercise("""
    loop                                                                steps  sequences  block
    a tanh network                                                          3          2
    its backward pass                                                       4          1
    a network that reads its own output                                     4          2
    a network with an output                                                5          3
    a dilated network, whose state depends on the one two steps before      4          2
    inputs in one buffer for all steps                                      3          2
    a loop that is drawn                                                    7          1
    a loop that is drawn                                                    8          1
    a loop that also loads its inputs ahead                                 3          1
    a network of five layers that reads its own output                      3          1      1
""")
def check_leaves_loop(answer, submission, rng, loop, steps, sequences, block=2):
    """loop: a name among LOOPS, or another name for one that is drawn.  Pairs come block by block of later
    operations, the last block first, so that one pass through them follows few waits."""
    step = operations_of(LOOPS[loop]) if loop in LOOPS else draw_loop(rng)
    operations = issue(step, steps, sequences)
    names = [name for name, *_ in operations]
    pairs = ANSWERS["must_wait"].call(operations)

    def late_block_first(pair):
        later = pair[1]
        return -(later // block), later

    late_first = sorted(pairs, key=late_block_first)
    got = submission(names, late_first)
    want = answer.call(names, late_first)
    plain = got
    if isinstance(got, list | tuple):
        plain = sorted(map(str, got))
    refuse(_misjudged_name(got, want, names, pairs), result=plain)


def _misjudged_name(got: object, want: list, names: list, pairs: list) -> str | None:
    """The first name that is wrong, with the chain of waits that decides it."""
    is_list = isinstance(got, list | tuple)
    if not is_list or not all(isinstance(name, str) for name in got):
        return f"The result must be a list of names; it returns {got!r:.60}."
    listed = list(got)
    for name in listed:
        if name not in names:
            return f"This loop has no operation of the name {name!r}."
        times = listed.count(name)
        if times > 1:
            return f"{name!r} comes {times} times; once is enough."
        if name not in want:
            places = _chain(names, pairs, name)
            chain = " ← ".join(f"{names[k]} (place {k})" for k in places)
            return f"{name!r} must stay, because it waits for itself: {chain}."
    for name in want:
        if name not in listed:
            return f"{name!r} may leave: none of its operations waits for another one of that name."
    return None


def _chain(names: list, pairs: list, name: str) -> list[int]:
    """Places from an operation of that name back to an earlier one, by the fewest waits."""
    chains = [[place] for place, other in enumerate(names) if other == name]
    for chain in chains:  # which grows: shorter chains come first
        last = chain[-1]
        if len(chain) > 1 and names[last] == name:
            return chain
        for i, j in pairs:
            if j == last:
                chains.append([*chain, i])
    return []
