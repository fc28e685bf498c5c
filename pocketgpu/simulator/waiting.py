"""Loops that wait for other threads: which places of a program are in one, and by what it waits."""

import ast
from types import CodeType
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.names import names_used
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.trace import SourcePlace

Lines = set[int]
_loops: dict[int, tuple[CodeType, tuple]] = {}  # by id: a code object, and what _while_lines says of it


class WaitingSites(NamedTuple):
    """Places of the program in loops that wait for other threads."""

    conditions: np.ndarray  # [sites] in the condition of a while
    polls: np.ndarray  # [sites] there, or in a loop that a break leaves
    tested: np.ndarray  # [sites] what says whether a loop ends


def is_weak_poll(log: Accesses, waiting: WaitingSites, place: int) -> bool:
    """Does a loop wait by this load, which a compiler may take out of it, or remove with it?"""
    is_volatile = log.kind[place] == trace.VOLATILE_LOAD
    return is_volatile and bool(waiting.tested[log.site[place]])


def waiting_sites(sites: list[SourcePlace]) -> WaitingSites:
    """Which places of the program are in a loop that waits."""
    masks = np.zeros((3, max(1, len(sites))), bool)
    for number, site in enumerate(sites):
        code = site.code
        if id(code) not in _loops:
            _loops[id(code)] = code, _while_lines(code)
        _, lines_of_masks = _loops[id(code)]
        for mask, lines in zip(masks, lines_of_masks, strict=True):
            mask[number] = site.line in lines
    return WaitingSites(*masks)


def _while_lines(code: CodeType) -> tuple[Lines, Lines, Lines]:
    """Lines of conditions of while; these, and the bodies of loops that a break leaves; what loops test."""
    conditions = set()
    polls = set()
    tested = set()
    for loop in _nodes(definition_of(code), ast.While):
        condition = _lines_of(loop.test)
        conditions |= condition
        polls |= _lines_of(loop) if _holds(loop, ast.Break) else condition
        tested |= _tested_lines(loop)
    return conditions, polls, tested


def _tested_lines(loop: ast.While) -> Lines:
    """Lines that say whether the loop ends: its condition, an if around break or return, and assignments to
    what these test, as in `while seen == 0: seen = cuda.ldcv(flag, 0)`."""
    tests = [loop.test]
    tests += [branch.test for branch in _nodes(loop, ast.If) if _holds(branch, ast.Break, ast.Return)]
    tested_names = set().union(*map(names_used, tests))
    for assignment in _nodes(loop, ast.Assign):
        # `seen` of seen[0]
        bases = [getattr(target, "value", target) for target in assignment.targets]
        if any(tested_names & names_used(base) for base in bases):
            tests.append(assignment)
    return set().union(*map(_lines_of, tests))


def _lines_of(node: ast.AST) -> Lines:
    return {*range(node.lineno, node.end_lineno + 1)}


def _nodes(tree: ast.AST | None, *kinds: type[ast.AST]) -> list[ast.AST]:
    """The nodes of these kinds; none of a function whose text is not available."""
    return [node for node in ast.walk(tree) if isinstance(node, kinds)] if tree else []


def _holds(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    return bool(_nodes(node, *kinds))
