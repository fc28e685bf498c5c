"""Two photographs that scikit-learn brings along: one to train on, the other held out.

china.jpg is a temple, full of edges; flower.jpg a dahlia before a blurred meadow. No pixel of one is in the
other.
"""

from functools import cache

import numpy as np

PHOTOGRAPH = {"train": "china.jpg", "test": "flower.jpg"}
LUMA = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue look: ITU-R BT.601


@cache
def brightness(split: str, shrink: int = 1) -> np.ndarray:
    """The split's photograph in grey [rows,columns], -0.5 black to 0.5 white.

    Every shrink × shrink pixels become one, their mean.
    """
    from sklearn.datasets import load_sample_image  # half a second, so only when needed

    grey = load_sample_image(PHOTOGRAPH[split]) @ LUMA / 255 - 0.5
    rows, columns = (size // shrink * shrink for size in grey.shape)
    blocks = grey[:rows, :columns].reshape(rows // shrink, shrink, columns // shrink, shrink)
    picture = blocks.mean((1, 3)).astype(np.float32)
    picture.setflags(write=False)  # one array for all callers: it must not change
    return picture
