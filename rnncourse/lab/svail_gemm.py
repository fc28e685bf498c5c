"""Products of RNN sizes as Baidu SVAIL measured them in 2015, read off the figures of their first RNN post.

Elsen, "Optimizing RNN Performance", svail/rnn_perf: a TitanX (Maxwell) without boost, 6.14 TFLOP/s at most,
CUDA 7.0, float32.  M = K weights, N sequences; TFLOP/s of cuBLAS and of Nervana's kernels.  The products are
those of the forward pass.
"""

PEAK = 6.14  # TFLOP/s
LIBRARIES = ("cuBLAS", "Nervana")
MINIBATCHES = (32, 64, 96, 128, 160, 192, 224, 256)
FORWARD = {  # M = K -> a pair for each of MINIBATCHES
    1024: (
        (0.38, 1.15), (1.09, 2.43), (1.20, 3.65), (2.14, 3.37),
        (1.94, 4.15), (2.96, 4.92), (2.53, 4.08), (3.33, 4.79),
    ),
    2048: (
        (1.43, 2.71), (2.07, 3.76), (1.35, 5.40), (3.26, 5.02),
        (2.11, 4.79), (4.79, 5.66), (2.66, 4.58), (5.13, 5.00),
    ),
    2560: (
        (1.46, 3.14), (2.60, 4.63), (1.56, 4.79), (4.59, 4.85),
        (2.05, 4.70), (4.61, 4.90), (2.55, 4.95), (4.58, 5.07),
    ),
}  # fmt: skip
ODD_2560 = {  # NN, M = K = 2560, minibatches that are multiples of 25
    25: (0.96, 2.34), 50: (1.10, 3.12), 75: (1.44, 3.25), 100: (1.02, 3.28),
    125: (0.96, 4.07), 150: (1.62, 3.91), 200: (2.61, 4.02), 250: (1.66, 4.40),
}  # fmt: skip
OVER_TIME = {512: (4.87, 5.71), 1024: (5.25, 5.31), 2048: (5.51, 5.43), 2560: (5.49, 5.40)}  # N = 4096


def forward(size: int, library: str) -> list[float]:
    """TFLOP/s at each of MINIBATCHES.  Raises ValueError for a size or a library that was not measured."""
    if size not in FORWARD:
        raise ValueError(f"size is {size}; the measured ones are {', '.join(map(str, FORWARD))}")
    if library not in LIBRARIES:
        raise ValueError(f"library is {library!r}; the measured ones are {' and '.join(LIBRARIES)}")
    return [pair[LIBRARIES.index(library)] for pair in FORWARD[size]]
