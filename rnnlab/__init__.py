"""rnnlab: one recurrent network, understood, trained, graded, and run faster and faster.

Read in this order.  The core, which computes:
  cells      one step of an RNN, GRU, LSTM, and its gradient
  network    a network's sizes and parameters, in PyTorch's layout
  reference  the reference implementation: layers and steps, and back-propagation through time two ways
  scan       a linear recurrence in fewer dependent steps than T; newton: any cell, by several scans
  compare    do two results agree, and where do they first differ
  graphs     a cell as a graph; its gradient, and what to save for it
  schedule   a pass through a network as a plan of kernel launches; passes over plans make it faster
  ladder     every faster way to the reference's numbers
  kernels    what fast rungs launch; gpu: a plan on a real GPU; layers: the loop over layers that rungs share
  training   how a network learns a task; tasks: real problems; scaling: training on many ranks
Packages beside it:
  pocketgpu  a GPU for everyone, and what a kernel becomes on a real one; ranks: real and simulated ones
  rnncourse  what the lessons show and ask: views, checks, records; nbjudge: how an answer is judged

Letters, here and nowhere else:
  T  time steps            B  sequences in a minibatch    I  inputs             H  hidden units
  L  layers                G  gates of a cell             O  outputs
  x [T,B,I] input          y [T,B,H] output of the top layer
  h, c [T+1,B,H] states of one layer: h[0] comes first, h[t+1] follows x[t]; a network's state is [L,B,H]
  d<name>  gradient of the loss with respect to <name>, with its shape
  Loops:   t step, l layer, b sequence, j unit written, k unit read, g gate

Words, one for one thing, in code, messages, lessons and exercises:
  activation      a number that the forward pass computes; saved: what the backward pass needs of them
  all-reduce      a sum over all ranks that every rank receives
  associative     of an operation: it may be grouped in any way, so that a tree computes it
  backward pass   from dy to dx and the gradients, last step first; the forward pass goes from x to y
  baseline        the loss of an answer without training, which a network must beat
  barrier         a point that all threads of a block, or blocks of a grid, reach before any continues
  bfloat16        the upper half of a float32: its range, 8 bits of precision; in arrays of uint16
  bucket          rows of a buffer that are looked up together when hazards are searched
  buffer          a matrix by name that operations of a plan read and write
  capture         recording launches as a CUDA graph, which replays them as one launch
  cell            the function of one step: rnn_tanh, rnn_relu, gru, lstm, min_gru
  checkpoint      a file from which a stopped training run continues
  cluster         blocks of a grid that can read each other's shared memory
  contestant      a program that a benchmark measures: a rung, or a peer (PyTorch, JAX, PyTensor)
  course          lessons, exercises and this package
  event           a mark in one stream for which another stream waits
  exercise        a function that a learner completes; solution: the completed one
  finding         an error or a waste that the simulator reports; in a picture, what it shows in a sentence
  fusion          joining operations into one kernel
  gate            a block of H rows of the weights; r, z, n of a GRU, i, f, g, o of an LSTM
  GEMM, product   a matrix product
  hazard          two operations that must not change places: read after write, and its two kin
  Jacobian        derivatives of the state after a step [S] by the state before it [S], a matrix
  kernel          a function that a GPU runs; launch: one start of it
  ladder, rung    the implementations in order of their ideas; one of them
  layer           one recurrence over all steps; layers are stacked
  ledger          a count of products, launches or bytes before and after a rung, which a test repeats
  lesson          one notebook; its exercises are in a notebook of the same name
  look-back       blocks that each publish their map, and read those before it until a state is known
  Lyapunov exponent  mean logarithm, a step, of the growth of a small difference
  lower bound     a time that no schedule can beat, computed from data sheets or measured latencies
  makespan        the time from the first issue to the last end
  master weights  the float32 weights that training changes, and from which narrower ones are rounded
  minibatch       B sequences that run together
  mutant          an answer with one known mistake, which a check must refuse
  Newton iteration  linearise all steps at a guess of their states, solve them by a scan; lessons: a round
  operation       one launch in a plan
  oracle          the reference in float64, with which tests compare
  pair            two bfloat16 numbers side by side, which one instruction multiplies by another two
  panel           neighbouring columns of a matrix, copied so that they lie row after row
  pass            a function from plan to plan; also one way through data: forward, backward, over memory
  persistent      of a kernel: it runs for a whole sequence and holds the weights in registers
  plan            the operations of a pass through a network, in issue order
  quantise        to round to whole numbers times a scale: int8 weights have one a row
  random order    an order of threads that the simulator draws from a seed
  rank            one of the processes that train together, each on its share of a minibatch
  record          a file of measurements with machine, versions and commit
  recurrence      the part of a step that needs the step before
  reference       the slow implementation with which all others must agree
  region          rows and columns of a buffer
  roofline        attainable FLOP/s from peak and bandwidth
  saved           what the forward pass hands to the backward pass
  scan            all prefixes of T maps, in fewer dependent levels than T
  schedule        when and where operations run, apart from what they compute
  spill           a value that finds no register and goes to memory
  stage           a rung that is a list of passes over a plan
  state           h of all layers, an LSTM's h and c: tuples of [L,B,H]
  stream          a queue of launches that run one after another
  synchronise     to wait at a barrier
  tile            the part of a matrix that one block or one loop works on
  timeline        start and end of every operation, predicted by a model
  tolerance       the largest relative error with which two results agree (compare.TOLERANCES)
  transposed      of a matrix: rows and columns exchanged
  unit            one hidden number of a layer, h[j]
"""

from importlib import import_module

__version__ = "0.1.0"

# The public names.  A learner's first line must answer at once: a module is imported when its name is used.
_HOME = {
    "check": "rnncourse.learner",  # judge the answer to an exercise
    "hint": "rnncourse.learner",  # the next hint to an exercise
    "progress": "rnncourse.learner",  # exercises solved so far
    "replay": "rnncourse.learner",  # the launch that failed in the last check, step by step
    "solution": "rnncourse.learner",  # the course's own answer beside one that has passed
    "use": "rnncourse.learner",  # take a solved exercise's function into this notebook
    "banner": "rnncourse.notebook",  # what this computer has
    "show_source": "rnncourse.notebook",  # the source of a function, with colours
    "Network": "rnnlab.network",  # sizes and parameters of a network
    "reference": "rnnlab.reference",  # module: the implementation with which all others agree
    "Inference": "rnnlab.ladder.inference",  # steps and streams without gradients
    "fastest": "rnnlab.ladder.chooser",  # the quickest way to run a network here, and why
    "RUNGS": "rnnlab.ladder",  # every implementation, slowest first
    "cuda": "pocketgpu.cuda",  # module: numba.cuda on a GPU, the simulator without one
    "compile_report": "pocketgpu.compiling.report",  # registers and spills of a kernel
}
__all__ = sorted(_HOME, key=str.lower)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'rnnlab' has no attribute {name!r}; it offers {', '.join(__all__)}")
    home = import_module(_HOME[name])
    return home if _HOME[name].endswith(f".{name}") else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
