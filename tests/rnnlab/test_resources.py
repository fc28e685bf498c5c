"""What a process may use is read from Linux's own files; here they are written, so the answers are known."""

import math

import pytest

from ranks import cores
from rnnlab import resources

GIB = 2**30


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """A folder for control groups, where nothing is limited yet, on a machine with 64 cores."""
    monkeypatch.setattr(cores, "CGROUPS", tmp_path)
    monkeypatch.setattr(cores, "OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(cores, "_quota", cores._quota.__wrapped__)
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda process: {*range(64)}, raising=False)

    def write(texts, own="0::/"):
        (tmp_path / "own").write_text(own)
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def test_without_a_limit_the_cores_that_the_process_may_run_on_count(linux):
    linux({"cpu.max": "max 100000\n", "memory.max": "max\n"})
    assert resources.usable_cores() == 64
    assert resources.memory_limit() == math.inf


def test_a_containers_share_of_cores_and_memory_counts(linux):
    linux({"cpu.max": "250000 100000\n", "memory.max": f"{4 * GIB}\n"})
    assert resources.usable_cores() == 3  # two and a half, rounded up
    assert resources.memory_limit() == 4 * GIB


def test_the_least_limit_of_all_groups_around_the_process_counts(linux):
    linux({"user/job/cpu.max": "800000 100000", "user/cpu.max": "200000 100000"}, own="0::/user/job")
    assert resources.usable_cores() == 2


def test_half_a_core_is_still_one_to_work_with(linux):
    linux({"cpu.max": "50000 100000"})
    assert resources.usable_cores() == 1


def test_the_older_layout_of_control_groups_is_read_too(linux):
    limits = {"cfs_quota_us": "400000", "cfs_period_us": "100000"}
    none = {"cfs_quota_us": "-1", "cfs_period_us": "100000"}
    files = {f"cpu/box/cpu.{name}": text for name, text in limits.items()}
    files |= {f"cpu/cpu.{name}": text for name, text in none.items()}
    linux(
        files | {"memory/box/memory.limit_in_bytes": f"{GIB}"}, own="5:cpu,cpuacct:/box\n4:memory:/box\n0::/"
    )
    assert resources.usable_cores() == 4
    assert resources.memory_limit() == GIB


def test_a_process_reads_its_share_of_cores_once(monkeypatch):
    count = resources.usable_cores()
    monkeypatch.setattr(cores, "file_text", lambda path: pytest.fail(f"{path} is read again"))
    assert resources.usable_cores() == count


def test_where_the_system_states_nothing_the_whole_computer_counts(monkeypatch, tmp_path):
    for module, names in ((cores, ("CGROUPS", "OWN_GROUP")), (resources, ("CPUINFO", "CACHES"))):
        for name in names:
            monkeypatch.setattr(module, name, tmp_path / "nowhere")
    monkeypatch.setattr(cores, "_quota", cores._quota.__wrapped__)
    monkeypatch.delattr(cores.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 6)
    assert resources.usable_cores() == 6
    assert resources.memory_limit() == math.inf
    assert resources.caches() == {}
    assert resources.processor_flags() == set()
    assert resources.processor_name()


def test_caches_that_hold_data_are_told_in_bytes(monkeypatch, tmp_path):
    sentence = [
        ("1", "Data", "48K"),
        ("1", "Instruction", "32K"),
        ("2", "Unified", "2048K"),
        ("3", "Unified", "1G"),
    ]
    for number, texts in enumerate(sentence):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), texts, strict=True):
            (folder / name).write_text(f"{text}\n")
    monkeypatch.setattr(resources, "CACHES", tmp_path)
    assert resources.caches() == {"L1": 48 * 2**10, "L2": 2 * 2**20, "L3": GIB}


def test_the_processor_is_read_from_its_first_entry(monkeypatch, tmp_path):
    (tmp_path / "cpuinfo").write_text("model name\t: A CPU @ 2 GHz\nflags\t\t: fpu avx2\nflags\t\t: none\n")
    monkeypatch.setattr(resources, "CPUINFO", tmp_path / "cpuinfo")
    assert resources.processor_name() == "A CPU @ 2 GHz"
    assert resources.processor_flags() == {"fpu", "avx2"}
