"""A run over two hosts: both are this machine, the second one reached by a program in the place of ssh.

The collective component han takes hosts of one name for one host and waits forever, so it is left out here.
"""

import sys

import pytest

from ranks import launch
from rnnlab.scaling.run import train_on_ranks
from rnnlab.scaling.settings import RunSettings

REASON = launch.why_not() or (sys.platform != "linux" and "the agent is a shell script") or None
AGENT = '#!/bin/sh\necho "$1" >> "{log}"\nshift\nexec sh -c "$*"\n'


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
@pytest.mark.slow
def test_two_hosts_train_as_one_does(tmp_path, monkeypatch):
    settings, log, agent = RunSettings(ranks=2, steps=3), tmp_path / "log", tmp_path / "agent"
    agent.write_text(AGENT.format(log=log))
    agent.chmod(0o755)
    (tmp_path / "hosts").write_text("localhost slots=1\nsecond-host slots=1\n")
    alone = train_on_ranks(settings, limit=60)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRTE_MCA_plm_ssh_agent", str(agent))
    monkeypatch.setenv("OMPI_MCA_coll", "^han")
    monkeypatch.setattr(launch, "_process", lambda number: None)  # as numbers of another host's processes
    both = train_on_ranks(settings, limit=60, hostfile="hosts")
    assert log.read_text().split() == ["second-host"]
    assert both["held_out"] == pytest.approx(alone["held_out"], rel=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent", "hosts", "log"]


def test_a_hostfile_that_is_not_there_is_refused_before_a_rank_starts():
    with pytest.raises(FileNotFoundError):
        train_on_ranks(RunSettings(ranks=2, steps=3), hostfile="no such file")
