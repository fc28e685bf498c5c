// A layer's whole sequence on the whole chip: each block keeps its units' weights as the tensor cores want them.
//
// A block has rows of the matrix: its units' gates forward, its units' columns of it backward.  Its warps share
// out the sum over the other dimension, so each reads its own part of h (or of the gates' gradients) straight
// from the second-level cache; their partial sums meet in shared memory, always in the same order.  Between
// steps blocks meet at flags, one a block, as in kernels.py.
//
// Defined by shapes.py: NUMBER, CELL, HIDDEN, WARPS, FORWARD_UNITS and BACKWARD_UNITS of a block, FORWARD_AWAY
// and BACKWARD_AWAY (pairs of a warp's weight tiles that lie in shared memory), CHUNK (tiles of sequences at once).
#include "persistence/instructions.cuh"
#include "persistence/cells.cuh"

#ifndef MOST_LOOKS
#define MOST_LOOKS (1 << 24)  // far longer than a step; then something is wrong
#endif
constexpr int THREADS = 32 * WARPS;
constexpr int A_ROW = sizeof(Number) * HIDDEN / 64;  // pairs of tiles (64 bytes) in HIDDEN numbers

// All blocks have come to `step`, and what they wrote before is visible; true if one has not in a long time.
DEVICE bool meet(int *flags, int *failed, int step) {
  __syncthreads();
  if (threadIdx.x == 0) store_release(flags + blockIdx.x, step);
  bool late = false;  // who else is late for it finds out by itself: all asking `failed` would take a step's time
  for (int block = threadIdx.x; block < gridDim.x; block += THREADS) {
    int looks = 0;
    while (load_acquire(flags + block) < step && looks < MOST_LOOKS) looks++;
    late |= looks == MOST_LOOKS;
  }
  if (late) atomicMax(failed, step);
  return __syncthreads_or(late);
}

// A warp's weights: ROWS tiles of 16 rows, PAIRS pairs of tiles of each, AWAY of them in shared memory.
template <int ROWS, int PAIRS, int AWAY> struct Slice {
  static constexpr int NEAR = PAIRS - AWAY, AT_ONCE = PAIRS < 8 ? PAIRS : 8;
  uint4 near[ROWS][2 * NEAR], *away;

  DEVICE void load(const uint4 *packed, uint4 *room) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    away = room + warp * ROWS * 2 * AWAY * 32 + lane;
    #pragma unroll
    for (int r = 0; r < ROWS; r++)
      #pragma unroll
      for (int k = 0; k < 2 * PAIRS; k++) {
        const uint4 tile = packed[(((size_t)blockIdx.x * ROWS + r) * WARPS + warp) * 2 * PAIRS * 32 + k * 32 + lane];
        if (k < 2 * NEAR) near[r][k] = tile;
        else away[(r * 2 * AWAY + k - 2 * NEAR) * 32] = tile;
      }
  }

  // sums += weights · the lane's row of numbers, of which this warp has its part.
  DEVICE void product(float (&sums)[ROWS][4], const Number *row) const {
    const uint4 *words = (const uint4 *)row + threadIdx.x / 32 * PAIRS * 4 + threadIdx.x % 4;
    #pragma unroll
    for (int first = 0; first < PAIRS; first += AT_ONCE) {
      uint4 b[AT_ONCE];
      #pragma unroll
      for (int p = 0; p < AT_ONCE; p++)
        if (first + p < PAIRS) b[p] = load_l2(words + 4 * (first + p));
      #pragma unroll
      for (int p = 0; p < AT_ONCE; p++)
        #pragma unroll
        for (int r = 0; r < ROWS; r++)
          if (first + p < PAIRS) {
            multiply(sums[r], tile(r, 2 * (first + p)), b[p].x, b[p].y);
            multiply(sums[r], tile(r, 2 * (first + p) + 1), b[p].z, b[p].w);
          }
    }
  }

  DEVICE uint4 tile(int r, int k) const { return k < 2 * NEAR ? near[r][k] : away[(r * 2 * AWAY + k - 2 * NEAR) * 32]; }
};

