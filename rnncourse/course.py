"""This course, as nbjudge sees it: COURSE, an nbjudge.course.Course."""

from collections.abc import Callable
from types import MappingProxyType, ModuleType

from nbjudge.course import Kind
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnnlab import resources

OF_NETWORKS = (
    *("cells", "gpu", "kernels", "ladder", "layers", "network", "newton"),
    *("reference", "scaling", "scan", "schedule"),
)
PACKAGES = "pocketgpu", "ranks", "nbjudge", "rnnlab", "rnncourse"
PLUG_IN = "rnncourse/kernel_answers/kernels.py", "rnncourse/kernel_answers/launcher.py"


class RnnCourse:
    """Lessons, exercises and rules of the course on recurrent networks."""

    name = "rnnlab"
    command = "rnnlab"
    settings_prefix = "RNNLAB_"
    environment = MappingProxyType({"RNNLAB_CUDA": "simulator"})
    lessons = checks.LESSONS
    packages = PACKAGES
    answers_folder = "rnncourse/checks/packed"
    drawings_folder = "rnncourse/drawings"
    refused = (
        *(f"rnnlab.{part}" for part in (*OF_NETWORKS, "training")),
        *("pocketgpu.device_functions", "ranks"),
        *("rnncourse.capstone", "rnncourse.scaling"),
    )
    kind = Kind("cuda", *PLUG_IN, ("pocketgpu",))
    usable_cores = staticmethod(resources.usable_cores)
    catalogue = staticmethod(checks.catalogue)
    exercises = staticmethod(checks.exercises)
    find = staticmethod(checks.find)
    answers = staticmethod(answers)

    def memory_limit(self) -> float:
        return resources.memory_limit()

    @property
    def compare(self) -> ModuleType:
        from rnnlab import compare

        return compare

    def launched(self, function: Callable, is_own: bool = False) -> Callable:
        from rnncourse.kernel_answers import kernels

        return kernels.launched(function, is_own)

    def replay(self, function: Callable, call: object) -> object:
        from rnncourse.kernel_answers import kernels

        return kernels.replay(function, *call)

    def select(self, answer: object, seconds: float, box: object, lines: list[str]) -> object:
        from rnncourse.kernel_answers.kernel_selection import select

        return select(answer, seconds, box, lines)

    def refuse_function(self, function: Callable) -> None:
        from rnncourse.kernel_answers.kernel_source import refuse_a_function

        refuse_a_function(function)


COURSE = RnnCourse()
