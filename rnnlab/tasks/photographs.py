"""Two photographs, one to train on, the other held out; data/README.md names their authors.

china.jpg is a temple, full of edges; flower.jpg a dahlia before a blurred meadow. No pixel of one is in the
other.
"""

from functools import cache
from pathlib import Path

import numpy as np

DATA = Path(__file__).with_name("data")

PHOTOGRAPH = {"train": "china.jpg", "test": "flower.jpg"}
LUMA = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue look: ITU-R BT.601


@cache
def brightness(split: str, shrink: int = 1) -> np.ndarray:
    """The split's photograph in grey [rows,columns], -0.5 black to 0.5 white.

    Every shrink × shrink pixels become one, their mean.
    """
    from PIL import Image

    with Image.open(DATA / PHOTOGRAPH[split]) as picture:
        grey = np.asarray(picture) @ LUMA / 255 - 0.5
    rows, columns = (size // shrink * shrink for size in grey.shape)
    cut = grey[:rows, :columns]
    blocks = cut.reshape(rows // shrink, shrink, columns // shrink, shrink)
    picture = blocks.mean((1, 3)).astype(np.float32)
    picture.setflags(write=False)  # one array for all callers: it must not change
    return picture
