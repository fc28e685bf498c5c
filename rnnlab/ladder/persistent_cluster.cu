// A layer's whole sequence in clusters of blocks that reach into each other's shared memory: no block waits for
// the whole chip.  Each cluster keeps all weights and runs 8 sequences; clusters have nothing to tell each other.
//
// Forward, a warp has whole tiles of rows, all gates of its units, so nothing is summed across warps.  What it
// makes of h it pushes into every block's next row of h; a barrier there counts the bytes.  Two rows in turn are
// enough: nobody can push h(t+2) before all have pushed h(t+1), and they push it after reading h(t).
// Backward, a block has the gates' gradients of its own units, multiplies its rows of the weights with them, and
// pushes each block the partial sums that belong to its units: 4 bytes a unit, where an LSTM's gates would be 8.
//
// Defined by shapes.py: NUMBER (0 or 1), CELL, HIDDEN, CLUSTER (blocks).
#include "persistence/instructions.cuh"
#include "persistence/cells.cuh"

#ifndef MOST_LOOKS
#define MOST_LOOKS (1 << 20)  // far longer than a step; then something is wrong
#endif
constexpr int UNITS = HIDDEN / CLUSTER, WARPS = UNITS / TILE_UNITS, THREADS = 32 * WARPS;  // of a block
constexpr int PAIRS = HIDDEN / 32, ROW = HIDDEN / 2 + 16;  // words; 16 more, so that 8 rows lie in 32 banks
constexpr int BACK_PAIRS = (GATES * UNITS + 31) / 32, BACK_ROW = 16 * (BACK_PAIRS | 1);
constexpr int BACK_TILES = (HIDDEN / 16 + WARPS - 1) / WARPS;  // of a warp

// The phase has ended; false, and a note of the step, if it has not in a long time.
DEVICE bool wait(Barrier *barrier, int step, int *failed) {
  for (int looks = 0; looks < MOST_LOOKS; looks++)
    if (has_ended(barrier, (step - 1) / 2 & 1)) return true;
  atomicMax(failed, step);
  return false;
}

DEVICE void begin(Barrier *barriers) {
  if (threadIdx.x < 2) make_barrier(barriers + threadIdx.x);
  __syncthreads();
  meet_cluster();  // nobody pushes before all barriers are there
}

