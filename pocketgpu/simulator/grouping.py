"""Grouping of columns: order, distinct pairs, several owners, without comparing numbers.

NumPy sorts 16 bits at a time by their digits, ten times as fast as it compares numbers of 64 bits.
"""

import numpy as np

DIGIT = 16  # bits
LARGEST = 1 << 22  # entries of a table by key
MIXER = np.uint64(0x9E3779B97F4A7C15)  # spreads keys over a table (Knuth's multiplicative hash)


def repeated(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Each of the values [n] as often as `times` [n] says; NumPy takes no wider counts than addresses."""
    return np.repeat(values, times.astype(np.intp, copy=False))


def tallied(numbers: np.ndarray, size: int = 0, amounts: np.ndarray | None = None) -> np.ndarray:
    """[size] How often each number from 0 on is there, or the sum of its amounts [n]."""
    numbers = numbers.astype(np.intp, copy=False)
    return np.bincount(numbers, amounts, size).astype(np.int64, copy=False)


def order_of(key: np.ndarray) -> np.ndarray:
    """[n] The stable order of numbers from 0 on."""
    bits = int(key.max(initial=0)).bit_length()
    lowest = (key & 0xFFFF).astype(np.uint16)
    order = np.argsort(lowest, kind="stable")
    for shift in range(DIGIT, bits, DIGIT):
        digit = (key >> shift & 0xFFFF).astype(np.uint16)
        by_digit = np.argsort(digit[order], kind="stable")
        order = order[by_digit]
    return order


def starts_of(key: np.ndarray) -> np.ndarray:
    """[groups] Places where a sorted column changes, the first included."""
    changes = np.ones(len(key), bool)
    changes[1:] = key[1:] != key[:-1]
    return np.flatnonzero(changes)


def turn_in_group(key: np.ndarray) -> np.ndarray:
    """[n] How many with the same key stand before each."""
    order = order_of(key)
    starts = starts_of(key[order])
    lengths = np.diff(starts, append=len(key))
    turn = np.empty(len(key), np.int64)
    turn[order] = np.arange(len(key)) - repeated(starts, lengths)
    return turn


def paired(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n] A key for each pair (first, second), which sorts as the pair does."""
    first = first.astype(np.int64)
    low = second.astype(np.int64) - second.min(initial=0)
    span = int(low.max(initial=0)) + 1
    largest = int(first.max(initial=0))
    if largest >= (1 << 62) // span:  # a pair as one number would not fit into 64 bits
        _, first = np.unique(first, return_inverse=True)
    return first * span + low


def distinct(key: np.ndarray) -> np.ndarray:
    """[groups] Places of the first of each key."""
    order = order_of(key)
    starts = starts_of(key[order])
    return order[starts]


def table_keys(key: np.ndarray, keys: int) -> tuple[np.ndarray, int]:
    """[n] Keys below a size that tables can have, and that size; different ones may then be the same."""
    if keys <= max(LARGEST, 4 * len(key)):
        return key, keys
    bits = max(16, (4 * len(key)).bit_length())
    mixed = key.astype(np.uint64) * MIXER
    highest = mixed >> np.uint64(64 - bits)
    return highest.astype(np.int64), 1 << bits


def contested(
    key: np.ndarray, keys: int, owner: np.ndarray, writes: np.ndarray, plain: np.ndarray
) -> np.ndarray:
    """[keys] Which keys below `keys` several owners access, one of them to write, and not all by atomics.

    Of each access [n]: its key, its owner, whether it writes, and whether it is no atomic.
    """
    one_owner = np.zeros(keys, np.int64)
    several, some_write, some_plain = np.zeros((3, keys), bool)
    one_owner[key] = owner
    is_other = one_owner[key] != owner
    several[key[is_other]] = True
    if several.any():
        some_write[key[writes]] = True
        some_plain[key[plain]] = True
    return several & some_write & some_plain


def ones_before(is_one: np.ndarray, begins: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """[n] How many ones of the same owner stand before each; an owner's turns [turns] begin at `begins`."""
    if not is_one.any():
        return np.zeros(len(is_one), np.int64)
    running = np.concatenate([[0], np.cumsum(is_one)])
    lengths = np.diff(begins, append=len(is_one))
    in_turn = running[begins + lengths] - running[begins]
    order = order_of(owners)
    by_owner = in_turn[order]
    total = np.cumsum(by_owner) - by_owner  # of all turns before, owner after owner
    starts = starts_of(owners[order])
    turns = np.diff(starts, append=len(order))
    before = np.empty(len(order), np.int64)
    before[order] = total - repeated(total[starts], turns)
    return running[:-1] + repeated(before - running[begins], lengths)