// Tile `tile` of a chunk: every warp's part of its sums, kept; and added up.
DEVICE void keep_part(float4 *parts, int tile, const float (&sum)[4]) {
  parts[(tile * WARPS + threadIdx.x / 32) * 32 + threadIdx.x % 32] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
DEVICE void add_parts(const float4 *parts, int tile, float (&total)[4]) {
  total[0] = total[1] = total[2] = total[3] = 0;
  #pragma unroll
  for (int w = 0; w < WARPS; w++) {
    const float4 part = parts[(tile * WARPS + w) * 32 + threadIdx.x % 32];
    total[0] += part.x, total[1] += part.y, total[2] += part.z, total[3] += part.w;
  }
}

// gates [T,B,G·H]: the products with the inputs and the biases; left holding the gates.  h [T+1,B,H] and an
// LSTM's kept [T+1,B,H] have their first step; a GRU's kept is [T,B,H].  B is a multiple of 8.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
persistent_forward(const uint4 *weights, const float *inner_bias, Number *gates, Number *h, float *kept,
                   int *flags, int *failed, int T, int B) {
  constexpr int ROWS = FORWARD_UNITS / TILE_UNITS;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = B / SEQUENCES;
  float4 *parts = (float4 *)dynamic_shared();
  Slice<ROWS, A_ROW / WARPS, FORWARD_AWAY> slice;
  slice.load(weights, (uint4 *)(parts + CHUNK * ROWS * THREADS));
  for (int t = 0; t < T; t++)
    for (int first = 0; first < tiles; first += CHUNK) {
      const int here = min(CHUNK, tiles - first);
      float in[ITEMS][4], state[ITEMS], keep;
      // of tile q of the chunk, item i: its place among [B,H], and the place of its first gate
      auto place = [&](int q, int i) {
        const int unit = blockIdx.x * FORWARD_UNITS + q % ROWS * TILE_UNITS + unit_of(i, SLOTS);
        return (size_t)(first + q / ROWS) * SEQUENCES * HIDDEN + sequence_of(i, SLOTS) * HIDDEN + unit;
      };
      auto gate = [&](size_t at) { return gates + (size_t)t * B * GATES * HIDDEN + at / HIDDEN * GATES * HIDDEN + at % HIDDEN; };
      auto load = [&](int q) {
        for (int i = 0; i < ITEMS; i++) {
          const size_t at = place(q, i), now = (size_t)t * B * HIDDEN + at;
          for (int g = 0; g < GATES; g++) in[i][g] = wide(gate(at)[g * HIDDEN]);
          state[i] = LSTM ? kept[now] : wide(h[now]);
        }
      };
      if (warp < ROWS * here) load(warp);  // none of it waits for other blocks
      if (first == 0 && t > 0 && meet(flags, failed, t)) return;
      for (int n = 0; n < here; n++) {
        float sums[ROWS][4] = {};
        slice.product(sums, h + ((size_t)t * B + (first + n) * SEQUENCES + lane / 4) * HIDDEN);
        for (int r = 0; r < ROWS; r++) keep_part(parts, n * ROWS + r, sums[r]);
      }
      __syncthreads();
      for (int q = warp; q < ROWS * here; q += WARPS) {
        float total[4], sums[ITEMS][4];
        if (q != warp) load(q);
        add_parts(parts, q, total);
        sums_of_items(total, sums);
        for (int i = 0; i < ITEMS; i++) {
          const size_t at = place(q, i), now = (size_t)t * B * HIDDEN + at, next = now + (size_t)B * HIDDEN;
          h[next] = narrow(step_forward(in[i], sums[i], GRU ? inner_bias[at % HIDDEN] : 0.f, state[i], keep));
          if (LSTM || GRU) kept[LSTM ? next : now] = keep;
          for (int g = 0; g < GATES; g++) gate(at)[g * HIDDEN] = narrow(in[i][g]);
        }
      }
      if (first + CHUNK < tiles) __syncthreads();
    }
}

// dy [T,B,H], dlast [B,H]: gradients of every h and of the last beside; carry [B,H]: an LSTM's dc, a GRU's 0,
// left for what comes before the first step.  dgates and sent [T,B,G·H]: see step_backward; one array but in a GRU.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
persistent_backward(const uint4 *weights, const Number *gates, const Number *h, const float *kept, const Number *dy,
                    const float *dlast, float *carry, Number *dgates, Number *sent, int *flags, int *failed, int T, int B) {
  constexpr int ROWS = BACKWARD_UNITS / 16;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = B / SEQUENCES;
  float4 *parts = (float4 *)dynamic_shared();
  Slice<ROWS, GATES * A_ROW / WARPS, BACKWARD_AWAY> slice;
  slice.load(weights, (uint4 *)(parts + CHUNK * ROWS * THREADS));
  for (int t = T - 1; t >= 0; t--)
    for (int first = 0; first < tiles; first += CHUNK) {
      const int here = min(CHUNK, tiles - first);
      if (first == 0 && t + 1 < T && meet(flags, failed, T - 1 - t)) return;
      for (int n = 0; n < here; n++) {
        float sums[ROWS][4] = {};
        const size_t row = (size_t)(t + 1) * B + (first + n) * SEQUENCES + lane / 4;
        if (t + 1 < T) slice.product(sums, sent + row * GATES * HIDDEN);
        for (int r = 0; r < ROWS; r++) keep_part(parts, n * ROWS + r, sums[r]);
      }
      __syncthreads();
      for (int q = warp; q < ROWS * here; q += WARPS) {
        float total[4], dgate[4], on[4];
        add_parts(parts, q, total);
        for (int i = 0; i < 4; i++) {
          const int unit = blockIdx.x * BACKWARD_UNITS + q % ROWS * 16 + unit_of(i, 1);
          const size_t b = (first + q / ROWS) * SEQUENCES + sequence_of(i, 1), at = b * HIDDEN + unit;
          const size_t now = (size_t)t * B * HIDDEN + at, next = now + (size_t)B * HIDDEN;
          const size_t gate = ((size_t)t * B + b) * GATES * HIDDEN + unit;
          Before before = {{}, wide(dy[now]), wide(h[now]), wide(h[next])};
          for (int g = 0; g < GATES; g++) before.gate[g] = wide(gates[gate + g * HIDDEN]);
          if (LSTM || GRU) before.kept = kept[LSTM ? next : now], before.kept_before = kept[now];
          step_backward(before, total[i] + before.dy + (t + 1 == T ? dlast[at] : 0.f), carry[at], dgate, on);
          for (int g = 0; g < GATES; g++) {
            dgates[gate + g * HIDDEN] = narrow(dgate[g]);
            sent[gate + g * HIDDEN] = narrow(on[g]);
          }
        }
      }
      if (first + CHUNK < tiles) __syncthreads();
    }
}
