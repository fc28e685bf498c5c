"""Products of RNN sizes as Baidu SVAIL measured them in 2015, read off the figures of their first RNN post.

Elsen, "Optimizing RNN Performance", svail/rnn_perf: a TitanX (Maxwell) without boost, 6.14 TFLOP/s at most,
CUDA 7.0, float32.  M = K weights, N sequences; TFLOP/s of cuBLAS and of Nervana's kernels.  The products are
those of the forward pass; the numbers stand in svail_gemm.toml.
"""

from rnncourse.tables import read_table

PEAK = 6.14  # TFLOP/s
LIBRARIES = ("cuBLAS", "Nervana")
MINIBATCHES = (32, 64, 96, 128, 160, 192, 224, 256)
TABLES = read_table(__file__)
FORWARD = {int(size): pairs for size, pairs in TABLES["forward"].items()}  # a pair for each of MINIBATCHES
ODD_2560 = {int(minibatch): pair for minibatch, pair in TABLES["odd_2560"].items()}


def forward(size: int, library: str) -> list[float]:
    """TFLOP/s at each of MINIBATCHES.  Raises ValueError for a size or a library that was not measured."""
    if size not in FORWARD:
        raise ValueError(f"size is {size}; the measured ones are {', '.join(map(str, FORWARD))}")
    if library not in LIBRARIES:
        raise ValueError(f"library is {library!r}; the measured ones are {' and '.join(LIBRARIES)}")
    return [pair[LIBRARIES.index(library)] for pair in FORWARD[size]]
