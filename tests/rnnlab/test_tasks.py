"""Tasks pose real problems: right targets, nothing held out that is trained on, an honest answer to beat."""

import pickle
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from rnnlab.tasks import (
    TASKS,
    adding,
    frame_differences,
    image_filters,
    photographs,
    rotated_images,
    text,
)
from rnnlab.training import Model
from rnnlab.training.task import HELD_OUT_SEQUENCES

FILTERS = [(name, rows) for name in image_filters.FILTERS for rows in (1, 3)]


def datasets():
    """Scikit-learn's, imported by those who need them: a second."""
    return pytest.importorskip("sklearn.datasets", reason="install scikit-learn: make test")


def drawn(task, seed=0, B=5, split="train"):
    return task.batch(np.random.default_rng(seed), B, split)


@pytest.mark.parametrize("name", TASKS)
def test_batches_have_the_shapes_of_the_contract(name):
    task = TASKS[name]()
    for split in ("train", "test"):
        x, target, weight = drawn(task, B=3, split=split)
        assert x.shape == (task.steps, 3, task.input_size)
        assert x.dtype == np.float32
        classes = target.dtype.kind == "i"
        assert target.shape == ((task.steps, 3) if classes else (task.steps, 3, task.output_size))
        assert weight.shape == (task.steps,)
        assert weight.max() > 0


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_depends_on_the_generator_alone(name):
    task = TASKS[name]()
    one, again, other = drawn(task, 1), drawn(task, 1), drawn(task, 2)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("name", TASKS)
def test_no_sequence_is_both_trained_on_and_held_out(name):
    task = TASKS[name]()
    sequences = lambda split: {s.tobytes() for s in drawn(task, 3, 200, split).x.swapaxes(0, 1)}
    assert sequences("train").isdisjoint(sequences("test"))


@pytest.mark.parametrize(("name", "rows"), FILTERS)
def test_filter_targets_are_scipys_correlation_of_the_photograph(name, rows):
    kernel = {
        "sobel": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
        "prewitt": [[-1, 0, 1]] * 3,
        "laplacian": [[0, 1, 0], [1, -4, 1], [0, 1, 0]],
    }[name]
    if rows == 1:
        kernel = [[1, -2, 1]] if name == "laplacian" else [[-1, 0, 1]]
    grey = datasets().load_sample_image("flower.jpg") @ photographs.LUMA / 255 - 0.5
    want = ndimage.correlate(grey, np.array(kernel, dtype=float))
    batch = image_filters.whole_photograph(name, rows)
    edge = rows // 2
    got = batch.target[2:, :, 0].T  # the answer to pixel t-1 is given at t
    assert np.allclose(got, want[edge : len(want) - edge, 1:-1], atol=1e-5)


@pytest.mark.parametrize("split", photographs.PHOTOGRAPH)
def test_the_photographs_are_those_of_scikit_learn(split):
    grey = datasets().load_sample_image(photographs.PHOTOGRAPH[split]) @ photographs.LUMA / 255 - 0.5
    assert np.array_equal(photographs.brightness(split), grey.astype(np.float32))


def test_filter_rows_are_pieces_of_the_photograph():
    batch = drawn(image_filters.task(steps=16), B=4)
    photograph = photographs.brightness("train")
    lines = np.lib.stride_tricks.sliding_window_view(photograph, 16, axis=1)
    for b in range(4):
        assert (lines == batch.x[:, b, 0]).all(-1).any()


def test_a_filter_is_not_asked_before_it_has_seen_three_pixels():
    assert drawn(image_filters.task()).weight[:4].tolist() == [0, 0, 1, 1]


def test_what_changed_is_the_difference_of_two_frames_of_a_moving_camera():
    x, target, weight = drawn(frame_differences.task(size=6, steps=5), B=8)
    assert np.array_equal(target[1:], x[1:] - x[:-1])
    assert weight.tolist() == [0, 1, 1, 1, 1]
    frames = x.reshape(5, 8, 6, 6)
    shifts = [(a, b) for a in range(-2, 3) for b in range(-2, 3) if a or b]
    inner = slice(2, 4)
    for b in range(8):  # each sequence moves by one and the same shift at every step
        moved = [
            all(
                np.array_equal(frames[t + 1, b, inner, inner], frames[t, b, 2 + r : 4 + r, 2 + c : 4 + c])
                for t in range(4)
            )
            for r, c in shifts
        ]
        assert any(moved)


