"""The cache model counts what one can count by hand, and obeys the laws of least recently used."""

from itertools import pairwise

import numpy as np
import pytest

from rnncourse.cache_model import Cache, missed

LINE = 64


def lines(*numbers):
    """Byte addresses within lines of these numbers."""
    return np.array(numbers) * LINE + 4


def misses(cache, *numbers):
    return missed(lines(*numbers), cache).astype(int).tolist()


def test_a_line_brings_its_neighbours():
    assert missed(np.arange(0, 2 * LINE, 4), Cache(ways=4)).sum() == 2


def test_the_line_used_longest_ago_makes_room():
    # a cache of two lines: 0 is used again, so 2 drives out 1
    assert misses(Cache(ways=2), 0, 1, 0, 2, 0, 1) == [1, 1, 0, 1, 0, 1]


def test_a_walk_longer_than_the_cache_never_finds_anything():
    assert sum(misses(Cache(ways=3), *[0, 1, 2, 3] * 5)) == 20


def test_lines_of_one_set_drive_each_other_out_while_others_stand_empty():
    cache = Cache(ways=1, sets=4)
    assert misses(cache, 0, 4, 0, 4) == [1, 1, 1, 1]
    assert misses(cache, 0, 5, 0, 5) == [1, 1, 0, 0]
    assert cache.bytes == 4 * LINE


def test_rows_of_1024_numbers_put_a_whole_column_into_few_sets():
    # 4096 bytes are 64 lines: every row begins in the same of 64 sets
    cache = Cache(ways=12, sets=64)
    column = np.tile(np.arange(256) * 4096, 2)
    assert missed(column, cache).sum() == 512
    assert missed(np.tile(np.arange(256) * 4000, 2), cache).sum() == 256


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_cache_never_misses_what_a_smaller_one_finds(seed):
    walk = np.random.default_rng(seed).integers(0, 40, 500) * LINE
    result = [missed(walk, Cache(ways)) for ways in (4, 8, 16, 64)]
    assert all((larger <= smaller).all() for smaller, larger in pairwise(result))
    assert result[-1].sum() == len(np.unique(walk))
