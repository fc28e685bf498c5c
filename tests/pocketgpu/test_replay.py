"""A replay's data against events that were counted by hand, and its HTML, which must need nothing else."""

import json
import re

import numpy as np
import pytest
from values_in import holds

from pocketgpu import cuda
from pocketgpu.replay import page
from pocketgpu.replay.page import replay
from pocketgpu.replay.record import EVENTS, VERBS, record
from pocketgpu.replay.still import sentences_of, still
from pocketgpu.simulator import jit, settings
from pocketgpu.simulator.memory import Shared
from pocketgpu.simulator.report import observe
from pocketgpu.simulator.synchronisation import atomic, syncthreads
from pocketgpu.simulator.threads import grid, threadIdx

pytestmark = pytest.mark.skipif(not cuda.is_simulated, reason="a GPU keeps no record of its steps")
MB = 10**6


@jit
def reverse(x, y):
    part = Shared.array(4, np.float32)
    i = threadIdx.x
    part[i] = x[i]
    syncthreads()
    y[i] = part[3 - i]


@jit
def reverse_with_a_race(x, y):
    part = Shared.array(4, np.float32)
    i = threadIdx.x
    part[i] = x[i]
    y[i] = part[3 - i]


@jit
def copy_with_stride(x, y, stride):
    i = grid(1)
    y[i] = x[i * stride]


@jit
def walk_down(out):
    tile = Shared.array((32, 32), np.float32)
    i = threadIdx.x
    tile[i, 0] = 1
    tile[0, i] = 2


@jit
def wait_for_flag(flag, x):
    if threadIdx.x == 0:
        while atomic.add(flag, 0, 0) < 1:
            pass
    else:
        atomic.exch(flag, 0, 1)


@jit
def many(x):
    i = grid(1)
    for _ in range(EVENTS // 64 + 1):
        x[i] = 1


def data_of(kernel, blocks, threads, *arguments, events=EVENTS):
    data = record(observe(kernel, blocks, threads, arguments), events)
    return json.loads(json.dumps(data))  # plain: nothing of NumPy is left


def still_of(data):
    return still(data, page.text_of("still.svg"))


def arrays(length=4):
    return np.arange(length, dtype="float32"), np.zeros(length, "float32")


def test_events_stand_in_the_order_in_which_they_happened():
    data = data_of(reverse, 1, 4, *arrays())
    names = [array["name"] for array in data["arrays"]]
    seen = [
        (thread, VERBS[kind], names[array] if array >= 0 else "", element)
        for kind, thread, array, element in zip(
            *(data["events"][name] for name in ("kind", "thread", "array", "element")), strict=True
        )
    ]
    before = [
        step for i in range(4) for step in ((i, "read", "x", i), (i, "write", "part", i), (i, "wait", "", -1))
    ]
    behind = [step for i in (3, 0, 1, 2) for step in ((i, "read", "part", 3 - i), (i, "write", "y", i))]
    assert seen == before + behind  # the last to arrive continues at once
    assert data["total"] == 20
    assert {a["name"]: (a["space"], a["shape"], a["written"]) for a in data["arrays"]} == {
        "x": ("global", [4], True), "part": ("shared", [4], False), "y": ("global", [4], True),
    }  # fmt: skip


def test_those_that_arrive_early_wait_until_the_last_one_comes():
    data = data_of(reverse, 1, 4, *arrays())
    waits = {step: until for step, until in enumerate(data["events"]["until"]) if until}
    assert waits == {2: 12, 5: 12, 8: 12}  # three barriers; the fourth arrival is event 11, which opens it
    assert data["starts"] == [[0, 0], [1, 3], [2, 6], [3, 9]]
    assert data["ends"] == [[3, 14], [0, 16], [1, 18], [2, 20]]


def test_a_barrier_that_never_opens_is_waited_for_beyond_the_last_step():
    @jit
    def half(x):
        if threadIdx.x < 2:
            syncthreads()

    data = data_of(half, 1, 4, arrays()[0])
    assert data["events"]["until"] == [3, 3]
    assert data["findings"][0]["kind"] == "barrier_divergence"
    assert {thread for thread, _ in data["ends"]} == {2, 3}


def test_a_thread_that_polls_waits_until_its_next_turn():
    data = data_of(wait_for_flag, 1, 2, np.zeros(1, "int32"), arrays()[0])
    threads, until = data["events"]["thread"], data["events"]["until"]
    flag = threads.index(1)
    assert threads == [0] * flag + [1, 0]  # polls, the flag, a poll that sees it
    assert until == [0] * (flag - 1) + [flag + 1, 0, 0]
    assert {VERBS[kind] for kind in data["events"]["kind"]} == {"atomic"}


def test_a_race_is_its_two_accesses_with_the_barriers_behind_them():
    data = data_of(reverse_with_a_race, 1, 4, *arrays())
    (finding,) = data["findings"]
    steps = [access["step"] for access in finding["accesses"]]
    part = [array["name"] for array in data["arrays"]].index("part")
    assert [data["events"]["array"][step] for step in steps] == [part, part]
    elements = {data["events"]["element"][step] for step in steps}
    assert len(elements) == 1
    threads = [f"thread {data['events']['thread'][step]} of block 0" for step in steps]
    assert [access["name"] for access in finding["accesses"]] == threads
    assert {access["verb"] for access in finding["accesses"]} == {"read", "write"}
    assert [access["barriers"] for access in finding["accesses"]] == [0, 0]
    assert "cuda.syncthreads()" in finding["remedy"]
    assert data["opens"] == max(steps) + 1
    assert not data_of(reverse, 1, 4, *arrays())["findings"]


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (8, 32)])
def test_a_request_has_the_sectors_that_its_warp_touches(stride, sectors):
    data = data_of(copy_with_stride, 1, 64, np.zeros(64 * stride, "float32"), np.zeros(64, "float32"), stride)
    assert data["requests"] == [[sectors, 0], [4, 0]] * 2  # two warps: a read, a write
    assert data["events"]["request"] == [0, 1] * 32 + [2, 3] * 32


