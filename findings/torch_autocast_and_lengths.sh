#!/usr/bin/env bash
# Versions:  torch 2.13.0 (CPU)
# Expected:  under autocast to bfloat16 a layer's output has one dtype, whatever the data.
# Guess:     bfloat16 for a packed minibatch, as for a tensor; and the same for GRU, LSTM and RNN.
# Seen:      the output of a packed minibatch is bfloat16 if all lengths are equal and float32 if one differs. nn.GRU stays in
#            float32 in any case, nn.RNN and nn.LSTM do not.
# Why here:  docs/frameworks.md sends readers with sequence lengths to packed minibatches; a measurement of 16 bits against 32
#            in torch measures the same arithmetic twice.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import torch

torch.manual_seed(0)
lstm, gru, rnn = torch.nn.LSTM(4, 6), torch.nn.GRU(4, 6), torch.nn.RNN(4, 6)
x = torch.randn(5, 2, 4)


def packed(lengths):
    return lstm(torch.nn.utils.rnn.pack_padded_sequence(x, lengths))[0].data.dtype


with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    dtypes = {"equal lengths": packed([5, 5]), "unequal lengths": packed([5, 3])}
    dtypes |= {type(layer).__name__: layer(x)[0].dtype for layer in (lstm, gru, rnn)}
print(", ".join(f"{name} {dtype}" for name, dtype in dtypes.items()))
narrow, wide = torch.bfloat16, torch.float32
sys.exit(0 if list(dtypes.values()) == [narrow, wide, narrow, wide, narrow] else 1)
PROGRAM
