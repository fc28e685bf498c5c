#!/usr/bin/env bash
# Versions:  torch 2.13.0 (CPU), on x86
# Expected:  quantize_dynamic makes an LSTM that answers as the layer does, a little less exactly: a step sees the steps before
#            it, a sequence sees itself.
# Guess:     activations are quantised row by row, so that a sequence's output does not depend on its neighbours in the
#            minibatch.
# Seen:      the input of all steps and sequences has one scale. Larger values in later steps change the outputs of earlier
#            ones, and a loud neighbour changes a quiet sequence, both by several times the error of quantisation itself. A
#            stream that is fed step by step gets other outputs than the whole sequence.
# Why here:  8-bit weights of ours take a scale a row of the input (rnnlab.narrow): a comparison with torch's must be made one
#            sequence and one step at a time.
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

warnings.simplefilter("ignore")
torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.LSTM(8, 16)).eval()
narrow = torch.ao.quantization.quantize_dynamic(layer, {torch.nn.LSTM}, dtype=torch.qint8)
x = torch.randn(10, 2, 8)
louder_later = torch.cat([x[:5], 10 * x[5:]])
louder_neighbour = x * torch.tensor([1.0, 10.0])[:, None]


def distance(a, b):
    """Largest difference of the first five outputs of the first sequence."""
    return float((a[0][:5, 0] - b[0][:5, 0]).abs().max())


exact, whole = layer(x), narrow(x)
rounding = distance(whole, exact)
later, neighbour = distance(narrow(louder_later), whole), distance(narrow(louder_neighbour), whole)
unquantised = distance(layer(louder_later), exact), distance(layer(louder_neighbour), exact)
print(f"error of quantisation {rounding:.4f}; changed by later steps {later:.4f}, by a neighbour {neighbour:.4f}; "
      f"without quantisation {unquantised}")
sys.exit(0 if later > 3 * rounding and neighbour > 3 * rounding and max(unquantised) < 1e-6 else 1)
PROGRAM
