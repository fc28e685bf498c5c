"""Weights as the tensor cores want them: which lane holds which word of a tile.

`mma` multiplies a tile of 16 rows and 8 words (16 numbers of 16 bits, or 8 of TF32) by one of 8 words and 8
sequences.  Lane 4g + t holds four words of the first: of rows g and g + 8, words t and t + 4.  Of the second
it holds words t and t + 4 of sequence g; of the result rows g and g + 8, sequences 2t and 2t + 1 (PTX ISA,
"Matrix Fragments for mma").

A sum may run over its terms in any order.  So tiles come in pairs over 16 neighbouring words, and lane t
takes words 4t to 4t + 3, which it can read of h in one go: two for the first tile, two for the second.

bfloat16 has no type in NumPy: it lies in uint16, the upper half of the float32 that it stands for.
"""

import numpy as np

from rnnlab.narrow import from_bfloat16, to_bfloat16

DTYPES = {"bfloat16": 0, "float16": 1, "tf32": 2}  # as the kernels' DTYPE
ITEMSIZE = {"bfloat16": 2, "float16": 2, "tf32": 4}
STORED = {"bfloat16": np.uint16, "float16": np.float16, "tf32": np.float32}


def stored(array: np.ndarray, dtype: str) -> np.ndarray:
    """The array rounded to nearest, ties to even, as it lies in memory; float32 stays as it is for tf32."""
    array = np.ascontiguousarray(array, "float32")
    return to_bfloat16(array) if dtype == "bfloat16" else array.astype(STORED[dtype])


def loaded(array: np.ndarray, dtype: str) -> np.ndarray:
    """float32 numbers, of any shape, from an array that `stored` made."""
    return from_bfloat16(array) if dtype == "bfloat16" else array.astype("float32")


def factors(array: np.ndarray, dtype: str) -> np.ndarray:
    """[…,K] numbers as words […,K·itemsize/4] of a product's factor; float32 rounded to TF32."""
    if dtype != "tf32":
        return stored(array, dtype).view("uint32")
    words = np.ascontiguousarray(array, "float32").view("uint32")
    return words + 0x1000 & np.uint32(0xFFFFE000)


ROWS = 16
WORDS = 8
LANES = 32  # of a tile; of a warp
PAIR = 2 * WORDS


def pack(words: np.ndarray) -> np.ndarray:
    """[R,W] words → fragments [R/16, W/8, 32, 4]; R is a multiple of 16, W of 16.

    Raises ValueError if rows or words do not fill tiles.
    """
    rows, wide = words.shape
    if rows % ROWS or wide % PAIR:
        raise ValueError(f"{rows} rows of {wide} words do not fill tiles of {ROWS} rows, two by {PAIR} words")
    # tile, row half, g, pair, t, which, word
    parts = words.reshape(rows // ROWS, 2, 8, wide // PAIR, 4, 2, 2)
    lanes = parts.transpose(0, 3, 5, 2, 4, 6, 1)
    return np.ascontiguousarray(lanes).reshape(-1, wide // WORDS, LANES, 4)


def forward_fragments(weights: np.ndarray, gates: int, dtype: str) -> np.ndarray:
    """Tiles of 4 units of [G·H,H] with all their gates (16 units where there is one); a GRU's fourth is 0.

    Row r of a tile is gate r // 4 of unit r % 4, so that two lanes 16 apart hold all gates of two sequences.
    """
    slots = 1 if gates == 1 else 4
    hidden = weights.shape[1]
    rows = np.zeros((slots, hidden, hidden), "float32")
    rows[:gates] = weights.reshape(gates, hidden, hidden)
    of_tile = ROWS // slots
    gate_rows = rows.reshape(slots, hidden // of_tile, of_tile, hidden)
    tile_rows = gate_rows.transpose(1, 0, 2, 3).reshape(-1, hidden)
    return pack(factors(tile_rows, dtype))


def backward_fragments(weights: np.ndarray, dtype: str) -> np.ndarray:
    """Fragments of [G·H,H]: tiles of 16 units: what each receives from all gates of all units."""
    return pack(factors(weights.T, dtype))


def scattered_fragments(weights: np.ndarray, gates: int, blocks: int, dtype: str) -> np.ndarray:
    """Fragments of [G·H,H]: for each block what all units receive from the gates of its own [blocks·H/16, …].

    A block's gates are padded with zeros to whole pairs of tiles.
    """
    hidden = weights.shape[1]
    units = hidden // blocks
    columns = gates * units
    padding = -columns % 32
    of_gates = weights.reshape(gates, hidden, hidden)
    packed = []
    for first in range(0, blocks * units, units):
        own = of_gates[:, first : first + units]
        rows = own.reshape(columns, hidden).T
        padded = np.pad(rows, ((0, 0), (0, padding)))
        packed.append(pack(factors(padded, dtype)))
    return np.concatenate(packed)