def test_a_request_to_shared_memory_has_its_turns_of_the_banks():
    data = data_of(walk_down, 1, 32, np.zeros(1, "float32"))
    assert data["requests"] == [[0, 32], [0, 1]]
    assert data["dearest"] == 0


def test_what_exceeds_the_most_events_is_cut_and_said():
    data = data_of(many, 1, 64, np.zeros(64, "float32"))
    assert data["total"] == 64 * (EVENTS // 64 + 1)
    assert {len(column) for column in data["events"].values()} == {EVENTS}
    assert len(data["starts"]) == 64
    assert len(data["ends"]) == 63  # the last one returns behind the cut
    assert f"{data['total']:,}" in sentences_of(data)[-1]


def test_a_finding_behind_the_cut_has_no_step():
    data = data_of(reverse_with_a_race, 1, 4, *arrays(), events=3)
    assert {access["step"] for access in data["findings"][0]["accesses"]} <= {-1, 0, 1, 2}
    assert -1 in {access["step"] for access in data["findings"][0]["accesses"]}


def test_a_launch_that_stops_or_touches_nothing_has_a_replay():
    @jit
    def beyond(x):
        x[grid(1)] = 1

    @jit
    def nothing():
        pass

    data = data_of(beyond, 1, 8, arrays()[0])
    assert data["total"] == 4
    assert data["findings"][0]["accesses"][0]["name"] == "thread 4 of block 0"
    assert data_of(nothing, 2, 2)["starts"] == [[thread, 0] for thread in range(4)]
    for kernel, arguments in ((beyond, (arrays()[0],)), (nothing, ())):
        assert cuda.replay(kernel[1, 8], *arguments).html()


def test_a_launch_that_raises_shows_the_steps_before_the_exception():
    @jit
    def broken(x, y):
        i = grid(1)
        y[i] = x[i]
        if i == 2:
            y[missing] = 1  # noqa: F821

    shown = cuda.replay(broken[1, 4], *arrays())
    assert shown.trace["total"] == 6  # a load and a store of each of three threads
    (finding,) = shown.trace["findings"]
    assert finding["kind"] == "raised"
    assert holds(finding["message"], "thread 2 of block 0", "NameError", "missing")
    with pytest.raises(NameError):
        cuda.observe(broken, 1, 4, *arrays())


def test_an_index_as_large_as_a_mark_of_the_trace_is_out_of_bounds():
    @jit
    def far(x):
        x[(1 << 63) - 1 - grid(1)] = 1

    (finding,) = observe(far, 1, 2, (arrays()[0],)).findings
    assert (finding.kind, finding.thread) == ("out_of_bounds", (0, 0, 0))


def test_a_shuffled_launch_is_shown_in_its_own_order():
    with settings(shuffle=True, seed=3):
        data = data_of(reverse, 2, 4, *arrays())
    assert data["events"]["thread"] != sorted(data["events"]["thread"])
    assert {thread for thread, _ in data["ends"]} == set(range(8))


def test_local_arrays_of_one_name_are_one_and_shared_ones_belong_to_their_block():
    from pocketgpu.simulator.memory import Local

    @jit
    def own(x):
        mine = Local.array(2, np.float32)
        part = Shared.array(1, np.float32)
        mine[0] = 1
        if threadIdx.x == 0:
            part[0] = mine[0]

    data = data_of(own, 2, 4, arrays()[0])
    listed = [(array["name"], array["space"], array["block"]) for array in data["arrays"]]
    assert sorted(listed) == [("mine", "local", -1), ("part", "shared", 0), ("part", "shared", 1)]


def test_a_page_is_whole_small_and_asks_for_nothing():
    shown = replay(many[1, 64], (np.zeros(64, "float32"),))
    text = shown.html()
    assert len(text.encode()) < 2 * MB
    assert len(page.text_of("view.js").encode()) < 200_000
    assert not re.findall(
        r"""(?:src|href)\s*=\s*["'](?!data:)|@import|\bimport\s|fetch\(|url\(|XMLHttp""", text
    )
    assert text.count("</script>") == 1
    data = json.loads(re.search(r"^const trace = (.*);$", text, re.M)[1])
    assert data == json.loads(json.dumps(shown.trace))


def test_text_of_a_kernel_cannot_end_the_script():
    @jit
    def odd(x):
        x[0] = 1  # </script><!--

    body = replay(odd[1, 1], (arrays()[0],))._repr_html_()
    assert body.count("</script>") == 1
    assert "<!--" not in body


def test_the_module_keeps_to_anywidgets_format():
    text = page.text_of("view.js")
    assert re.search(r"^function render\(\{ model, el \}\)", text, re.M)
    assert text.rstrip().endswith("export default { render };")
    assert text.count("model.get(") == 2  # one in a comment


def test_the_still_shows_both_accesses_and_has_words():
    svg, alternative = still_of(data_of(reverse_with_a_race, 1, 4, *arrays()))
    assert svg.count('class="box"') == 2
    assert "part[3 - i]" in svg
    assert "cuda.syncthreads()" in alternative
    svg, alternative = still_of(data_of(copy_with_stride, 1, 32, np.zeros(256, "float32"), arrays(32)[1], 8))
    assert svg.count("■") == 32
    assert "32 sectors" in alternative


def test_replay_takes_a_configured_kernel_alone():
    with pytest.raises(TypeError):
        cuda.replay(reverse, *arrays())
