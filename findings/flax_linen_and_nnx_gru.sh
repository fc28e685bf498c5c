#!/usr/bin/env bash
# Versions:  flax 0.12.8, jax 0.10.2 (CPU)
# Expected:  nnx is the new interface of the same library: linen.GRUCell's arrays move to nnx.GRUCell by renaming.
# Guess:     both compute the same, so that arrays move over by renaming.
# Seen:      linen has a bias inside the reset gate, n = tanh(W x + b + r * (U h + c)); nnx has no c and no place for one. A
#            trained linen GRU cannot be written as an nnx GRU. With c = 0 the two are equal.
# Why here:  Network.to_flax("nnx") refuses a network whose inner bias is not 0; without that, outputs would be wrong without a
#            word.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check flax==0.12.8 jax==0.10.2 jaxlib==0.10.2
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy as np
from flax import linen, nnx

I, H = 3, 4
rng = np.random.default_rng(0)
draw = lambda *shape: rng.normal(size=shape).astype("float32")
old = linen.GRUCell(H)
variables = old.init(jax.random.PRNGKey(0), draw(2, H), draw(2, I))
arrays = jax.tree.map(lambda a: draw(*a.shape), variables["params"])
x, h = draw(2, I), draw(2, H)


def difference(arrays):
    """Largest difference of one step of the two cells."""
    new = nnx.GRUCell(I, H, rngs=nnx.Rngs(0))
    new.dense_i.kernel[...] = np.concatenate([arrays[f"i{gate}"]["kernel"] for gate in "rzn"], 1)
    new.dense_i.bias[...] = np.concatenate([arrays[f"i{gate}"]["bias"] for gate in "rzn"])
    new.dense_h.kernel[...] = np.concatenate([arrays[f"h{gate}"]["kernel"] for gate in "rzn"], 1)
    assert new.dense_h.bias is None or new.dense_h.bias.get_value() is None
    return float(abs(old.apply({"params": arrays}, h, x)[1] - new(h, x)[1]).max())


without = arrays | {"hn": arrays["hn"] | {"bias": np.zeros(H, "float32")}}
print(f"largest difference with linen's inner bias {difference(arrays):.2g}, with that bias 0 {difference(without):.1g}")
sys.exit(0 if difference(arrays) > 0.01 and difference(without) < 1e-6 else 1)
PROGRAM