def test_digits_are_rotated_as_scipy_does_from_the_original_each_time():
    digits = datasets().load_digits().images / 16 - 0.5
    views = rotated_images.rotated(10, 18)
    for step in (0, 1, 3, 9, 14, 18):
        want = ndimage.rotate(digits[7], 10 * step, reshape=False, order=1, cval=-0.5)
        assert np.allclose(views[step, 7].reshape(8, 8), want, atol=1e-6)
    x, target, _ = drawn(rotated_images.task(steps=3))
    assert np.array_equal(x[1:], target[:-1])


def test_text_is_source_of_the_standard_library_and_the_target_is_the_next_character():
    import calendar

    source = Path(calendar.__file__).read_text(encoding="utf-8")
    assert text.decode(text.characters("test")).startswith(source[:500])
    x, target, _ = drawn(text.task(steps=20))
    assert np.array_equal(x[1:].argmax(-1), target[:-1])
    assert (x.sum(-1) == 1).all()


def test_encoding_and_decoding_give_the_text_back_and_mark_what_is_unknown():
    assert text.decode(text.encode("for x in y:\n    ~")) == "for x in y:\n    ~"
    assert text.decode(text.encode("aé\tb")) == f"a{text.UNKNOWN}{text.UNKNOWN}b"


def test_the_bigram_table_is_a_count_of_pairs():
    logits = text.bigram_logits(text.characters("train")).astype(float)
    assert np.allclose(np.exp(logits).sum(1), 1, atol=1e-5)
    training = text.decode(text.characters("train"))
    pairs = lambda a, b: sum(training[k : k + 2] == a + b for k in range(len(training) - 1))
    row = text.encode("q")[0]
    following = sum(training[k] == "q" for k in range(len(training) - 1))
    want = (pairs("q", "u") + 1) / (following + text.CLASSES)
    assert np.exp(logits[row, text.encode("u")[0]]) == pytest.approx(want, rel=1e-5)


GREEK = "ὦ ξεῖν’, ἀγγέλλειν Λακεδαιμονίοις ὅτι τῇδε κείμεθα.\n" * 40


def test_a_callers_text_has_its_own_alphabet_baseline_and_held_out_end():
    task = text.task(7, text=GREEK)
    alphabet = "".join(sorted(set(GREEK)))
    assert task.input_size == task.output_size == len(alphabet) + 1
    x, target, _ = task.held_out
    assert np.array_equal(x[1:].argmax(-1), target[:-1])
    assert text.decode(target[:, 0], alphabet) in GREEK[-len(GREEK) // 10 :]
    training = GREEK[: len(GREEK) - len(GREEK) // 10]
    follow = Counter(pairwise(training))
    before = Counter(training[:-1])
    letters = [text.decode(classes.ravel(), alphabet) for classes in (x.argmax(-1), target)]
    odds = [(follow[a, b] + 1) / (before[a] + len(alphabet) + 1) for a, b in zip(*letters, strict=True)]
    assert task.baseline.value == pytest.approx(-np.log(odds).mean(), rel=1e-5)


def test_a_model_of_a_callers_text_writes_in_its_alphabet():
    task = text.task(5, text=GREEK)
    model = Model.create("gru", task.input_size, 4, task.output_size)
    rng = np.random.default_rng(0)
    written = text.write(model, "ὅτι", 30, rng, alphabet=text.alphabet_of(GREEK))
    seeds = 5, np.random.default_rng(5)
    assert len({text.write(model, "ὅτι", 30, seed, alphabet=text.alphabet_of(GREEK)) for seed in seeds}) == 1
    assert set(written) <= {*GREEK, text.UNKNOWN}
    with pytest.raises(ValueError, match="alphabet"):
        text.write(model, "ὅτι", 30, rng)


def test_rare_characters_of_a_text_with_thousands_share_a_class():
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 3000))) + "ab" * 100
    corpus = text.read(many)
    assert len(corpus.alphabet) == text.MOST
    assert {"a", "b"} < {*corpus.alphabet}
    assert corpus.train.max() == text.MOST


