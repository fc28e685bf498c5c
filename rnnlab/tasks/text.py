"""Text: the network reads a text, character by character, and says which comes next.

The text is Python's own standard library, or one that the caller hands over. The modules below exist in
Python 3.11 to 3.14; they differ a little from version to version, so losses do too. The answer to beat
counts, for each character of the training text, what followed it: a bigram table.
"""

from collections import Counter
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rnnlab.training.losses import cross_entropy, log_softmax
from rnnlab.training.task import Batch, Task, drawn, weight_from, whole

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
MOST = 255  # characters of a caller's text that have a class of their own
HELD_OUT = 10  # a tenth of a caller's text, its end, is for the test


class Corpus(NamedTuple):
    """Class numbers of a text, train [n] and test [m]; the last class is any character without its own."""

    train: np.ndarray
    test: np.ndarray
    alphabet: str


def task(steps: int = 48, text: str | None = None) -> Task:
    """Pieces of a text, a character a step as a one-hot vector; of Python's library if none is given.

    I = O = 97 for Python's library, for another text one more than it has different characters.
    """
    if text is None:
        question = "The next character of Python source text, from modules never trained on."
        corpus = Corpus(characters("train"), characters("test"), ALPHABET)
    else:
        question = "The next character of a text, in its last tenth."
        corpus = read(text)
    shorter = min(len(corpus.train), len(corpus.test))
    whole("steps", steps, at_least=1, at_most=shorter - 1)
    classes = len(corpus.alphabet) + 1
    return Task(
        name="text",
        question=question,
        steps=steps,
        input_size=classes,
        output_size=classes,
        loss=cross_entropy,
        draw=partial(_draw, steps=steps, corpus=corpus),
        guess=partial(_bigram_answer, corpus=corpus),
        guess_is="how often each character followed this one in the training text (a bigram table)",
        paint=partial(drawn, "guessed_characters", alphabet=corpus.alphabet + UNKNOWN),
        unit=" nats a character",
    )


def read(text: str) -> Corpus:
    """A text with its alphabet; its last tenth is held out.  Raises ValueError if it is too short."""
    shortest = 2 * HELD_OUT
    if not isinstance(text, str) or len(text) < shortest:
        raise ValueError(f"text is {text!r:.40}, expected a str of {shortest} characters or more")
    alphabet = alphabet_of(text)
    held_out = len(text) // HELD_OUT
    train = encode(text[:-held_out], alphabet)
    test = encode(text[-held_out:], alphabet)
    return Corpus(train, test, alphabet)


def alphabet_of(text: str) -> str:
    """The different characters of a text, sorted; of more than MOST the most frequent."""
    most_frequent = Counter(text).most_common(MOST)
    return "".join(sorted(character for character, _ in most_frequent))


def encode(text: str, alphabet: str = ALPHABET) -> np.ndarray:
    """Class numbers [T] of a text's characters."""
    numbers = {character: number for number, character in enumerate(alphabet)}
    other = len(alphabet)
    return np.array([numbers.get(character, other) for character in text], dtype=np.int64)


def decode(classes: np.ndarray, alphabet: str = ALPHABET) -> str:
    """The text of class numbers [T]; a character outside the alphabet shows as �."""
    characters = alphabet + UNKNOWN
    return "".join(characters[number] for number in classes)


def one_hot(classes: np.ndarray, count: int = CLASSES) -> np.ndarray:
    """Vectors with a single 1, [T,B,count] from class numbers [T,B] (or other axes)."""
    return np.eye(count, dtype=np.float32)[classes]


def write(
    model: "Model",
    prompt: str,
    length: int,
    rng: np.random.Generator | int,
    temperature: float = 1.0,
    alphabet: str = ALPHABET,
) -> str:
    """`length` characters that the model writes after the prompt, each drawn by the model's probabilities.

    alphabet: that of the text which the model was trained on, `alphabet_of(text)`.
    """
    expected = model.output_size - 1
    if len(alphabet) != expected:
        raise ValueError(
            f"the alphabet has {len(alphabet)} characters, expected {expected}, one fewer than "
            "the model has outputs: pass alphabet=alphabet_of(text) of the text it was trained on"
        )
    if not prompt:
        raise ValueError("prompt is empty: the network needs a character to start from")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}, expected above 0: near 0 it takes the likeliest")
    written = []
    last = encode(prompt, alphabet)
    state = None
    rng = np.random.default_rng(rng)  # a seed begins one
    for _ in range(length):
        x = one_hot(last, model.output_size)[:, np.newaxis]  # [T,1,I], T = 1 after the prompt
        logits, state, _ = model.predict(x, state)
        last_logits = logits[-1, 0].astype(np.float64)
        probability = np.exp(log_softmax(last_logits / temperature))
        last = rng.choice(model.output_size, size=1, p=probability)
        written.append(int(last[0]))
    return decode(written, alphabet)


@cache
def characters(split: str) -> np.ndarray:
    """The split's whole text as class numbers [n], module after module."""
    sources = [_source(name) for name in MODULES[split]]
    text = encode("\n".join(sources))
    text.setflags(write=False)  # one array for all callers: it must not change
    return text


def _source(name: str) -> str:
    spec = find_spec(name)
    source = None
    if spec and hasattr(spec.loader, "get_source"):
        source = spec.loader.get_source(name)
    if not source:
        raise FileNotFoundError(
            f"the text task reads the source of Python's module {name}, which this Python came without: "
            "use a Python that has its standard library as .py files (python.org, conda, Debian, uv)"
        )
    return source


def _draw(rng, B: int, split: str, steps: int, corpus: Corpus) -> Batch:
    text = getattr(corpus, split)
    starts = rng.integers(0, len(text) - steps, B)
    places = starts + np.arange(steps + 1)[:, np.newaxis]
    pieces = text[places]  # [T+1,B]
    x = one_hot(pieces[:-1], len(corpus.alphabet) + 1)
    return Batch(x, pieces[1:], weight_from(0, steps))


def _bigram_answer(batch: Batch, corpus: Corpus) -> np.ndarray:
    logits = bigram_logits(corpus.train, len(corpus.alphabet) + 1)
    characters = batch.x.argmax(-1)
    return logits[characters]


def bigram_logits(text: np.ndarray, classes: int = CLASSES) -> np.ndarray:
    """log P(next | character) [classes,classes] from class numbers [n]; one count more, so that none is 0."""
    pairs = text[:-1] * classes + text[1:]
    counts = np.bincount(pairs, minlength=classes**2).reshape(classes, classes) + 1
    probability = counts / counts.sum(1, keepdims=True)
    return np.log(probability).astype(np.float32)
