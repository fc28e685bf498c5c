"""The lines that `rnnlab train` prints about its run."""

from values_in import holds

from ranks.faults import COMPUTING, Board, Pen
from rnncourse.cli import main
from rnncourse.scaling.commands import Lines


def test_a_resumed_run_tells_no_loss_before_its_first_step(tmp_path, capsys):
    board = Board(tmp_path / "board", 2)
    lines = Lines(20)
    lines.next = 0.0
    pens = [Pen(board, rank) for rank in range(2)]
    for pen in pens:
        pen.write(COMPUTING, 12)
    lines.show(board.read())
    assert capsys.readouterr().out == ""
    pens[0].write(COMPUTING, 13, loss=0.25)
    lines.show(board.read())
    assert capsys.readouterr().out == "step 13 of 20, loss 0.25\n"


def test_a_hostfile_that_is_missing_is_named(tmp_path, capsys):
    hosts = str(tmp_path / "hosts")
    assert main(["train", "--ranks", "2", "--hostfile", hosts]) == 2
    assert holds(capsys.readouterr().err, hosts)
