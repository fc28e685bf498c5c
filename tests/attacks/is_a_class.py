"""Is a class whose instances look like numbers.

deserves: failed
"""


class running_sum(float):
    def __new__(cls, x):
        return float.__new__(cls, 0)
