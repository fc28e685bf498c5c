"""`rnnlab bench gru`: all sizes of the post's figures in one run, as a table."""

from rnncourse.lab.gru_variants import PUBLISHED, Case, measure


def table_row(case: Case) -> str:
    """One size as text: speed relative to V1, and GFLOP/s of the fastest."""
    speeds = "".join(f"{speed:7.2f}" for speed in case.relative_speed())
    return f"{case.hidden_size:6}{case.minibatch:10}{speeds}{max(case.gflops()):12.0f}"


def main() -> None:
    """Measure and print."""
    print("speed relative to V1, forward and backward, float32, medians of variants that took turns")
    print("hidden minibatch     V1     V2     V3     V4     V5  best GFLOP/s", flush=True)
    measure(PUBLISHED, (8, 16, 32, 64, 128), T=4, tell=lambda case: print(table_row(case), flush=True))
