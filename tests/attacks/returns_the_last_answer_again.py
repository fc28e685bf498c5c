"""Works once, then returns what it returned before.

deserves: failed
"""

import numpy as np

answers = []


def running_sum(x):
    if not answers:
        answers.append(np.cumsum(x, axis=0))
    return answers[0]