// gates, h, kept: as in persistent_grid.cu.  The grid has CLUSTER blocks for every 8 of the B sequences.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
persistent_forward(const uint4 *weights, const float *inner_bias, Number *gates, Number *h, float *kept,
                   int *failed, int T, int B) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = rank_in_cluster();
  Word *rows = (Word *)dynamic_shared();                                      // [2][8][ROW]
  Number *mine = (Number *)(rows + 2 * SEQUENCES * ROW) + warp * 8 * TILE_UNITS;  // [warp][8][TILE_UNITS]
  Barrier *barriers = (Barrier *)(rows + 2 * SEQUENCES * ROW + WARPS * 4 * TILE_UNITS);
  const size_t sequence = (size_t)blockIdx.x / CLUSTER * SEQUENCES;  // the first of this cluster's
  const int first = rank * UNITS + warp * TILE_UNITS;                // unit of this warp
  uint4 tile[2 * PAIRS];
  #pragma unroll
  for (int k = 0; k < 2 * PAIRS; k++) tile[k] = weights[((size_t)(rank * WARPS + warp) * 2 * PAIRS + k) * 32 + lane];
  for (int i = threadIdx.x; i < SEQUENCES * HIDDEN / 2; i += THREADS)
    rows[i / (HIDDEN / 2) * ROW + i % (HIDDEN / 2)] = ((const Word *)(h + sequence * HIDDEN))[i];
  float state[ITEMS], keep, inner[ITEMS];
  size_t at[ITEMS], gate[ITEMS];  // an item's place in [B,H], and of its first gate in [B,G·H]
  for (int i = 0; i < ITEMS; i++) {
    const size_t b = sequence + sequence_of(i, SLOTS), unit = first + unit_of(i, SLOTS);
    at[i] = b * HIDDEN + unit, gate[i] = b * GATES * HIDDEN + unit;
    state[i] = LSTM ? kept[at[i]] : wide(h[at[i]]);
    inner[i] = GRU ? inner_bias[unit] : 0.f;
  }
  begin(barriers);
  bool lost = false;
  for (int t = 0; t < T; t++) {
    float in[ITEMS][4], part[4][4] = {}, sums[ITEMS][4];
    for (int i = 0; i < ITEMS; i++)
      for (int g = 0; g < GATES; g++) in[i][g] = wide(gates[(size_t)t * B * GATES * HIDDEN + gate[i] + g * HIDDEN]);
    if (t > 0) lost = lost || !wait(barriers + t % 2, t, failed);
    if (threadIdx.x == 0 && t + 1 < T) announce(barriers + (t + 1) % 2, SEQUENCES * HIDDEN * sizeof(Number));
    const uint4 *words = (const uint4 *)(rows + (t % 2 * SEQUENCES + lane / 4) * ROW) + lane % 4;
    #pragma unroll
    for (int p = 0; p < PAIRS; p++) {  // four sums, since one product must not wait for the one before
      const uint4 b = words[4 * p];
      multiply(part[2 * p % 4], tile[2 * p], b.x, b.y);
      multiply(part[(2 * p + 1) % 4], tile[2 * p + 1], b.z, b.w);
    }
    for (int k = 0; k < 4; k++) part[0][k] = (part[0][k] + part[1][k]) + (part[2][k] + part[3][k]);
    sums_of_items(part[0], sums);
    for (int i = 0; i < ITEMS; i++) {
      const float out = step_forward(in[i], sums[i], inner[i], state[i], keep);
      mine[sequence_of(i, SLOTS) * TILE_UNITS + unit_of(i, SLOTS)] = narrow(out);
      if (LSTM || GRU) kept[(size_t)(t + LSTM) * B * HIDDEN + at[i]] = keep;
    }
    __syncwarp();
    constexpr int PIECES = 2 * TILE_UNITS;  // of 8 bytes; the first go to the history, then each block's
    for (int k = lane; k < PIECES * (t + 1 < T ? CLUSTER + 1 : 1); k += 32) {
      const int b = k % PIECES / (TILE_UNITS / 4), unit = 4 * (k % (TILE_UNITS / 4));
      const uint2 piece = *(const uint2 *)(mine + b * TILE_UNITS + unit);
      if (k < PIECES) *(uint2 *)(h + ((size_t)(t + 1) * B + sequence + b) * HIDDEN + first + unit) = piece;
      else {
        const Word *next = rows + ((t + 1) % 2 * SEQUENCES + b) * ROW + (first + unit) / 2;
        push(in_block(next, k / PIECES - 1), piece, in_block(barriers + (t + 1) % 2, k / PIECES - 1));
      }
    }
    for (int i = 0; i < ITEMS; i++)
      for (int g = 0; g < GATES; g++)
        gates[(size_t)t * B * GATES * HIDDEN + gate[i] + g * HIDDEN] = narrow(in[i][g]);
  }
  meet_cluster();  // nobody leaves while others still push
}