@pytest.mark.parametrize(
    ("wrong", "message"), [(b"bytes" * 99, "b'bytes"), ("short", "'short'"), ("a" * 200, "to 19")]
)
def test_a_text_that_cannot_be_read_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        text.task(48, text=wrong)


def test_the_sum_is_of_the_two_marked_numbers_one_in_each_half():
    x, target, weight = drawn(adding.task(steps=9), B=50)
    assert (x[..., 1].sum(0) == 2).all()
    assert (x[:4, :, 1].sum(0) == 1).all()
    for b in range(50):
        first, second = np.flatnonzero(x[:, b, 1])
        assert target[-1, b, 0] == pytest.approx(x[first, b, 0] + x[second, b, 0])
    assert weight.tolist() == [0] * 8 + [1]


def test_the_adding_baseline_is_the_variance_of_a_sum_of_two_uniform_numbers():
    baseline = adding.task().baseline
    assert baseline.value == pytest.approx(1 / 6, rel=0.15)  # of 256 draws
    assert baseline.what == "1 for every sum"


def test_baselines_are_losses_of_the_answers_they_name():
    for name, answer in [
        ("frame_differences", lambda batch: np.zeros_like(batch.target)),
        ("rotated_images", lambda batch: batch.x),
    ]:
        task = TASKS[name]()
        batch = task.held_out
        error = (answer(batch) - batch.target)[batch.weight > 0].astype(float)
        assert task.baseline.value == pytest.approx((error**2).mean(), rel=1e-5)
        assert batch.x.shape[1] == HELD_OUT_SEQUENCES
    task = TASKS["image_filters"]()
    grey = datasets().load_sample_image("china.jpg") @ photographs.LUMA / 255 - 0.5
    mean = (grey[:, 2:] - grey[:, :-2]).mean()
    want = ((task.held_out.target[2:] - mean).astype(float) ** 2).mean()
    assert task.baseline.value == pytest.approx(want, rel=1e-4)


@pytest.mark.parametrize("name", TASKS)
def test_a_picture_is_drawn_and_its_alt_tells_the_finding(name):
    task = TASKS[name]()
    batch = drawn(task, B=4, split="test")
    classes = batch.target.dtype.kind == "i"
    right = 9.0 * text.one_hot(batch.target) if classes else batch.target
    assert task.picture(right, batch).axes
    assert "better than" in task.alt(right, batch)
    assert "no better than" in task.alt(task.guess(batch), batch)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: image_filters.task("gauss"), "filter is 'gauss', expected one of 'sobel', 'laplacian'"),
        (lambda: image_filters.task(rows=2), "rows is 2, expected one of 1, 3"),
        (lambda: image_filters.task(steps=2), "steps is 2, expected a whole number from 3 to 640"),
        (lambda: frame_differences.task(steps=200), "the camera leaves the photograph"),
        (lambda: rotated_images.task(degrees=0), "degrees is 0, expected a whole number from 1 to 180"),
        (lambda: adding.task(steps=True), "steps is True, expected a whole number at least 2"),
        (lambda: text.task(steps=10**9), "steps is 1000000000, expected a whole number from 1 to"),
        (lambda: drawn(adding.task(), B=0), "B is 0, expected a whole number at least 1"),
        (lambda: drawn(adding.task(), split="dev"), "split is 'dev', expected one of 'train', 'test'"),
    ],
)
def test_a_size_without_sense_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_prediction_of_another_shape_is_not_painted():
    task = adding.task()
    with pytest.raises(ValueError, match=r"\(20, 5\).*\(20, 5, 1\)"):
        task.picture(np.zeros((20, 5)), drawn(task))


def test_shared_data_cannot_be_changed_by_one_of_its_users():
    for array in (photographs.brightness("train"), rotated_images.rotated(10, 2), text.characters("train")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("name", TASKS)
def test_a_task_goes_to_another_process_and_its_target_is_not_its_input(name):
    task = TASKS[name]()
    batch, same = drawn(task), drawn(pickle.loads(pickle.dumps(task)))
    assert all(np.array_equal(a, b) for a, b in zip(batch, same, strict=True))
    assert not np.shares_memory(batch.x, batch.target)
