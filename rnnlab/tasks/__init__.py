"""Real problems for a recurrent network, with nothing to download. `TASKS` is the only list of them.

from rnnlab.tasks import image_filters
task = image_filters.task("sobel")
batch = task.batch(rng, B=32)              # x [T,B,I], target [T,B,O], weight [T]
task.held_out, task.baseline               # what to be judged on, and what to beat there
task.picture(prediction, batch), task.alt(prediction, batch)
"""

from rnnlab.tasks import adding, frame_differences, image_filters, rotated_images, text
from rnnlab.training.task import Baseline, Batch, Task

TASKS = {
    "image_filters": image_filters.task,
    "frame_differences": frame_differences.task,
    "rotated_images": rotated_images.task,
    "text": text.task,
    "adding": adding.task,
}
__all__ = ["TASKS", "Baseline", "Batch", "Task"]
