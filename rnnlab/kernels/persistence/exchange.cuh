// How blocks of the whole chip exchange numbers: a reader polls the numbers themselves until they are written.
//
// The host fills the memory with UNWRITTEN before the launch.  Every place is written once, a word of 32 bits
// by one store of one thread.  A reader takes nothing from a word but its value, so relaxed order suffices:
// no fence, no flag, no second trip to the cache.  PTX promises a whole word, but not that the four words of a
// vector arrive together; therefore each word is tested.
//
// UNWRITTEN is one of many NaNs.  A published number is never that one, so a NaN in the network travels as
// every number does, and nobody waits for it in vain.
#pragma once
#ifndef MOST_WAIT
#define MOST_WAIT 50000000  // nanoseconds: 10,000 steps and more than a few time slices of other processes
#endif
constexpr Word UNWRITTEN = 0xFFFFFFFF;
constexpr int LOOKS = 256;  // between two readings of the clock, a slow one

DEVICE bool is_unwritten(const uint4 &v) {
  return max(max(v.x, v.y), max(v.z, v.w)) == UNWRITTEN;
}

// Stores a number for every block's reader.  Of 16 bits, lanes 4 apart hold
// neighbouring units of one sequence: they share a word, and the lane of the
// even unit stores it.
DEVICE void publish(Number *to, float value) {
#if DTYPE == 2
  store_relaxed((Word *)to, min(__float_as_uint(value), UNWRITTEN - 1));
#else
  const Word word = min((Word)narrow(value), (UNWRITTEN >> 16) - 1);
  const Word neighbour = from_lane(word, 4);
  if ((threadIdx.x & 4) == 0) store_relaxed((Word *)to, word | neighbour << 16);
#endif
}

// The clock of one wait.
struct Watch {
  unsigned looks = 0;
  unsigned long long start = 0;

  DEVICE bool is_over() {
    if (++looks % LOOKS) return false;
    const unsigned long long now = nanoseconds();
    if (looks == LOOKS) start = now;
    return now - start > MOST_WAIT;
  }
};
