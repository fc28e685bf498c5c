"""What a check needs of the course's own answers: derived from the exercises' texts, and packed.

`authoring` packs the answers of a lesson from solutions/source/<lesson>/ into one file. It is
compressed, so that nobody who reads or searches the package finds an answer by chance. It is not secret:
whoever wants the answers finds them there, and a teacher who hands out the package hands them out too.
"""

import json
import linecache
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from types import CodeType, MappingProxyType

from nbjudge.exercise import Code, Exercise, Mutant, Numbers, Wrong

LATE = 40, 150  # elements of the axis that the last case has: no answer is right for small sizes alone


@dataclass(frozen=True)
class ModelAnswer:
    """The course's own answer to one exercise, and all that its text says about it."""

    name: str
    points: int
    difficulty: int  # 1 to 5
    minutes: int
    lines: int  # expected size of the answer
    hints: tuple[str, ...]  # orient, key idea, near-code
    mutants: tuple[Mutant, ...]  # known mistakes, as edits of `source`
    right: tuple[str, ...]  # differently written right answers, as programs
    prelude: str  # program that must have run before `source`
    source: str  # program that defines the function
    numbers: Numbers = field(default_factory=dict, hash=False)  # of a variant
    variants: tuple["ModelAnswer", ...] = ()  # the answers to the exercise with other numbers

    @property
    def current(self) -> "ModelAnswer":
        """The answer to the variant that is judged at the moment (`judging_variant`); else this one."""
        return _judged.get().get(self.name, self)

    def number(self, name: str, otherwise: int | str) -> int | str:
        """A number of the variant that is judged at the moment; `otherwise` is the course's own."""
        return self.current.numbers.get(name, otherwise)

    @property
    def function(self) -> Callable:
        """The function itself, of the variant that is judged at the moment."""
        return self.current._function

    @cached_property
    def _function(self) -> Callable:
        return self.define(self.source, f"<{self.name}>")

    def mutated(self, mutant: Mutant) -> Callable:
        """The function with the edit of a known mistake made. Raises ValueError if the edit is stale."""
        source = self.current.source
        if mutant.old not in source:
            raise ValueError(f"mutant {mutant.name!r} is stale: {self.name} has no {mutant.old!r}")
        return self.define(source.replace(mutant.old, mutant.new), f"<{self.name}: {mutant.name}>")

    def define(self, source: str, label: str) -> Callable:
        """The function of this name in `given` and `source`; its lines can be shown under `label`."""
        return define(self.name, source, label, self.prelude)

    def call(self, *arguments: object) -> object:
        """The right result for copies of the arguments; the traces of Codes stay as they are."""
        untraced = (replace(part, trace=[]) if isinstance(part, Code) else part for part in arguments)
        return call(self.function, tuple(untraced))

    def make(self, mutant: Mutant | None = None) -> Callable:
        """The function, with the edit of a known mistake made where one is named."""
        return self.mutated(mutant) if mutant else self.function

    def exercise(
        self,
        check: Callable,
        cases: tuple[tuple, ...] | Callable = ((),),
        seconds: float = 20.0,
        is_kernel: bool = False,
        diagnoses: bool = False,
        late: Callable[[int], tuple] | None = None,
    ) -> Exercise:
        """The exercise that this is the answer to, judged by `check(submission, rng, *case)` for each.

        late(n): the last case, with an axis of n elements (LATE), which small cases do not imply.  Before it
        comes the first case again, with other numbers: results in the arrays of an earlier call then show.
        """
        if late is not None:
            cases = _with_late_case(cases, late)
        properties = self.points, self.difficulty, self.minutes, self.lines
        answers = self.make, self.mutants, self.right
        return Exercise(
            self.name, *properties, self.hints, check, cases, *answers, seconds, is_kernel, diagnoses
        )


def define(name: str, source: str, label: str, prelude: str) -> Callable:
    """The function of a program that runs behind another one; its lines can be shown under `label`."""
    linecache.cache[label] = (len(source), None, source.splitlines(True), label)
    namespace = {"__name__": label}
    exec(_compiled(prelude, f"<given to {name}>"), namespace)
    exec(_compiled(source, label), namespace)
    return namespace[name]


def _with_late_case(cases: tuple[tuple, ...] | Callable, late: Callable[[int], tuple]) -> Callable:
    def draw(rng):
        small = cases(rng) if callable(cases) else cases
        return (*small, small[0], late(int(rng.integers(*LATE, endpoint=True))))

    return draw


@lru_cache(maxsize=4096)  # a judge defines a known mistake again with each seed, a check for each drawn case
def _compiled(source: str, label: str) -> CodeType:
    return compile(source, label, "exec")


_judged: ContextVar[Mapping[str, ModelAnswer]] = ContextVar("judged", default=MappingProxyType({}))


@contextmanager
def judging_variant(answer: ModelAnswer) -> Iterator[None]:
    """Within it, checks compare with this answer to the exercise of its name."""
    token = _judged.set({**_judged.get(), answer.name: answer})
    try:
        yield
    finally:
        _judged.reset(token)


def judged_numbers() -> str:
    """The numbers of the variant that is judged at the moment, as `check` takes them; else empty."""
    return ", ".join(f"{name}={value!r}" for a in _judged.get().values() for name, value in a.numbers.items())


def pack(entries: list[ModelAnswer]) -> bytes:
    """The bytes of a file of answers."""
    return zlib.compress(json.dumps([asdict(entry) for entry in entries], ensure_ascii=False).encode(), 9)


def unpack(data: bytes) -> list[ModelAnswer]:
    """The answers in such a file."""
    return [_answer(entry) for entry in json.loads(zlib.decompress(data))]


def _answer(entry: dict) -> ModelAnswer:
    mutants = tuple(Mutant(**mutant) for mutant in entry["mutants"])
    variants = tuple(_answer({**variant, "variants": ()}) for variant in entry.get("variants", ()))
    texts = {"hints": tuple(entry["hints"]), "right": tuple(entry["right"])}
    return ModelAnswer(**{**entry, **texts, "mutants": mutants, "variants": variants})


def call(function: Callable, arguments: tuple) -> object:
    """function(*arguments) on copies, with a fresh instance of each Code; those of one source share it."""
    sources = {}
    return function(*(_copy(argument, sources) for argument in arguments))


def _copy(argument, sources: dict[str, dict]) -> object:
    if isinstance(argument, Code):
        return load(argument, sources)
    return argument.copy() if type(argument).__name__ == "ndarray" else argument


def load(code: Code, sources: dict[str, dict] | None = None) -> Callable:
    """The function that a Code stands for; `sources` holds the globals of each source that was executed."""
    sources = {} if sources is None else sources
    if code.source not in sources:
        numpy = import_module("numpy")  # the command's help must not wait for it
        trace = [] if code.trace is None else code.trace
        sources[code.source] = {"np": numpy, "Wrong": Wrong, "trace": trace}
        exec(_compiled(code.source, "<string>"), sources[code.source])
    return sources[code.source][code.name]
