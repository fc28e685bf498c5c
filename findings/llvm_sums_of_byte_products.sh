#!/usr/bin/env bash
# Versions:  llvmlite 0.47.0 (LLVM 20.1.8)
# Expected:  a loop that sums products of bytes, compiled for a processor with AVX512-VNNI: unsigned times signed becomes
#            vpdpbusd, the instruction made for it; for signed times signed AVX-512 has no such instruction.
# Guess:     vpdpbusd for u8 x i8, and vpmaddwd for i8 x i8.
# Seen:      vpdpbusd is never chosen. Mixed signs become vpdpwssd, on 16-bit copies; equal signs get vpmaddwd and an addition,
#            without VNNI, although vpdpwssd would serve them as well.
# Why here:  8-bit weights in a loop compiled by Numba: what the data sheet of the processor says about INT8 is not what such a
#            loop gets.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check llvmlite==0.47.0
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import re
import sys

import llvmlite.binding as llvm

TRIPLE = "x86_64-unknown-linux-gnu"
LOOP = """
define i32 @dot(ptr noalias %a, ptr noalias %b, i64 %n) {{
entry:
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %sum = phi i32 [0, %entry], [%more, %loop]
  %pa = getelementptr i8, ptr %a, i64 %k
  %pb = getelementptr i8, ptr %b, i64 %k
  %x = load i8, ptr %pa
  %y = load i8, ptr %pb
  %wide_x = {a} i8 %x to i32
  %wide_y = {b} i8 %y to i32
  %product = mul i32 %wide_x, %wide_y
  %more = add i32 %sum, %product
  %next = add i64 %k, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret i32 %more
}}"""


def instructions(a, b, cpu):
    """Instructions of the optimised loop that multiply."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=cpu, opt=3)
    module = llvm.parse_assembly(LOOP.format(a=a, b=b))
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return set(re.findall(r"\b(vpdp\w+|vpmadd\w+)", machine.emit_assembly(module)))


llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
seen = True
for cpu in ("cascadelake", "sapphirerapids", "znver4"):
    mixed, equal = instructions("zext", "sext", cpu), instructions("sext", "sext", cpu)
    print(f"{cpu}: u8 x i8 {sorted(mixed)}, i8 x i8 {sorted(equal)}")
    seen = seen and mixed == {"vpdpwssd"} and equal == {"vpmaddwd"}
sys.exit(0 if seen else 1)
PROGRAM
