"""The record of a GPU benchmark: begun, taken up again, written to every folder after every task."""

import json
import sys
from pathlib import Path

from bench.provenance import provenance
from rnncourse import records

KIND = "bench gpu"
MEASURED = (
    "bench/gpu",
    "bench/peers",
    "bench/progress.py",
    "bench/provenance.py",
    "rnncourse/lab/turns.py",
    "bench/workload.py",
    "ranks/cores.py",
    "rnnlab/cells.py",
    "rnnlab/compare.py",
    "rnnlab/exchange.py",
    "rnnlab/layer_contents.py",
    "pocketgpu/compiling",
    "pocketgpu/cuda.py",
    "pocketgpu/device_functions.py",
    "pocketgpu/devices.py",
    "pocketgpu/remedies.py",
    "nbjudge/files.py",
    "nbjudge/printable.py",
    "rnnlab/gpu",
    "rnnlab/graphs",
    "rnnlab/kernels",
    "rnnlab/ladder",
    "rnncourse/lab",
    "rnnlab/layers.py",
    "rnnlab/narrow.py",
    "rnnlab/network.py",
    "rnnlab/timings.py",
    "rnncourse/records/__init__.py",
    "rnncourse/records/gpu_report.py",
    "rnncourse/records/workload.py",
    "rnnlab/reference.py",
    "rnnlab/resources.py",
    "rnnlab/schedule",
)
SAME = ("code", "settings", "packages")  # fields that a record and its continuation share


def begin(described: dict, settings: dict) -> dict:
    """A record without cases, for the GPU and packages that a child has described."""
    record = provenance(KIND, MEASURED, settings)
    record["machine"]["gpu"] = described["gpu"]
    return record | {"packages": described["packages"], "cases": [], "left_out": {}}


def resume(record: dict, file: str, folders: list[Path]) -> dict:
    """The interrupted record in `file`, or in one of the folders; `record` itself where none can continue.

    Prints why a record cannot be continued.
    """
    paths = [Path(file)] if file else [records.place(record, folder) for folder in folders]
    for path in paths:
        try:
            before = records.read(path)
        except (OSError, ValueError) as error:
            print(f"{path} cannot be continued: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
            continue
        other = [key for key in SAME if before[key] != record[key]]
        if before["machine"].get("gpu") != record["machine"]["gpu"]:
            other += ["GPU"]
        if not other:
            return before
        print(f"{path} cannot be continued: its {', '.join(other)} differ", file=sys.stderr)
    return record


class RecordCopies:
    """A record and the folders that hold a copy.  A folder that is full costs its copy, not the run."""

    def __init__(self, record: dict, folders: list[Path]):
        self.record = record
        self.folders = folders
        self.failed = {}

    @property
    def unfinished(self) -> bool:
        """Is there something that --continue would measure?"""
        parts = [*self.record["cases"], *(self.record.get(name, {}) for name in ("latencies", "depth"))]
        return bool(self.record["left_out"]) or any(part.get("left_out") for part in parts)

    def write(self) -> None:
        """The record as it is, as a partial one, to every folder."""
        self._write(self.record | {"complete": False})

    def finish(self) -> None:
        """The record under its lasting name.  The partial one goes, unless something is left to measure.

        Where no folder takes it, it is printed: what was measured must not be lost.
        """
        complete = self.record | {"complete": True}
        written = self._write(complete)
        for folder in written:
            print(f"\nkept as {records.place(complete, folder)}")
            if not self.unfinished:
                records.place(self.record | {"complete": False}, folder).unlink(missing_ok=True)
        if self.folders and not written:
            print("WRONG: no folder took the record; here it is:", json.dumps(complete), sep="\n")

    def _write(self, record: dict) -> list[Path]:
        """The folders that took it."""
        written = []
        for folder in self.folders:
            try:
                records.write(records.place(record, folder), record)
                written.append(folder)
            except OSError as error:
                if folder not in self.failed:
                    print(f"WRONG: {folder} cannot keep the record: {error.strerror or error}", flush=True)
                self.failed[folder] = str(error)
        return written
