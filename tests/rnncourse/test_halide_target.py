"""Halide compiles for what this machine's flags have, whatever the processor itself promises."""

import importlib.util

import pytest

from bench.halide import registers
from nbjudge.authoring.course import ROOT
from rnncourse.loop_nests.halide_target import NEEDED_FLAGS, host_target
from rnnlab import resources

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("halide"), reason="Halide is not installed")

ZEN4 = "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41"
AVX2 = {"sse4_1", "avx", "avx2", "fma", "f16c"}
EVERY_FLAG = {flag for flags in NEEDED_FLAGS.values() for flag in flags}


@pytest.fixture
def machine(monkeypatch):
    """A processor that promises AVX-512 on a system with the flags of `machine(flags)`."""
    import halide as hl

    monkeypatch.setattr(hl, "get_host_target", lambda: hl.Target(ZEN4))
    return lambda flags: monkeypatch.setattr(resources, "processor_flags", lambda: set(flags))


def assembly(hl, target, path):
    """The instructions of a small pipeline for that target."""
    i, twice = hl.Var("i"), hl.Func("twice")
    twice[i] = hl.f32(2) * hl.cast(hl.Float(32), i)
    twice.vectorize(i, 16)
    twice.compile_to_assembly(str(path), [], "twice", target)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "features", "vector"),
    [
        (EVERY_FLAG, ZEN4.split("-")[3:], 16),
        (AVX2, ["avx", "avx2", "f16c", "fma", "sse41"], 8),
        (AVX2 | {"avx512f", "avx512cd"}, ["avx", "avx2", "avx512", "f16c", "fma", "sse41"], 16),
        ({"sse4_1", "avx"}, ["avx", "sse41"], 8),
        ({"sse2"}, [], 4),
        ((), ZEN4.split("-")[3:], 16),  # no flags are known: nothing is dropped
    ],
)
def test_features_that_the_flags_lack_are_dropped(machine, flags, features, vector):
    import halide as hl

    machine(flags)
    assert str(host_target()).split("-")[3:] == features
    assert host_target().natural_vector_size(hl.Float(32)) == vector


@pytest.mark.slow
def test_code_for_masked_flags_uses_no_register_of_avx512(machine, tmp_path):
    import halide as hl

    machine(EVERY_FLAG)
    assert "zmm" in assembly(hl, host_target(), tmp_path / "unmasked.s")
    machine(AVX2)
    masked = assembly(hl, host_target(), tmp_path / "masked.s")
    assert "zmm" not in masked
    assert "ymm" in masked


def test_tiles_fit_the_registers_that_are_left(machine):
    import halide as hl

    machine(AVX2)
    assert registers.tile(hl, "float32", 1) == registers.Tile(rows=6, width=16, vector=8)
    machine(EVERY_FLAG)
    assert registers.tile(hl, "float32", 1) == registers.Tile(rows=9, width=48, vector=16)


def test_every_feature_of_x86_vectors_has_its_flags():
    import halide as hl

    vectors = {name for name in hl.TargetFeature.__members__ if name.startswith(("AVX", "SSE", "FMA", "F16"))}
    assert vectors <= NEEDED_FLAGS.keys()


def test_one_place_alone_asks_halide_for_its_host():
    asking = "get_host" + "_target"
    sources = [
        path for part in ("rnnlab", "rnncourse", "bench", "tests") for path in ROOT.glob(f"{part}/**/*.py")
    ]
    askers = {path.name for path in sources if f"{asking}()" in path.read_text(encoding="utf-8")}
    assert askers == {"halide_target.py"}
