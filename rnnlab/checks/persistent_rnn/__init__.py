"""Checks of unit 14: what fits on a chip, who keeps which weight, a barrier of flags, a kernel that stays."""

from rnnlab.checks.persistent_rnn.activation_memory import ACTIVATION_MEMORY
from rnnlab.checks.persistent_rnn.fits_on_chip import FITS_ON_CHIP
from rnnlab.checks.persistent_rnn.flag_barrier import FLAG_BARRIER
from rnnlab.checks.persistent_rnn.persistent_rnn_kernel import PERSISTENT_RNN_KERNEL
from rnnlab.checks.persistent_rnn.tile_for_thread import TILE_FOR_THREAD

EXERCISES = (FITS_ON_CHIP, TILE_FOR_THREAD, FLAG_BARRIER, PERSISTENT_RNN_KERNEL, ACTIVATION_MEMORY)
