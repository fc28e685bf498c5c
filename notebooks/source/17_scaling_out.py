# Course map: data-parallel training on real or simulated ranks; rings; a model fitted to 47 published runs and judged by 37 others (28 of 37 within 10 % when it extrapolates); a rank lost

# %% [markdown]
# # 17 · Many machines
#
# **Claim to test: eight times the GPUs, at the same minibatch in all, train an RNN eight times as fast. Do they?**
#
# The sequences of a minibatch do not depend on each other, so many GPUs can share them; only the gradients must be added up. You will write that sum, find out when a gradient may be sent, hold a model against runs on up to 1,024 GPUs, and lose a rank on purpose. The recap tests the claim.
#
# - **Time:** 160 minutes, exercises included.
# - **You need:** [14 · Do four layers take four times as long?](14_network_schedule.ipynb), [15 · Weights that stay](15_persistent_rnn.ipynb). No GPU; Open MPI makes some cells live.
# - **Afterwards you can** write and cost an all-reduce, average gradients of unequal shares, predict how far a network scales, and continue after a rank is lost.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# Copies of a program that work together are **ranks**; MPI starts them and carries their messages. Where MPI is missing, simulated ranks run the same functions in turn on one core, with a clock of their own. All times on simulated ranks are predictions.

# %% [folded]
# Take real ranks where Open MPI runs, else simulated ones.
from rnncourse import drawings
from ranks.launch import why_not

live = why_not() is None
if live:
    from ranks.call import call_on_ranks as call
    from rnnlab.scaling.run import train_on_ranks
else:
    from ranks.simulated_ranks import call
    from rnnlab.scaling import simulated_training

    train_on_ranks = simulated_training.train_on_simulated_ranks
print("real ranks: cells with ranks are live" if live
      else f"simulated ranks only: {why_not()}")
drawings.show("shares_of_ranks")

# %% [markdown]
# ## 1 · One sum for all
#
# Each rank computes the gradient of its own sequences; then all need the sum. That is an **all-reduce**. The plain way: one rank receives all arrays, adds them, and sends the sum to everybody. In a **ring** of p ranks the array is cut into p chunks, and in each step every rank sends one chunk to its right neighbour: p − 1 steps add, p − 1 more copy the sums. **Predict:** 16 ranks, arrays of 100 MB. How many MB pass through the link of the busiest rank in one direction, in the plain way and in the ring?

# %%
import numpy as np

from ranks.costs import Link
from ranks.simulated_transfers import replay, schedule

drawings.show("ring_steps")

my_guess = {"one reducer": ..., "ring": ...}
link = Link.from_bandwidth(microseconds=14, gigabytes=6)
for name, guess in my_guess.items():
    result = replay(schedule(name, 16), 100e6, link)
    print(f"{name}: {result.steps} steps, {result.traffic.max() / 1e6:.1f} MB "
          f"from the busiest rank (you guessed {guess}), "
          f"{1e3 * result.seconds:.1f} ms")
drawings.show("ring_all_reduce")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 1,500 MB in the plain way, 187.5 in the ring. In the ring every link works in every step, and each rank sends 2(p − 1)/p of an array: less than two arrays, however many ranks there are. No all-reduce between end points can send less from its busiest rank. (Switches that add on the way can: with NVLink SHARP each GPU sends its array once.)
#
# </details>
#
# The first half of the steps is called **reduce-scatter** (each rank ends with one whole chunk), the second half **all-gather**.
#
# In the drawing rank 0 ends the first half with the whole chunk 1. In the exercise rank r is to end with chunk r: the same ring, counted from another place.
#
# ### Exercise: around the ring
#
# <!-- exercise: ring_allreduce -->
#
# In [work/17_scaling_out.ipynb](../work/17_scaling_out.ipynb).

