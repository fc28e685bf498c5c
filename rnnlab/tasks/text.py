"""Text: the network reads Python's own standard library, character by character, and says which comes next.

The modules below exist in Python 3.11 to 3.14. Their text differs a little from version to version, so
losses do too. The answer to beat counts, for each character of the training text, what followed it: a
bigram table.
"""

from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from rnnlab.training.losses import cross_entropy, log_softmax
from rnnlab.training.task import Batch, Task, drawn, whole

if TYPE_CHECKING:
    from rnnlab.training.model import Model  # which needs tasks

MODULES = {
    "train": (
        "argparse configparser contextlib copy csv dataclasses difflib enum fractions functools heapq "
        "inspect pickle random shlex shutil statistics textwrap threading tokenize"
    ).split(),
    "test": "calendar fnmatch pprint queue socketserver timeit".split(),
}
ALPHABET = "\n" + "".join(map(chr, range(32, 127)))  # printable ASCII; anything else is read as OTHER
OTHER = len(ALPHABET)
UNKNOWN = "�"
CLASSES = len(ALPHABET) + 1


def task(steps: int = 48) -> Task:
    """Pieces of source text, a character a step as a one-hot vector; I = O = 97."""
    whole("steps", steps, at_least=1, at_most=min(len(characters(split)) for split in MODULES) - 1)
    return Task(
        name="text",
        question="The next character of Python source text, from modules never trained on.",
        steps=steps,
        input_size=CLASSES,
        output_size=CLASSES,
        loss=cross_entropy,
        draw=partial(_draw, steps=steps),
        guess=_bigram_answer,
        guess_is="how often each character followed this one in the training text (a bigram table)",
        paint=partial(drawn, "guessed_characters", alphabet=ALPHABET + UNKNOWN),
        unit=" nats a character",
    )


def encode(text: str) -> np.ndarray:
    """Class numbers [T] of a text's characters."""
    return np.array([_CLASS.get(character, OTHER) for character in text], dtype=np.int64)


def decode(classes: np.ndarray) -> str:
    """The text of class numbers [T]; a character outside the alphabet shows as �."""
    return "".join((ALPHABET + UNKNOWN)[c] for c in classes)


def one_hot(classes: np.ndarray) -> np.ndarray:
    """Vectors with a single 1, [T,B,97] from class numbers [T,B] (or other axes)."""
    return np.eye(CLASSES, dtype=np.float32)[classes]


def write(
    model: "Model", prompt: str, length: int, rng: np.random.Generator, temperature: float = 1.0
) -> str:
    """`length` characters that the model writes after the prompt, each drawn by the model's probabilities."""
    if not prompt:
        raise ValueError("prompt is empty: the network needs a character to start from")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}, expected above 0: near 0 it takes the likeliest")
    written = []
    read = encode(prompt)
    state = None
    for _ in range(length):
        logits, state, _ = model.predict(one_hot(read)[:, np.newaxis], state)
        probability = np.exp(log_softmax(logits[-1, 0].astype(np.float64) / temperature))
        read = rng.choice(CLASSES, size=1, p=probability)
        written.append(int(read[0]))
    return decode(written)


@cache
def characters(split: str) -> np.ndarray:
    """The split's whole text as class numbers [n], module after module."""
    text = encode("\n".join(_source(name) for name in MODULES[split]))
    text.setflags(write=False)  # one array for all callers: it must not change
    return text


def _source(name: str) -> str:
    spec = find_spec(name)
    source = spec.loader.get_source(name) if spec and hasattr(spec.loader, "get_source") else None
    if not source:
        raise FileNotFoundError(
            f"the text task reads the source of Python's module {name}, which this Python came without: "
            "use a Python that has its standard library as .py files (python.org, conda, Debian, uv)"
        )
    return source


def _draw(rng, B: int, split: str, steps: int) -> Batch:
    text = characters(split)
    starts = rng.integers(0, len(text) - steps, B)
    pieces = text[starts + np.arange(steps + 1)[:, np.newaxis]]  # [T+1,B]
    return Batch(one_hot(pieces[:-1]), pieces[1:], np.ones(steps, dtype=np.float32))


def _bigram_answer(batch: Batch) -> np.ndarray:
    return bigram_logits()[batch.x.argmax(-1)]


@cache
def bigram_logits() -> np.ndarray:
    """log P(next | character) [97,97], counted on the training text; one count more, so that none is 0."""
    text = characters("train")
    pairs = np.bincount(text[:-1] * CLASSES + text[1:], minlength=CLASSES**2).reshape(CLASSES, CLASSES) + 1
    return np.log(pairs / pairs.sum(1, keepdims=True)).astype(np.float32)


_CLASS = {character: number for number, character in enumerate(ALPHABET)}
