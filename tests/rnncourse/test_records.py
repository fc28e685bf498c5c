"""A record is kept whole, says where it comes from, and is not believed once somebody has edited it."""

import json

import pytest
from values_in import holds

from bench import provenance
from nbjudge.authoring.course import ROOT
from rnncourse import cli, records

RECORD = {
    "kind": "bench cpu",
    "complete": True,
    "date": "2026-01-02T03:04:05+00:00",
    "commit": "0" * 40,
    "changed": [],
    "code": "f" * 64,
    "machine": {"processor": "Intel(R) Xeon(R) 6", "cores": 2},
    "settings": {"threads": 2},
    "cases": [{"seconds": {"a": [0.1, 0.25, 1e-7]}, "words": ["é", "b c"]}],
}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    path = records.place(RECORD)
    records.write(path, RECORD)
    return path


def test_what_is_read_is_what_was_written(stored):
    got = records.read(stored)
    assert {key: got[key] for key in RECORD} == RECORD
    assert got["schema"] == 1


def test_what_is_read_has_the_names_of_today_in_tables_and_sentences_but_not_in_paths(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RENAMED", {"slow": "quick"})
    case = {"seconds": {"slow": [0.5], "slow_too": [0.7]}, "left_out": {"jax": "slow runs gru"}}
    records.write(tmp_path / "a.json", RECORD | {"changed": ["ladder/slow.py"], "cases": [case]})
    got = records.read(tmp_path / "a.json")
    assert got["cases"] == [
        {"seconds": {"quick": [0.5], "slow_too": [0.7]}, "left_out": {"jax": "quick runs gru"}}
    ]
    assert got["changed"] == ["ladder/slow.py"]


def test_a_record_is_named_by_its_kind_its_minute_and_its_processor(stored):
    assert stored.name == "bench_cpu_2026-01-02T0304_intel_xeon_6.json"
    assert records.place(RECORD | {"complete": False}).name == "bench_cpu.partial.json"


def test_writing_leaves_one_file_that_all_may_read(stored):
    assert [*stored.parent.iterdir()] == [stored]
    assert stored.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("left", [0, 1, 40, -3])
def test_a_record_that_breaks_off_is_damaged(stored, left):
    stored.write_bytes(stored.read_bytes()[:left])
    with pytest.raises(ValueError, match=r"bench_cpu_2026-01-02T0304_intel_xeon_6\.json"):
        records.read(stored)


def test_a_record_in_which_one_digit_was_changed_is_refused(stored):
    stored.write_text(stored.read_text().replace("0.25", "0.24"))
    with pytest.raises(ValueError, match="digest"):
        records.read(stored)


def test_a_record_of_another_schema_or_without_provenance_is_refused(stored):
    record = json.loads(stored.read_text())
    for wrong, message in [
        (record | {"schema": 2}, "not a record of schema 1"),
        ([], "not a record of schema 1"),
        ({k: v for k, v in record.items() if k != "machine"}, "lacks machine"),
    ]:
        stored.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=message):
            records.read(stored)
    with pytest.raises(ValueError, match="code, date"):
        records.write(stored, {k: v for k, v in RECORD.items() if k not in ("code", "date")})


def test_records_are_found_by_a_part_of_their_name(stored):
    later = RECORD | {"date": "2026-02-01T00:00:00+00:00", "kind": "bench cmu"}
    records.write(records.place(later), later)
    assert records.stored() == [stored, records.place(later)]
    assert records.stored("bench cmu") == [records.place(later)]
    assert records.find("2026-01") == stored
    with pytest.raises(ValueError, match=r"'intel'.*bench_cpu_2026"):
        records.find("intel")
    with pytest.raises(ValueError, match=r"'amd'.*bench_cpu_2026"):
        records.find("amd")


def test_the_command_lists_records_and_names_what_it_cannot_read(stored, capsys):
    assert cli.main(["record", "list"]) == 0
    assert capsys.readouterr().out.startswith(
        "bench_cpu_2026-01-02T0304_intel_xeon_6  bench cpu, 2026-01-02T"
    )
    stored.write_text("{}")
    assert cli.main(["record", "list"]) == 1
    assert "not a record of schema 1" in capsys.readouterr().err


def test_the_command_shows_a_record_as_it_stands(stored, capsys):
    assert cli.main(["record", "show", "xeon", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "f" * 64
    assert cli.main(["record", "show", "nowhere"]) == 2
    assert holds(capsys.readouterr().err, "'nowhere'")


def test_every_record_of_this_project_is_whole_and_unchanged():
    for path in records.stored():
        record = records.read(path)
        assert record["complete"]
        assert records.place(record) == path
        assert record["changed"] == [] or record["commit"], "a record names its code"
        assert not record["changed"], "a record is made of committed code"


def test_where_a_measurement_comes_from_is_told_by_machine_commit_and_code():
    text = provenance.provenance("bench any", ["rnnlab/cells.py", "rnnlab/ladder"], {"threads": 1})
    assert text.keys() == records.NEEDED | {"commit_from"}
    assert text["commit_from"] == "git"
    assert len(text["commit"]) == 40
    assert text["machine"]["cores"] >= 1
    assert text["date"].endswith("+00:00")


def test_the_code_is_another_when_a_measured_file_is(monkeypatch, tmp_path):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "a.py").write_text("1")
    before = provenance.code(["part"])
    (tmp_path / "part" / "a.py").write_text("2")
    assert provenance.code(["part"]) != before
    assert provenance.ROOT != ROOT
    before = provenance.code(["part"])
    (tmp_path / "part" / "kernel.cu").write_text("3")
    assert provenance.code(["part"]) != before
    (tmp_path / "part" / "notes.md").write_text("4")
    assert provenance.code(["part"]) != before


def test_without_git_a_record_names_who_declared_its_commit_and_never_reads_as_clean(monkeypatch, tmp_path):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.delenv("RNNLAB_COMMIT", raising=False)
    empty = provenance.provenance("k", ["part"], {})
    assert (empty["commit"], empty["changed"], empty["commit_from"]) == ("", None, "nothing")
    assert records.origin(empty) == "commit unknown, named by nothing; no git to say what was changed"
    (tmp_path / "commit").write_text("a" * 40 + "\n")
    by_file = provenance.provenance("k", ["part"], {})
    assert (by_file["commit"], by_file["commit_from"]) == ("a" * 40, "the file commit")
    monkeypatch.setenv("RNNLAB_COMMIT", "b" * 40)
    by_variable = provenance.provenance("k", ["part"], {})
    assert holds(records.origin(by_variable), "bbbbbbbbbbbb", "RNNLAB_COMMIT")


def test_a_record_of_changed_files_says_so_wherever_it_is_listed(stored, capsys):
    records.write(stored, RECORD | {"changed": [" M rnnlab/cells.py"]})
    assert cli.main(["record", "show"]) == 0  # without a name it lists
    assert holds(capsys.readouterr().out, "000000000000", "1")