# %% [markdown]
# ## 2 · What a message costs
#
# A message takes a **latency** α, whatever its size, and β for each byte. The ring sends few bytes in many messages; other algorithms send more bytes in fewer messages (p a power of two):
#
# - **tree**: pairs of ranks add whole arrays, then pairs of pairs, until one rank has the sum, which goes back the same way: 2·log₂p messages in a row.
# - **recursive doubling**: everybody exchanges whole arrays with a partner at distance 1, then 2, 4, …: log₂p messages.
# - **Rabenseifner**: the same partners exchange halves, quarters, … and gather them again: 2·log₂p messages with the bytes of a ring.
#
# **Predict** which one is fastest on 128 ranks for 1 kB (a readout's gradients), and which for 100 MB.

# %%
from ranks.costs import ALGORITHMS, all_reduce_seconds, fastest

my_guess = {1e3: ..., 100e6: ...}
sizes_in_bytes = 1e3, 1e6, 100e6

# %% [folded]
# Print the time of each algorithm.
print(f"{'ms':18}", *(f"{size / 1e6:16g} MB" for size in sizes_in_bytes))
for name in ALGORITHMS:
    times = (1e3 * all_reduce_seconds(name, 128, size, link)
             for size in sizes_in_bytes)
    print(f"{name:18}", *(f"{time:19.3f}" for time in times))
print(f"{'fastest':18}", *(f"{fastest(128, size, link):>19}"
                           for size in sizes_in_bytes))
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Recursive doubling for 1 kB, Rabenseifner for 100 MB, and the ring close behind it.
#
# </details>
#
# These formulas count messages and bytes of the longest path. They leave out the additions, busy links, and a rank that comes late.
#
# Now move the sliders. **Look for** a place where more bandwidth changes nothing, and one where a smaller latency changes nothing. Then try 4,096 ranks.

# %%
from rnncourse.views.ranks_view import explore_ranks

explore_ranks()

# %% [markdown]
# <details><summary>What you find, with Rabenseifner on 128 ranks</summary>For 0.001 MB more bandwidth changes nothing: 0.196 ms with 6 GB/s and with 400. For 74 MB a smaller latency changes next to nothing: 24.7 ms with 14 µs, 24.5 ms with 1 µs, at 6 GB/s. On 4,096 ranks the ring sends 8,190 messages in a row, and at 14 µs each they alone take 115 ms.</details>
#
# Messages go wrong in ways that a single program cannot. **Predict** for each of these three whether it ends, and whether its numbers are right: all ranks send before anybody receives; a ring in which step 1 sends the chunks of step 0 again; a gradient that still changes while it is being summed.

# %%
from ranks.simulated_ranks import Deadlock, run
from ranks.simulated_transfers import from_transfers, ring


def send_first(comm):
    comm.send(comm.rank, (comm.rank + 1) % comm.size)
    return comm.recv(source=(comm.rank - 1) % comm.size)


def change_too_late(comm):
    gradient, total = np.ones(3), np.empty(3)
    request = comm.Iallreduce(gradient, total)  # begins, and returns at once
    gradient += 1  # the backward pass is still adding steps
    request.wait()
    return total


my_guess = {"1": ..., "2": ..., "3": ...}
try:
    run(3, send_first)
except Deadlock as error:
    print("1.", error)
again = [(step, a, b, (chunk + (step == 1)) % 4)
         for step, a, b, chunk in ring(4).transfers()]
print("2.", replay(from_transfers(4, 4, again), 8, link).findings[0])
late = run(2, change_too_late)
print("3.", late.findings[0], "The sum is", late.results[0], "and not 4")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The first never ends: each rank waits until its neighbour receives, and nobody does. (MPI may buffer short messages; then this program hangs on large arrays only.) The second and the third run to their end and give wrong numbers; under MPI the third's sum may be any mixture. So MPI forbids any change to the array before `wait`.
#
# </details>
#
# ## 3 · Whose mean is it?
#
# A rank's gradient is the mean over its own sequences. **Predict:** one rank has three sequences and a gradient of 10, the other has one sequence and a gradient of 20. Which number should both use for the update?

