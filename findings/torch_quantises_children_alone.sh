#!/usr/bin/env bash
# Versions:  torch 2.13.0 (CPU), on x86
# Expected:  quantize_dynamic(module, {torch.nn.LSTM}) returns a module whose LSTM has 8-bit weights, or says that it has none.
# Guess:     an LSTM is quantised whether it is the module itself or a part of one.
# Seen:      torch replaces children only. An LSTM inside a Sequential is quantised; a bare LSTM, GRU or Linear comes back in
#            float32, without an error or a warning beyond the one that announces the end of torch.ao.quantization. Its outputs
#            are those of the layer, bit for bit, and its weights take as much memory as before.
# Why here:  bench/ compares 8-bit weights of ours with torch's: a bare layer would be compared with itself, and 8 bits would
#            seem to be exact and to bring no speed. An error of exactly 0 is the sign.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys
import warnings

import torch

torch.manual_seed(0)
x = torch.randn(6, 2, 8)
errors, said = {}, set()
for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.Linear):
    layer = kind(8, 16).eval()
    for place, module in (("bare", layer), ("inside", torch.nn.Sequential(layer))):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            narrow = torch.ao.quantization.quantize_dynamic(module, {kind}, dtype=torch.qint8)
        said |= {(place, "deprecated" in str(warning.message)) for warning in caught}
        with torch.no_grad():
            outputs = [part(x) if kind is torch.nn.Linear else part(x)[0] for part in (module, narrow)]
        errors[place, kind.__name__] = float((outputs[0] - outputs[1]).abs().max())
print(errors, "warnings (where, of the end of the interface):", sorted(said))
bare = [error for (place, _), error in errors.items() if place == "bare"]
inside = [error for (place, _), error in errors.items() if place == "inside"]
sys.exit(0 if set(bare) == {0.0} and min(inside) > 0 else 1)
PROGRAM