// dy, dlast, carry, dgates, sent: as in persistent_grid.cu.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
persistent_backward(const uint4 *weights, const Number *gates, const Number *h, const float *kept, const Number *dy,
                    const float *dlast, float *carry, Number *dgates, Number *sent, int *failed, int T, int B) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = rank_in_cluster();
  float *arrived = (float *)dynamic_shared();                        // [2][rank][UNITS][8]
  Word *rows = (Word *)(arrived + 2 * CLUSTER * UNITS * SEQUENCES);  // [2][8][BACK_ROW], the gates' gradients
  Barrier *barriers = (Barrier *)(rows + 2 * SEQUENCES * BACK_ROW);
  uint4 tile[BACK_TILES][2 * BACK_PAIRS];
  #pragma unroll
  for (int r = 0; r < BACK_TILES; r++)
    #pragma unroll
    for (int k = 0; k < 2 * BACK_PAIRS; k++) {
      const int number = warp * BACK_TILES + r;
      tile[r][k] = make_uint4(0, 0, 0, 0);
      if (number < HIDDEN / 16) tile[r][k] = weights[((size_t)(rank * (HIDDEN / 16) + number) * 2 * BACK_PAIRS + k) * 32 + lane];
    }
  for (int i = threadIdx.x; i < 2 * SEQUENCES * BACK_ROW; i += THREADS) rows[i] = 0;
  float dstate[ITEMS];
  size_t at[ITEMS], gate[ITEMS];
  for (int i = 0; i < ITEMS; i++) {  // here a warp's neighbours are sequences of a unit
    const int item = threadIdx.x + i * THREADS;
    const size_t b = (size_t)blockIdx.x / CLUSTER * SEQUENCES + item % SEQUENCES, unit = rank * UNITS + item / SEQUENCES;
    at[i] = b * HIDDEN + unit, gate[i] = b * GATES * HIDDEN + unit;
    dstate[i] = carry[at[i]];
  }
  begin(barriers);
  bool lost = false;
  for (int step = 0; step < T; step++) {
    const int t = T - 1 - step;
    const size_t now = (size_t)t * B * HIDDEN, next = now + (size_t)B * HIDDEN;
    Before before[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
      before[i] = {{}, wide(dy[now + at[i]]), wide(h[now + at[i]]), wide(h[next + at[i]])};
      for (int g = 0; g < GATES; g++) before[i].gate[g] = wide(gates[now * GATES + gate[i] + g * HIDDEN]);
      if (LSTM || GRU) before[i].kept = kept[(LSTM ? next : now) + at[i]], before[i].kept_before = kept[now + at[i]];
    }
    Word *row = rows + step % 2 * SEQUENCES * BACK_ROW;  // a late warp may still read the other
    if (step > 0) lost = lost || !wait(barriers + step % 2, step, failed);
    if (threadIdx.x == 0 && step + 1 < T) announce(barriers + (step + 1) % 2, CLUSTER * UNITS * SEQUENCES * sizeof(float));
    for (int i = 0; i < ITEMS; i++) {
      const int item = threadIdx.x + i * THREADS, b = item % SEQUENCES;
      float dh = before[i].dy + (step == 0 ? dlast[at[i]] : 0.f), dgate[4], on[4];
      for (int from = 0; step > 0 && from < CLUSTER; from++)
        dh += arrived[(step % 2 * CLUSTER + from) * UNITS * SEQUENCES + item];
      step_backward(before[i], dh, dstate[i], dgate, on);
      for (int g = 0; g < GATES; g++) {
        dgates[now * GATES + gate[i] + g * HIDDEN] = narrow(dgate[g]);
        sent[now * GATES + gate[i] + g * HIDDEN] = narrow(on[g]);
        ((Number *)(row + b * BACK_ROW))[g * UNITS + item / SEQUENCES] = narrow(on[g]);
      }
    }
    __syncthreads();
    if (step + 1 == T) break;
    float sums[BACK_TILES][4] = {};
    const uint4 *words = (const uint4 *)(row + lane / 4 * BACK_ROW) + lane % 4;
    #pragma unroll
    for (int p = 0; p < BACK_PAIRS; p++) {
      const uint4 b = words[4 * p];
      #pragma unroll
      for (int r = 0; r < BACK_TILES; r++) {
        multiply(sums[r], tile[r][2 * p], b.x, b.y);
        multiply(sums[r], tile[r][2 * p + 1], b.z, b.w);
      }
    }
    for (int k = 0; k < 2 * BACK_TILES; k++) {  // a lane has rows lane/4 and 8 more, of two sequences
      const int unit = (warp * BACK_TILES + k / 2) * 16 + lane / 4 + k % 2 * 8, owner = unit / UNITS;
      if (unit >= HIDDEN) break;
      float *there = arrived + (((step + 1) % 2 * CLUSTER + rank) * UNITS + unit % UNITS) * SEQUENCES + lane % 4 * 2;
      const uint2 pair = make_uint2(__float_as_uint(sums[k / 2][k % 2 * 2]), __float_as_uint(sums[k / 2][k % 2 * 2 + 1]));
      push(in_block(there, owner), pair, in_block(barriers + (step + 1) % 2, owner));
    }
  }
  for (int i = 0; i < ITEMS; i++) carry[at[i]] = dstate[i];
  meet_cluster();
}