# %%
my_guess = ...


def mean_of_means(comm, gradient, sequences):
    return comm.allreduce(gradient) / comm.Get_size()


shares = [{"gradient": np.array([10.0]), "sequences": np.array(3)},
          {"gradient": np.array([20.0]), "sequences": np.array(1)}]
means = call(mean_of_means, shares)
right = (3 * 10 + 1 * 20) / 4
print(f"mean of means {means[0][0]}, mean over four sequences {right}; you "
      f"guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 12.5, not 15. With the mean of the means the single sequence counts as much as the other three together. Nothing crashes, and the loss may still fall: this mistake is found by comparing with one process, not by looking at a curve.
#
# </details>
#
# The course's engine scales each rank's gradient by its share before the sum. Every rank draws the whole minibatch and takes its own sequences, so the data are the same for any number of ranks. **Predict:** how far apart are the losses of one process and of two ranks with 11 and 5 sequences, after 30 updates on the adding problem?

# %%
from rnnlab.scaling.settings import RunSettings
from rnnlab.training import Adam, fit


def train_here(settings):
    """Losses of the same run in this process, without ranks."""
    optimiser = Adam(settings.learning_rate)
    _, history = fit(settings.model(), settings.of_task(), optimiser,
                     settings.steps, settings.batch, settings.seed,
                     progress=False)
    return history.losses


my_guess = ...
job = dict(task="adding", batch=16, hidden_size=16, steps=30, every=10)
quiet = {"note": lambda sentence: None}
one = train_here(RunSettings(**job))
two = train_on_ranks(RunSettings(ranks=2, split=(11, 5), **job), **quiet)
apart = np.abs(np.subtract(one, two["losses"])).max()
print(f"last loss {one[-1]:.6f} in one process, {two['losses'][-1]:.6f} on two "
      f"ranks; at most {apart:.0e} apart, you guessed {my_guess:.0e}")
print(two["overlap"] if live else "messages, predicted: "
      f"{1e3 * two['seconds']:.2f} ms in all")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# They agree to about 1e-7. The last bits may differ, because a sum in another order rounds differently. Real ranks also print when each gradient and its sum were complete, and how much of the time between lay inside the backward pass (`hidden`, an upper bound: MPI may send only while a rank waits).
#
# </details>
#
# ### Exercise: unequal shares
#
# <!-- exercise: average_gradients -->
#
# ## 4 · When is a gradient complete?
#
# While the backward pass of the lower layers still runs, the links could already carry the upper layers' gradients. The weight gradient of a layer is a sum over **all** time steps. To send it in one message, a rank must wait until the layer's sweep has reached step 0 and the product for its weights has ended. **Predict:** four layers, 20 steps: after which share of the backward pass is the top layer's gradient complete, layer by layer and on the wavefront of lesson 14?

# %%
from pocketgpu.devices import find
from rnnlab.ladder import stage_passes
from rnncourse.scaling.model import ready_times
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict

my_guess = {"fused_layer": ..., "layer_wavefront": ...}
device, sizes = find("H200"), Sizes(20, 64, 512, 512, 4)
passes, forward = {}, {}
for stage, guess in my_guess.items():
    plans = [plan_for(way, "lstm", sizes, stage_passes()[stage])
             for way in ("forward", "backward")]
    forward[stage] = 1e-6 * predict(plans[0], device).makespan
    passes[stage] = ready_times(plans[1], device)
    ready, end = passes[stage]
    print(f"{stage}: backward {1e3 * end:.2f} ms; complete from the top:",
          ", ".join(f"{time / end:.0%}" for time in reversed(ready)),
          f"(you guessed {guess:.0%})")
drawings.show("messages_behind_work")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# After 24 % layer by layer, after 63 % on the wavefront; both predicted by the timeline model. Layer by layer, the gradients become complete evenly, and with links that are fast enough most messages can hide behind the layers below. On the wavefront all layers run side by side, so most of the pass is over before any gradient is complete, and the pass is shorter: there is less left to hide behind.
#
# </details>
#
# **Predict:** is the wavefront also the faster schedule on 128 GPUs, with 400, 25, 6 and 1 GB/s between them?

# %%
from rnncourse.scaling.model import schedule_update

# four gates, two matrices and two biases, float32
layer_bytes = 4 * 4 * (2 * 512**2 + 2 * 512)
my_guess = ...  # of the four bandwidths
faster = {}
for bandwidth in (400, 25, 6, 1):
    line = Link.from_bandwidth(14, bandwidth)
    reduce = lambda size, line=line: all_reduce_seconds(
        "Rabenseifner", 128, size, line)
    updates = {stage: schedule_update((forward[stage], end), ready,
                                      [layer_bytes] * 4, reduce)
               for stage, (ready, end) in passes.items()}
    words = (f"{stage} {1e3 * u.seconds:.2f} ms, "
             f"{u.hidden / u.communication:.0%} hidden"
             for stage, u in updates.items())
    faster[bandwidth] = min(updates, key=lambda stage: updates[stage].seconds)
    print(f"{bandwidth:4} GB/s:", "; ".join(words), "-> faster:",
          faster[bandwidth])
print("the wavefront is faster at",
      list(faster.values()).count("layer_wavefront"), "of", len(faster),
      "bandwidths; you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The wavefront is the faster one with all four bandwidths. The schedule that hides the larger share of its messages need not be the faster one: what counts is the end of the update. In ms the wavefront is not late: in both schedules the first gradient is complete about 2.4 ms after the backward pass begins. With slow links the messages outlast either pass, and its lead is only the shorter forward pass: 1.6 ms at 1 GB/s.
#
# </details>
#
# ### Exercise: ready times
#
# <!-- exercise: gradient_ready_times -->
#
# ## 5 · A model against published runs
#
# The course's model has one set of constants for each series of runs: arithmetic, β, α. The first series is a language model on 1 to 40 GPUs, whose report says that training speeds up linearly. **Predict:** which share of 40 times the speed of one GPU do its own figures show?

# %%
from rnncourse.figures.picture import canvas, show
from rnncourse.scaling import model_fit, published

my_guess = ...
series = published.find("ring all-reduce, 40 GPUs")
lines = model_fit.lines(model_fit.alternate, [series])
ms = [line.point.seconds for line in lines]

# %% [folded]
# Draw the published times and those of the model.
print(f"efficiency on 40 GPUs: {ms[0] / ms[-1]:.0%}; you guessed "
      f"{my_guess:.0%}")
figure, axis = canvas()
axis.plot(range(1, 41), ms, "o", ms=4, label="published")
axis.plot(range(1, 41), [line.predicted for line in lines],
          label="model, fitted to every second run")
axis.set(xlabel="GPUs, 8 a node", ylabel="ms of an update", ylim=(0, None))
axis.legend()
show(figure, f"An update takes {ms[0]:.0f} ms on one GPU and {ms[-1]:.0f} ms "
     "on 40; the model follows within "
     f"{max(abs(line.error) for line in lines if not line.is_fitted):.0%} of "
     "the runs that it has not seen.")
constants = model_fit.fit(series, [line.point for line in lines
                                   if line.is_fitted])
print({name: round(value, 2) for name, value in constants.cost.items()},
      "ms each")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Its own figures show half: 50 %. The constants of the model have a meaning: ms of arithmetic, ms a gigabyte inside a node and between nodes, ms a message. (That a gigabyte inside a node is slower rests on three runs.) A fitted message takes milliseconds, a link's latency only microseconds: the rest is probably time in which the program waits. Such a term, which grows with every rank, is missing from the report's estimate.
#
# </details>
#
# Two statements of the report are wrong, and the third disagrees with its own figure. **Write down** what should stand there; the recall has the answers.
#
# 1. Data that a GPU sends, for K bytes on N GPUs: 2(N−1)·N/K.
# 2. "independent of the number of GPUs".
# 3. An update takes 370 ms on one GPU and 650 to 700 ms on 40.

# %% [folded]
# Print how near the model comes to runs that it has not seen.
entries = model_fit.lines(model_fit.alternate)
worst = sorted((line for line in entries if not line.is_fitted),
               key=lambda line: -abs(line.error))
print(f"the worst 6 of {len(worst)} judged runs (model_fit.table(entries) "
      f"prints all):\n{'error':>6}  {'GPUs':>4}  series")
for line in worst[:6]:
    print(f"{line.error:+6.1%}  {line.point.gpus:4}  {line.series.name}")
print("every second run fitted:", model_fit.verdict(entries))
larger = model_fit.lines(model_fit.extrapolate)
print("smaller half fitted:", model_fit.verdict(larger))
for split, runs in (("every second run", entries), ("smaller half", larger)):
    close = [abs(line.error) <= 0.1 for line in runs
             if not line.is_fitted and line.series != series]
    print(f"without the first series, {split} fitted: {sum(close)} of "
          f"{len(close)} within 10%")

# %% [markdown]
# GNMT is a translation network of LSTMs. MLPerf is the vendors' race to a fixed quality. NVIDIA's DGX-2H has 16 V100 GPUs. mLSTM is an LSTM whose gates read a product of input and state.
#
# The first verdict is on runs between known ones or next after the last, the second on runs with more GPUs than any known one. The second is the harder test: 28 of 37 runs within 10 %, the worst off by 24 %. But 20 of the 37 are points of the first series, one smooth curve. Of the other 17 runs 8 are within 10 %. Most of their series have only three or four runs, of which two fix two constants (links between nodes come from a data sheet). Part of the error is in the reading of figures: ± 1 of a speed-up of 11 is 9 %.
#
# ### Exercise: a model of your own
#
# <!-- exercise: predict_scaling -->

# %% [markdown]
# ## 6 · Two walls
#
# Now the claim; a factor above 7.2, nine tenths of 8, counts as "holds". The minibatch stays at 512 sequences in all, and 16 GPUs become 128. Rates are the published ones of a TitanX, 1,152 units: products launched step by step (GEMM; figure and text of the source disagree), and the persistent kernel of lesson 15. Links have 10 GB/s and 5.7 µs a message inside a node of 8 GPUs, 6 GB/s and 14 µs between nodes. In **two-level** sums each node adds on its own first, then rings between nodes add the nodes' sums. The times are predicted from these rates, for the whole update: half of its operations are the inputs' products, which run at 5.3 TFLOP/s a GPU for any minibatch. **Predict** the three factors.

# %%
from rnncourse.scaling.model import Training, stops_paying, strong_scaling

my_guess = {"persistent": ..., "GEMM, figure": ..., "GEMM, text": ...}
counts, factors, scaled = (16, 32, 64, 128, 256, 512), {}, {}

# %% [folded]
# Print and draw the times of three kernels on up to 512 GPUs.
print(f"{'ms on GPUs:':13}" + "".join(f"{count:6}" for count in counts),
      " 16 to 128")
for name, rates in published.RATES.items():
    scaled[name] = strong_scaling(Training(batch=512), counts, rates)
    few, many = (scaled[name][k].update.seconds for k in (0, 3))
    factors[name] = few / many
    print(f"{name:13}" + "".join(f"{1e3 * line.update.seconds:6.0f}"
                                 for line in scaled[name]),
          f" {factors[name]:.2f} times, guess {my_guess[name]}")
    full = strong_scaling(Training(batch=1024), (16,), rates)[0].tflops
    print(f"{'':13} 16 GPUs × 64 sequences: {full:.0f} TFLOP/s; 128 GPUs × 4: "
          f"{scaled[name][3].tflops:.0f} TFLOP/s")
figure, axis = canvas()
for name, mark in zip(scaled, "osD", strict=True):
    axis.loglog(counts, [line.tflops for line in scaled[name]], f"-{mark}",
                label=name)
axis.set(xlabel="GPUs, 512 sequences in all", ylabel="TFLOP/s of all GPUs",
         xticks=counts, xticklabels=counts)
axis.set_yticks(ticks := [20, 50, 100, 200, 500], labels=ticks)
axis.minorticks_off()
axis.legend()
show(figure, "From 16 to 128 GPUs the persistent kernel becomes "
     f"{factors['persistent']:.1f} times as fast, those of GEMMs "
     f"{factors['GEMM, text']:.2f} to {factors['GEMM, figure']:.2f} times; "
     "beyond 128 GPUs no line rises as before.")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# A GEMM takes nearly as long for 4 sequences as for 32, so eight times the GPUs do little: what they save in arithmetic they lose in **small minibatches**. **128 GPUs at 4 sequences each deliver less than 16 GPUs at 64**, twice the minibatch in all: 23 to 30 TFLOP/s against 36. The persistent kernel keeps its rate down to 4 sequences: 452 TFLOP/s against 59.
#
# </details>
#
# An update's time has four terms: **arithmetic** at the best published rate; **small minibatch**, what arithmetic takes longer than that; **bytes** and **messages**, what the links add. **Predict:** 1,024 sequences on up to 1,024 GPUs. From which count on do twice the GPUs gain less than a quarter, and which term stops them?

# %%
my_guess = (..., ...)
for name, rates in published.RATES.items():
    lines = strong_scaling(Training(batch=1024),
                           (8, 16, 32, 64, 128, 256, 512, 1024), rates)
    print(f"{name}: stops paying at {stops_paying(lines)}; you guessed "
          f"{my_guess}")
ends = strong_scaling(Training(batch=1024), (256, 1024),
                      published.RATES["persistent"])
terms = {line.ranks: line.terms for line in ends}
for ranks, parts in terms.items():
    print(f"persistent, {ranks} GPUs:",
          ", ".join(f"{name} {1e3 * value:.1f} ms"
                    for name, value in parts.items()))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The persistent kernel from 256 GPUs on, the two GEMM rates already from 32 and from 16 on. With these links small minibatches stop all three, not messages.
#
# </details>
#
# That is the wall of the hardware. With more sequences the second wall comes, that of the optimisation: large minibatches need more epochs. MLPerf's GNMT was trained to the same quality at several sizes. **Predict:** 16,384 sequences an update in place of 3,072: how many times the epochs?

# %%
my_guess = ...
epochs = published.EPOCHS_TO_TARGET
for batch, (machine, gpus, (fewest, most), minutes) in epochs.items():
    print(f"{batch:6} sequences, {gpus:4} GPUs ({machine}): {fewest} to {most} "
          f"epochs, {minutes} minutes")
ratio = sum(epochs[16384][2]) / sum(epochs[3072][2])
gpus, time = (epochs[16384][1] / epochs[8192][1],
              epochs[8192][3] / epochs[16384][3])
print(f"middle of the ranges: {ratio:.1f} times the epochs, you guessed "
      f"{my_guess}")
print(f"DGX-2H, from 256 to 1,024 GPUs: {gpus:.0f} times the GPUs, {time:.2f} "
      "times as fast to the target")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 2.2 times the epochs. And 1,024 GPUs reached the target only 1.57 times as fast as 256. Of the missing factor, 2.55, more epochs explain 1.54 (10 in place of 6.5). Hardware, links and start explain the rest, 1.66.
#
# </details>
#
# **The rule of this lesson:** give each GPU at least the number of sequences below which its step hardly gets shorter. By the outputs above: 4 for the persistent kernel, 32 or 64 for products launched step by step. The largest number of GPUs that pays is the largest useful minibatch divided by that.
#
# This is *data parallelism*, one of several. Its relatives split something else: **ZeRO** and **FSDP** the parameters and the optimiser's state; **tensor parallelism** the matrices of a layer; **pipeline parallelism** the layers. Sums of several small gradients in one message are called **buckets**.
#
# ## 7 · A rank is lost
#
# The more ranks, the more often one of them fails. **Predict:** rank 1 of two is killed in the middle of a run. What does the other one do, and what is left of the work?

# %%
import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from ranks.faults import RankFailure
from ranks.simulated_ranks import RankLost

my_guess = ...
saved = Path(tempfile.mkdtemp()) / "run.npz"
long_job = job | {"steps": 400, "every": 50, "checkpoint": str(saved)}


def kill_rank_1(lines):  # looks at the ranks' progress again and again
    if 60 <= lines["step"][1] < 390:
        with suppress(ProcessLookupError):  # it is gone already
            os.kill(int(lines["process"][1]), signal.SIGKILL)


# after 500 calls of its communicator
how = {"look": kill_rank_1} if live else {"lost": {1: 500}}
try:
    train_on_ranks(RunSettings(ranks=2, **long_job), **how, **quiet)
except (RankFailure, RankLost) as error:
    print(error)
drawings.show("lost_rank")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Without a launcher that watches, the survivor would wait forever. Here the launcher ends it, and the last whole checkpoint is what is left: it was written under another name first and then renamed, so a rank that dies while writing destroys nothing.
#
# </details>
#
# There are two ways to continue. The common one starts all ranks again from the checkpoint, with as many as are left. The other needs no restart: an extension of MPI (ULFM, in Open MPI 5) lets the survivors **revoke** the communicator, **shrink** it, and continue. **Predict:** how far apart are their last losses?

# %%
my_guess = ...
losses = {"undisturbed, one process": train_here(RunSettings(**long_job))}
resumed = train_on_ranks(RunSettings(ranks=1, resume=True, **long_job))
losses["resumed on one rank"] = resumed["losses"]
if live:
    going_on = long_job | {"checkpoint": None, "survive": True}
    shrunk = train_on_ranks(RunSettings(ranks=2, **going_on), look=kill_rank_1)
    losses["shrunk to one rank"] = shrunk["losses"]
else:
    print("Shrinking needs MPI's ULFM, and is left out here.", why_not())
for name, series_of_losses in losses.items():
    print(f"{name:26} last loss {series_of_losses[-1]:.6f}")
last = [series_of_losses[-1] for series_of_losses in losses.values()]
print(f"at most {max(last) - min(last):.0e} apart; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# They agree except for the last digits. With the same number of ranks the engine's tests require equal bits.
#
# </details>
#
# ### Exercise: survive
#
# <!-- exercise: survive -->
#
# **Break it:** the next cell gives the persistent kernel of section 6 the links of section 5: more GB/s, but 2 ms a message. **Look for** the first count of GPUs that is slower than the one before it. Then add `"tree"` and `"Rabenseifner"` to the algorithms of the loop: where does it turn for those?

# %%
from rnncourse.scaling.model import Cluster

slow = Link.from_bandwidth(1e3 * constants.cost["message between nodes"],
                           1e3 / constants.cost["GB between nodes"])
fast = Link.from_bandwidth(0, 1e3 / constants.cost["GB in a node"])
cluster, slowed = Cluster(8, fast, slow), {}
for algorithm in ("ring", "two-level"):
    lines = strong_scaling(Training(batch=512), counts,
                           published.RATES["persistent"], cluster=cluster,
                           algorithm=algorithm)
    few, many = (lines[k].update.seconds for k in (0, 3))
    slowed[algorithm] = few / many
    print(f"{algorithm}:", ", ".join(f"{line.ranks}: "
                                     f"{1e3 * line.update.seconds:.0f} ms"
                                     for line in lines))

# %% [markdown]
# <details><summary>What you find</summary>32 GPUs for the ring, 128 for two-level. 128 for the tree, 332 ms after 326; 256 for Rabenseifner, 273 ms after 250. The last two's messages in a row grow with log₂p and not with p, so little is lost afterwards: 407 and 299 ms on 512 GPUs.</details>
#
# ## Recap
#
# **Eight times the GPUs are nearly eight times as fast only if the kernel stays efficient at small minibatches and messages are fast: from 16 to 128 GPUs 7.7 times with the persistent kernel and section 6's links, 1.1 to 1.3 times with products launched step by step. From 64 to 512 GPUs the persistent kernel gains only 2.5 times: a GPU then has one sequence. With section 5's slow messages two-level sums gain 1.4 times, and a ring is slower. All predicted.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("all-reduce", "a sum for everybody; a ring sends 2(p − 1)/p of the array"),
    ("α and β", "short arrays want few messages, long ones few bytes"),
    ("unequal shares", "weight by sequences; the mean of means is wrong"),
    ("overlap", "a gradient is complete after its sweep and product"),
    ("hardware's wall", "a small minibatch a GPU; persistent kernels move it"),
    ("optimisation's wall", "large minibatches need more epochs"),
    ("a lost rank", "restart from a whole checkpoint, or shrink and continue"),
]
for question, answer in rows:
    print(f"{question:21}{answer}")
for name, factor in factors.items():
    print("claim, 8 times as fast from 16 to 128 GPUs: "
          f"{'holds' if factor > 0.9 * 8 else 'does NOT hold'} for {name}: "
          f"{factor:.2f} times, predicted")
ms = [1e3 * line.update.seconds for line in scaled["persistent"]]
print(f"persistent, 32 to 256 GPUs: {ms[1] / ms[4]:.1f} times; 64 to 512: "
      f"{ms[2] / ms[5]:.1f} times")
for algorithm, factor in slowed.items():
    print(f"with slow messages, persistent, {algorithm}: {factor:.2f} times")
rnnlab.progress("17_scaling_out")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>What is wrong in the report?</summary>A GPU sends 2(N−1)·K/N bytes. That grows from K to nearly 2K, so it is not independent of N. The text says 650 to 700 ms on 40 GPUs; the figure's rate gives 719 to 727 ms, error of reading included. (Its 370 ms on one GPU may be right: 327 to 410.)</details>
#
# <details><summary>Why is a layer's weight gradient not sent after half of its sweep?</summary>It is a sum over all steps, and half of the terms are missing.</details>
#
# <details><summary>Which algorithm for a gradient of 100 bytes on 1,000 ranks?</summary>Recursive doubling, with the fewest messages in a row; a tree or Rabenseifner has about twice as many.</details>
#
# <details><summary>Why do two ranks and one process differ in the last bits?</summary>Sums are added in another order, and each addition rounds.</details>

# %% [markdown]
# ## Sources
#
# - A. Gibiansky, *Bringing HPC Techniques to Deep Learning*, 2017: the ring, its text and its figure (read off, ± 10 samples/s).
# - R. Thakur, R. Rabenseifner, W. Gropp, 2005, and the sources of MPICH: costs of all-reduces. NVIDIA's NCCL, `tuning.cc`: hop latencies.
# - MLPerf Training v0.6 and v0.7: logs of GNMT. NVIDIA DeepLearningExamples (GNMT) and sentiment-discovery (mLSTM, read off a figure, ± 1).
# - SVAIL, *Persistent RNNs*, 2016: rates on a TitanX; the figure shows 0.12, the text 0.09 TFLOP/s for products with 4 sequences.
#
# Next: [18 · Parallel in time](18_parallel_in_time.ipynb)
