"""Machine code of a tile, for processors that this machine may not be: cross-compiled and read, never run."""

import re
from functools import cache

import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from llvmlite import binding, ir
from numba import types

from rnnlab.kernels.packed.host import ROWS, VECTORS, instruction_set
from rnnlab.kernels.packed.kernel import I64, Operands, emit_tile, form_of
from rnnlab.kernels.packed.tiles import CORES, choose_tile

TARGETS = {  # instruction set -> LLVM's triple and processor
    "avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512"),
    "avx2": ("x86_64-unknown-linux-gnu", "haswell"),
    "neon": ("aarch64-unknown-linux-gnu", "neoverse-n1"),
    "pairs": ("x86_64-unknown-linux-gnu", "cooperlake"),
}
FMA = {  # what a fused multiply-add of a whole vector looks like
    "avx512": r"\tvfn?madd\d+p[sd]\t.*%zmm",
    "avx2": r"\tvfn?madd\d+p[sd]\t.*%ymm",
    "neon": r"\tfmla\tv\d+\.[42][sd]",
}
STACK = {
    "avx512": r"\(%rsp",
    "avx2": r"\(%rsp",
    "neon": r"\[sp",
}  # with no frame pointer, that is all stack there is


@cache
def assembly(target, number, rows, is_strip, core="", **choices):
    """One tile as a function, compiled for a target; choices replace those of its form."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    triple, processor = TARGETS[target]
    form = form_of(CORES[core or target], number, is_strip)._replace(rows=rows, **choices)
    total = form.number.as_pointer()
    factor = form.operand.element.as_pointer()
    module = ir.Module()
    kind = ir.FunctionType(ir.VoidType(), [factor, I64, factor, I64, total, I64, ir.IntType(1)])
    function = ir.Function(module, kind, "tile")
    builder = ir.IRBuilder(function.append_basic_block())
    emit_tile(builder, form, Operands(*function.args))
    builder.ret_void()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=processor, opt=3)
    parsed = binding.parse_assembly(str(module).replace('target triple = "unknown-unknown-unknown"', ""))
    parsed.triple = triple
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return machine.emit_assembly(parsed)


def loops(text):
    """Lines of every loop without a branch inside: from a label to the jump back to it."""
    label, lines = None, []
    for line in text.splitlines():
        if match := re.match(r"(\.LBB\w+):", line):
            label, lines = match[1], []
        elif label and re.search(rf"\t(j\w+|b\.?\w*|cbn?z)\t.*{re.escape(label)}$", line):
            yield lines
            label = None
        elif label:
            lines.append(line)


def innermost(target, number, rows, is_strip):
    """The loop that does most multiply-adds."""
    count = lambda lines: sum(bool(re.match(FMA[target], line)) for line in lines)
    return max(loops(assembly(target, number, rows, is_strip)), key=count), count


CASES = [(target, number) for target in FMA for number in (types.float32, types.float64)]
NAMES = [f"{target}-{number}" for target, number in CASES]


@pytest.mark.parametrize("is_strip", [True, False], ids=["strip", "matrix"])
@pytest.mark.parametrize(("target", "number"), CASES, ids=NAMES)
def test_the_inner_loop_is_vector_multiply_adds_and_touches_no_stack(target, number, is_strip):
    form = form_of(CORES[target], number, is_strip)
    for rows in (form.rows, form.rows - 1, form.rows // 2, 1):
        lines, count = innermost(target, number, rows, is_strip)
        expected = rows * form.vectors * form.unroll
        assert count(lines) >= expected, f"{rows} rows"
        assert count(lines) % (rows * form.vectors) == 0, (
            f"{rows} rows"
        )  # LLVM may unroll a small loop further
        spills = [line for line in lines if re.search(STACK[target], line)]
        assert not spills, f"{rows} rows: {spills}"


def test_a_tile_with_more_sums_than_registers_does_spill():
    """What the test above would see: AVX2 has 16 registers, and 8 rows of 2 vectors want 19."""
    lines, _ = innermost("avx2", types.float32, 8, True)
    assert any(re.search(STACK["avx2"], line) for line in lines)


def test_without_the_instruction_no_function_is_called_for_a_multiply_add():
    text = assembly("avx2", types.float32, 4, True, is_fused=False)
    assert "call" not in text
    assert "vmulps" in text


@pytest.mark.parametrize("is_strip", [True, False], ids=["strip", "matrix"])
def test_pairs_take_one_instruction_and_touch_no_stack(is_strip):
    form = form_of(CORES["avx512"], types.float32, is_strip)
    for rows in (form.rows, 1):
        text = assembly(
            "pairs", types.float32, rows, is_strip, core="avx512", takes_pairs=True, has_pair_products=True
        )
        count = lambda lines: sum("vdpbf16ps" in line for line in lines)
        lines = max(loops(text), key=count)
        assert count(lines) >= rows * form.vectors * form.unroll
        assert not [line for line in lines if re.search(STACK["avx512"], line)]


@pytest.mark.parametrize("target", ["avx2", "avx512", "neon"])
def test_pairs_are_widened_where_the_instruction_is_missing(target):
    text = assembly(target, types.float32, 4, True, takes_pairs=True)
    assert not re.search(r"vdpbf16|bfdot|bfmmla|call", text)
    assert len(re.findall(FMA[target], text)) >= 2 * 4 * form_of(CORES[target], types.float32, True).vectors


@pytest.mark.parametrize(
    ("triple", "features", "name"),
    [
        ("x86_64-unknown-linux-gnu", "+avx512f,+avx2,+fma", "avx512"),
        ("x86_64-unknown-linux-gnu", "-avx512f,+avx2,+fma", "avx2"),
        ("x86_64-unknown-linux-gnu", "+avx512f,-fma", "other"),
        ("x86_64-pc-windows-msvc", "", "other"),
        ("arm64-apple-darwin24", "+neon", "neon"),
        ("aarch64-unknown-linux-gnu", "", "neon"),
        ("riscv64-unknown-linux-gnu", "+v", "other"),
    ],
)
def test_a_processor_is_known_by_its_features_and_an_unknown_one_gets_the_least(triple, features, name):
    assert instruction_set(triple, features) == name


def test_what_this_machine_compiles_is_what_was_chosen_for_it():
    from rnnlab.kernels.packed import host

    assert choose_tile(CORES[host.INSTRUCTION_SET]) == (ROWS, VECTORS)
