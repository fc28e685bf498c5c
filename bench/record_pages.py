"""`rnnlab record list|show`: what is kept, and what it says."""

import json
import sys
from collections.abc import Callable
from importlib import import_module

from rnncourse import records

PAGES = {
    "bench cpu": "bench.step_report",
    "bench cmu": "bench.cmu_tables",
    "bench gpu": "rnncourse.records.gpu_report",
}  # kind -> the module whose `page` prints it


def list_all() -> int:
    """A line for each record, oldest first; 1 where one of them cannot be read."""
    bad = 0
    for path in records.stored():
        try:
            record = records.read(path)
            machine = record["machine"].get("gpu", {}).get("name") or record["machine"]["processor"]
            columns = record["kind"], record["date"], machine, records.origin(record)
            print(f"{path.stem}  {', '.join(columns)}")
        except ValueError as error:
            bad = 1
            print(error, file=sys.stderr)
    if not records.stored():
        print("no record is kept; `rnnlab bench cpu --record` makes one")
    return bad


def show(name: str, as_json: bool = False) -> int:
    """One record, by a part of its name; 2 where there is no such one."""
    try:
        record = records.read(records.find(name))
    except ValueError as error:
        print(f"rnnlab record: {error}", file=sys.stderr)
        return 2
    print(json.dumps(record, indent=1, ensure_ascii=False) if as_json else _page(record["kind"])(record))
    return 0


def _page(kind: str) -> Callable[[dict], str]:
    return import_module(PAGES[kind]).page if kind in PAGES else lambda record: json.dumps(record, indent=1)
