"""The commands bench and record.  What they need is imported when they run: --help must answer at once."""

import argparse
import os
import sys


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add bench and record, with their own subcommands, to the command line."""
    bench = subparsers.add_parser("bench", help="measure this machine: every way to run a network, and peers")
    bench.set_defaults(handler=lambda chosen: bench.print_help())
    kinds = bench.add_subparsers(metavar="WHAT")
    _add_cpu(kinds.add_parser("cpu", help="every rung and peer on the CPU: one training step, seven sizes"))
    _add_cmu(
        kinds.add_parser("cmu", help="the CMU project's last workload: Halide schedules, NumPy, the ladder")
    )
    _add_gpu(
        kinds.add_parser(
            "gpu", help="stages of the ladder, PyTorch and cuDNN on a GPU; without one, a forecast"
        )
    )
    _add_day(
        subparsers.add_parser(
            "gpu-day",
            help="nine minutes with a borrowed GPU: import, test, measure, most valuable first",
        )
    )
    gru = kinds.add_parser("gru", help="five GRU variants at the sizes of the published figures")
    gru.set_defaults(handler=_gru)
    record = subparsers.add_parser("record", help="measurements that were made: list them, show one")
    record.set_defaults(handler=lambda chosen: record.print_help())
    verbs = record.add_subparsers(metavar="WHAT")
    verbs.add_parser("list", help="list every record, with its date, machine and commit").set_defaults(
        handler=_list
    )
    show = verbs.add_parser("show", help="print the tables of one record")
    show.add_argument("name", nargs="?", help="its name, or a part of it; without a name, all are listed")
    show.add_argument("--json", action="store_true", help="print the record as JSON")
    show.set_defaults(handler=_show)


def _add_cpu(cpu: argparse.ArgumentParser) -> None:
    cpu.add_argument("--quick", action="store_true", help="fewer sizes, contestants, rounds: under a minute")
    cpu.add_argument("--record", action="store_true", help="keep what is measured, with its provenance")
    cpu.add_argument("--fresh", action="store_true", help="begin anew where a record was interrupted")
    several = {"nargs": "+", "metavar": "NAME"}
    cpu.add_argument(
        "--cells", **several, help="names of cells, such as min_gru (default: rnn_tanh, gru, lstm)"
    )
    cpu.add_argument("--shapes", nargs="+", metavar="T,B,I,H", help="sizes, as 100,32,128,256")
    cpu.add_argument(
        "--steps",
        nargs="*",
        metavar="H",
        help="hidden sizes of one step at B = 1 (default: 64 to 2048; with --shapes or --rungs: none)",
    )
    cpu.add_argument(
        "--scans",
        nargs="*",
        metavar="T",
        help="lengths of one sequence of min_gru, by loop and by scan (default: 100 to 100000; with --shapes "
        "or --rungs: none)",
    )
    cpu.add_argument(
        "--emulate",
        metavar="NAME",
        help="avx2: no contestant uses AVX-512; the record says so",
    )
    cpu.add_argument("--rungs", **several, help="rungs of the ladder (default: all that run on a CPU)")
    cpu.add_argument(
        "--peers", nargs="*", metavar="NAME", help="of pytorch, pytensor, jax, halide (default: all)"
    )
    _add_shared(cpu)
    cpu.set_defaults(handler=_cpu)


def _add_cmu(cmu: argparse.ArgumentParser) -> None:
    cmu.add_argument("--quick", action="store_true", help="100 sequences in place of 1000, fewer rounds")
    cmu.add_argument("--record", action="store_true", help="keep what is measured, with its provenance")
    cmu.add_argument("--only", nargs="+", metavar="NAME", help="contestants, as in the table (default: all)")
    _add_shared(cmu)
    cmu.set_defaults(handler=_cmu)


def _add_gpu(gpu: argparse.ArgumentParser) -> None:
    gpu.add_argument("--quick", action="store_true", help="LSTM only, fewer sizes and rounds")
    gpu.add_argument("--record", action="store_true", help="keep what is measured, with its provenance")
    several = {"nargs": "+", "metavar": "NAME"}
    gpu.add_argument(
        "--suite", **several, help="any of persistent, stages, peers, once (default: the first three)"
    )
    gpu.add_argument("--rounds", type=int, metavar="N", help="turns of each contestant (default: 7)")
    _add_choice(gpu)
    gpu.add_argument("--minutes", type=float, metavar="M", help="time for everything (default: 8)")
    gpu.add_argument(
        "--device", metavar="NAME", help="without a GPU: the GPU whose times are predicted (default: H200)"
    )
    gpu.set_defaults(handler=_gpu)


def _add_choice(command: argparse.ArgumentParser) -> None:
    """Options that choose tasks of the GPU suites, and where their record lies."""
    several = {"nargs": "+", "metavar": "TASK"}
    command.add_argument(
        "--only", **several, help="tasks with these words in their names, as lstm-T1024, depth"
    )
    command.add_argument("--skip", **several, help="all tasks but those")
    command.add_argument("--out", metavar="DIR", help="keep a copy of the record there, after every task")
    command.add_argument(
        "--continue",
        nargs="?",
        const="",
        metavar="FILE",
        help="continue with an interrupted record of the same code and GPU (default FILE: the one kept last)",
    )


def _add_day(day: argparse.ArgumentParser) -> None:
    day.add_argument("part", type=int, nargs="?", default=1, help="1, the only part there is")
    day.add_argument("--minutes", type=float, default=9.0, metavar="M", help="time for all (default: 9)")
    day.add_argument("--out", metavar="DIR", default="results", help="folder of the page and the records")
    day.set_defaults(handler=_day)


def _add_shared(command: argparse.ArgumentParser) -> None:
    command.add_argument("--threads", type=int, metavar="N", help="of each contestant (default: all cores)")
    command.add_argument("--rounds", type=int, metavar="N", help="how often each takes its turn")
    command.add_argument("--picture", metavar="FILE", help="draw the chart there, as .png or .svg")
    command.add_argument("--peers-python", metavar="PATH", help="the Python that has the peers' packages")


def _say_who_else_runs() -> None:
    """Before any number: whether other programs use the cores."""
    from rnncourse.lab import crowd

    if message := crowd.warning(crowd.others_part()):
        print(f"{message[0].upper()}{message[1:]}. Measure again when it is quiet.", flush=True)


def _cpu(chosen: argparse.Namespace) -> int:
    _say_who_else_runs()
    from bench import cpu_run

    return cpu_run.run(chosen)


def _gpu(chosen: argparse.Namespace) -> int:
    _say_who_else_runs()
    from bench.gpu import command

    return command.run(chosen)


def _day(chosen: argparse.Namespace) -> int:
    from bench.gpu import day

    return day.run(chosen)


def _cmu(chosen: argparse.Namespace) -> int:
    _say_who_else_runs()
    from bench import cmu_workload

    return cmu_workload.run(chosen)


def _gru(chosen: argparse.Namespace) -> None:
    _begin_anew_without_overrides()
    _say_who_else_runs()
    from bench import gru_variants
    from bench.peers.serve import numpys_blas

    print("NumPy's BLAS:", ", ".join(map(str, numpys_blas().values())) or "unknown")
    gru_variants.main()


def _begin_anew_without_overrides() -> None:
    """Start this command once more where the environment overrides the BLAS's choice of its kernels.

    The choice is made when NumPy is imported, so a variable unset later would change nothing.
    """
    from rnncourse.lab import blas

    if blas.overrides():
        command = [sys.executable, "-m", "rnncourse.cli", *sys.argv[1:]]
        os.execve(sys.executable, command, blas.without_overrides(os.environ))


def _list(chosen: argparse.Namespace) -> int:
    from bench import record_pages

    return record_pages.list_all()


def _show(chosen: argparse.Namespace) -> int:
    from bench import record_pages

    return record_pages.show(chosen.name, chosen.json) if chosen.name else record_pages.list_all()
