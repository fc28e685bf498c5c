"""Losses: how wrong a prediction is, as one number, and its gradient.

Every loss has the same form: (loss, dprediction) from prediction [T,B,O], target and weight [T]. The weight
says which steps count: a filter has no answer before it has seen its first pixels, a sum is expected only
at the end.
"""

import numpy as np

Loss = tuple[float, np.ndarray]


def mse(prediction: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> Loss:
    """Mean squared error and dprediction [T,B,O], from prediction and target [T,B,O], weight [T]."""
    _same_shape(prediction, target, prediction.shape)
    share = _share(prediction, weight) / prediction.shape[-1]  # [T,1,1]
    error = prediction - target
    squares = error.astype(np.float64) ** 2
    loss = float((share * squares).sum())
    dprediction = 2 * share * error
    return loss, dprediction.astype(prediction.dtype)


def cross_entropy(prediction: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> Loss:
    """Mean -log(probability of the right class), in nats, and dprediction [T,B,O].

    prediction [T,B,O] holds logits, whose softmax are the probabilities; target [T,B] the right classes.
    """
    _same_shape(prediction, target, prediction.shape[:-1])
    _check_classes(target, classes=prediction.shape[-1])
    share = _share(prediction, weight)
    right = target[..., np.newaxis]
    log_probability = log_softmax(prediction.astype(np.float64))
    log_likelihood = np.take_along_axis(log_probability, right, -1)  # [T,B,1]
    loss = -float((share * log_likelihood).sum())
    dprediction = np.exp(log_probability)
    likelihood = np.take_along_axis(dprediction, right, -1)
    np.put_along_axis(dprediction, right, likelihood - 1, -1)
    return loss, (share * dprediction).astype(prediction.dtype)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities [T,B,O] from logits [T,B,O] (or more axes), without overflow."""
    shifted = logits - logits.max(-1, keepdims=True)
    total = np.exp(shifted).sum(-1, keepdims=True)
    return shifted - np.log(total)


def _share(prediction: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Share of one step of one sequence in the mean [T,1,1]; over steps and sequences they add up to 1."""
    T, B, _ = prediction.shape
    weight = np.ones(T) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != (T,):
        raise ValueError(f"weight has shape {weight.shape}, expected ({T},): one number per step")
    total = weight.sum()
    if not total > 0 or weight.min() < 0:
        raise ValueError("weight must not be negative, and at least one step must count")
    share = weight / total / B
    return share[:, np.newaxis, np.newaxis]


def _same_shape(prediction: np.ndarray, target: np.ndarray, expected: tuple) -> None:
    if prediction.ndim != 3 or not prediction.size:
        raise ValueError(f"prediction has shape {prediction.shape}, expected (T, B, O), each at least 1")
    if target.shape != expected:
        wanted = f"{expected} for a prediction of shape {prediction.shape}"
        raise ValueError(f"target has shape {target.shape}, expected {wanted}")


def _check_classes(target: np.ndarray, classes: int) -> None:
    if target.dtype.kind not in "iu":
        raise ValueError(f"target has dtype {target.dtype}, expected integers: the number of the right class")
    if not target.size:
        return
    first = target.min()
    last = target.max()
    if first < 0 or last >= classes:
        raise ValueError(f"target holds classes {first} to {last}, expected 0 to {classes - 1}")
