"""Drawing of the capstone: two directions of a skip, and what is in memory with and without recomputation."""

from drawings.pen import Sheet

LAYERS = 3
STEPS = 3
SEGMENTS = 4
LENGTH = 3  # of the memory's panel: 12 layers
BOX = 64
ACROSS = 122
UP = 92  # pixels: a cell's width, from step to step, from layer to layer
LEFT = 52
FLOOR = 300  # pixels: the lowest left cell
TILE = 27


def residual_layers() -> Sheet:
    """Lesson 19: a skip passes a layer, or a step; saved inputs of segments stand for their activations."""
    third = lambda layer: 2 * LENGTH <= layer < 3 * LENGTH

    def input_lives(layer):
        return third(layer) or (layer < 2 * LENGTH and layer % LENGTH == 0)

    arrays = 2 * SEGMENTS * LENGTH
    live = sum(third(layer) + input_lives(layer) for layer in range(SEGMENTS * LENGTH))
    s = Sheet(
        "Skips and segments",
        "Left: a skip through depth passes each layer and is added above it; a skip through time would "
        f"pass from step to step. Right: {SEGMENTS * LENGTH} layers need {arrays} saved arrays; in "
        f"{SEGMENTS} segments, while the third one is recomputed, only {live} are in memory: its "
        "inputs and states, and the inputs of the two segments below, the lowest of which is the data.",
        392,
    )
    s.heading(20, "Skips", "Solid: through depth, used here. Dashed: through time.")
    for layer in range(LAYERS):
        for step in range(STEPS):
            _cell(s, layer, step)
    s.rule((448, 20), (448, 372))
    s.heading(
        470, "Memory during one gradient", "A row a layer: its input, its states h. Hatched: not there."
    )
    _memory(s, 490, "save all", lambda layer: True, lambda layer: True)
    _memory(s, 690, "recompute", input_lives, third)
    return s


def _cell(s: Sheet, layer: int, step: int) -> None:
    """One layer at one step: its product, the sum above it, and the arrows that come to both."""
    x = LEFT + ACROSS * step
    y = FLOOR - UP * layer
    middle = x + BOX / 2
    s.arrow((middle, y + 54), (middle, y + 34))
    s.box(x, y, BOX, 34, "state", "h")
    s.arrow((middle, y), (middle, y - 10))
    s.circle(middle, y - 24, "+", "work", radius=14)
    s.arrow((middle, y + 47), (x - 16, y + 47), (x - 16, y - 24), (middle - 14, y - 24), role="weights")
    if step < STEPS - 1:
        s.arrow((x + BOX, y + 10), (x + ACROSS, y + 10), role="state")
        s.arrow((x + BOX, y + 26), (x + ACROSS, y + 26), role="waiting")


def _memory(s: Sheet, left: float, name: str, has_input, has_h) -> None:
    """A column of layers, the lowest at the bottom, with the arrays that are live."""
    for layer in range(SEGMENTS * LENGTH):
        y = 338 - 21 * layer - 4 * (layer // LENGTH)
        for column, live in enumerate((has_input(layer), has_h(layer))):
            if live:
                s.tile(left + 34 * column, y - 18, TILE + 5, 18, "#D6EAF7" if column else "#EDF0F4")
            else:
                s.hatch(left + 34 * column, y - 18, TILE + 5, 18)
    s.text(left + 33, 362, name, bold=True)
    s.note(left + 80, 346, "layer 0", "waiting")
    if name == "recompute":
        s.note(left + 80, 190, "this segment", "plain", bold=True)
        s.note(left + 80, 96, "its gradient", "waiting")
        s.note(left + 80, 114, "is ready", "waiting")
    else:
        s.note(left + 80, 190, "all at once", "waiting")
