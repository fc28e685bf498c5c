// A layer's whole sequence in clusters of blocks that reach into each other's shared memory: no block waits for
// the whole chip.  Each cluster keeps all weights and runs 8 sequences; clusters have nothing to tell each other.
//
// Forward, a warp has whole tiles of rows, all gates of its units, so nothing is summed across warps.  A team of
// one or two warps has 8 units; it pushes them into every block's next h, 16 bytes a packet (8 bytes where
// warps do not pair up), and a barrier there counts the bytes.  With BULK all warps are one team, and the copy
// engine pushes a block's 512 bytes in one packet.  Two buffers in turn are enough: nobody can push h(t+2)
// before all have pushed h(t+1), and they push it after reading h(t).
// Source blocks form up to four groups, each with a barrier: the product of a group's part of h begins when that
// part is there.  Block r pushes to r ^ 0, r ^ 1, ...: so no two blocks push to the same one at a time, and
// every block receives its own group's part first, then that of group ^ 1, and multiplies in this order.
// h lies there as a warp reads it, 16 words of each sequence together: lane after lane, without bank conflicts.
// Backward, a block has the gates' gradients of its own units, multiplies its rows of the weights with them, and
// pushes each block the partial sums that belong to its units, 16 bytes a packet: 4 bytes a unit, where an
// LSTM's gates would be 8.
//
// Defined by shapes.py: DTYPE (0 or 1), CELL, HIDDEN, CLUSTER (blocks), GROUPS (of blocks), BULK (0 or 1).
#include "../kernels/persistence/instructions.cuh"
#include "../kernels/persistence/cells.cuh"
#include "../kernels/persistence/items.cuh"
#include "../kernels/persistence/exchange.cuh"

constexpr int UNITS = HIDDEN / CLUSTER, WARPS = UNITS / TILE_UNITS, THREADS = 32 * WARPS;  // of a block
constexpr int PAIRS = HIDDEN / 32, GROUP_PAIRS = PAIRS / GROUPS;  // pairs of tiles: of h, of a group's part of it
constexpr int TEAM = BULK ? WARPS : TILE_UNITS == 4 && WARPS % 2 == 0 ? 2 : 1;  // warps that push together
constexpr int TEAM_UNITS = TEAM * TILE_UNITS, PACKET_UNITS = TEAM_UNITS == 4 ? 4 : 8;
static_assert(!BULK || UNITS == 32, "a block's part of h is one piece of shared memory");
constexpr int STATE = SEQUENCES * HIDDEN / 2;  // words of one h: [pair of tiles][8][16]
template <int UNITS> struct PacketOf { typedef uint4 Type; };
template <> struct PacketOf<4> { typedef uint2 Type; };
typedef PacketOf<PACKET_UNITS>::Type Packet;
constexpr int BACK_PAIRS = (GATES * UNITS + 31) / 32, BACK_ROW = 16 * (BACK_PAIRS | 1);
constexpr int BACK_TILES = (HIDDEN / 16 + WARPS - 1) / WARPS;  // of a warp

// Returns when the phase of `step` has ended, or, with lost set and a note of the step, a long time later.
DEVICE void wait(Barrier *barrier, int step, int *failed, bool &lost) {
  const int parity = (step - 1) / 2 & 1;
  if (!lost && !has_ended(barrier, parity))  // only who waits long reads the clock
    for (const unsigned long long start = nanoseconds(); !lost && !has_ended(barrier, parity);) {
      lost = nanoseconds() - start > MOST_WAIT;
      if (lost) atomicMax(failed, step);
    }
  __syncwarp();
}

DEVICE void begin(Barrier *barriers, int count) {
  if (threadIdx.x < count) make_barrier(barriers + threadIdx.x);
  __syncthreads();
  synchronize_cluster();  // nobody pushes before all barriers are ready
}

// The place of a unit's number in a state, and the place among a team's in its outbox.
DEVICE int place_of(int sequence, int unit) { return (unit / 32 * SEQUENCES + sequence) * 32 + unit % 32; }
DEVICE void synchronize_team() {
  if (TEAM == 1) __syncwarp();
  else synchronize_threads(1 + threadIdx.x / (32 * TEAM), 32 * TEAM);
}

// gates, h, reserve: as in persistent_grid.cu.  The grid has CLUSTER blocks for every 8 of the B sequences.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
persistent_forward(const uint4 *weights, const float *vectors, Number *gates, Number *h, float *reserve,
                   int *failed, int T, int B) {
  const int warp = of_warp(threadIdx.x / 32), lane = threadIdx.x % 32, rank = rank_in_cluster();
  Number *states = (Number *)dynamic_shared();  // [2][STATE words]
  Number *outbox = states + 4 * STATE + warp / TEAM * 2 * SEQUENCES * TEAM_UNITS;  // [team][2][8][TEAM_UNITS]
  Barrier *barriers = (Barrier *)(states + 4 * STATE + 2 * SEQUENCES * UNITS);  // [2][GROUPS]
  const size_t sequence = (size_t)blockIdx.x / CLUSTER * SEQUENCES;  // the first of this cluster's
  const int first = rank * UNITS + warp * TILE_UNITS, team_first = rank * UNITS + warp / TEAM * TEAM_UNITS;  // units
  const int own_group = rank / (CLUSTER / GROUPS);
  uint4 tile[GROUPS][2 * GROUP_PAIRS];  // in the order in which parts of h arrive
  #pragma unroll
  for (int g = 0; g < GROUPS; g++)
    #pragma unroll
    for (int k = 0; k < 2 * GROUP_PAIRS; k++)
      tile[g][k] = weights[((size_t)(rank * WARPS + warp) * 2 * PAIRS + (g ^ own_group) * 2 * GROUP_PAIRS + k) * 32 + lane];
  for (int i = threadIdx.x; i < SEQUENCES * HIDDEN; i += THREADS)
    states[place_of(i / HIDDEN, i % HIDDEN)] = h[sequence * HIDDEN + i];
  float own[ITEMS], c[ITEMS], saved[ITEMS];  // own: h of this step, not rounded
  Vectors of_unit[ITEMS];
  Number input[ITEMS][4];
  size_t at[ITEMS], gate[ITEMS];  // an item's place in [B,H], and of its first gate in [B,G·H]
  for (int i = 0; i < ITEMS; i++) {
    const size_t b = sequence + sequence_of(i, SLOTS), unit = first + unit_of(i, SLOTS);
    at[i] = b * HIDDEN + unit, gate[i] = b * GATES * HIDDEN + unit;
    own[i] = FORWARD_READS_H ? wide(h[at[i]]) : 0.f;
    c[i] = HAS_C ? reserve[RESERVED * at[i]] : 0.f;
    load_vectors(vectors, unit, of_unit[i]);
    for (int g = 0; g < GATES; g++) input[i][g] = gates[gate[i] + g * HIDDEN];
  }
  const Word words = in_register(shared_address(states)) + 16 * lane;
  begin(barriers, 2 * GROUPS);
  bool lost = false;
  for (int t = 0; t < T; t++) {
    float in[ITEMS][4], part[4][4] = {}, sums[ITEMS][4];
    for (int i = 0; i < ITEMS; i++)
      for (int g = 0; g < GATES; g++) {  // loaded a step ago, since memory may be slower than a step
        in[i][g] = wide(input[i][g]);
        if (t + 1 < T) input[i][g] = gates[(size_t)(t + 1) * B * GATES * HIDDEN + gate[i] + g * HIDDEN];
      }
    Barrier *here = barriers + t % 2 * GROUPS, *arrival = barriers + (t + 1) % 2 * GROUPS;
    if (threadIdx.x < GROUPS && t + 1 < T) announce(arrival + threadIdx.x, SEQUENCES * HIDDEN * sizeof(Number) / GROUPS);
    #pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      const int group = g ^ own_group;
      if (t > 0) wait(here + group, t, failed, lost);
      #pragma unroll
      for (int p = 0; p < GROUP_PAIRS; p++) {  // four sums, since one product must not wait for the one before
        const uint4 b = load_shared(words + 4 * (t % 2 * STATE + 128 * (group * GROUP_PAIRS + p)));
        multiply(part[2 * p % 4], tile[g][2 * p], b.x, b.y);
        multiply(part[(2 * p + 1) % 4], tile[g][2 * p + 1], b.z, b.w);
      }
    }
    for (int k = 0; k < 4; k++) part[0][k] = (part[0][k] + part[1][k]) + (part[2][k] + part[3][k]);
    sums_of_items(part[0], sums);
    Number *box = outbox + t % 2 * SEQUENCES * TEAM_UNITS;  // a late warp may still read the other
    for (int i = 0; i < ITEMS; i++) {
      own[i] = step_forward(in[i], sums[i], of_unit[i], own[i], c[i], c[i], saved[i]);
      box[sequence_of(i, SLOTS) * TEAM_UNITS + warp % TEAM * TILE_UNITS + unit_of(i, SLOTS)] = narrow(own[i]);
    }
    if (BULK) fence_for_bulk();
    synchronize_team();
    constexpr int PACKETS = SEQUENCES * TEAM_UNITS / PACKET_UNITS;  // for each block
    const int member = threadIdx.x % (32 * TEAM), b = member % SEQUENCES;
    const int unit = team_first + member % PACKETS / SEQUENCES * PACKET_UNITS;
    const Packet packet = *(const Packet *)(box + b * TEAM_UNITS + unit - team_first);
    const Number *next = states + (t + 1) % 2 * 2 * STATE;
    auto push_to = [&](int to) {
      const Remote there = in_block(arrival + own_group, to ^ rank);
      if (BULK) push_bulk(in_block(next + place_of(0, team_first), to ^ rank), box, 2 * SEQUENCES * UNITS, there);
      else push(in_block(next + place_of(b, unit), to ^ rank), packet, there);
    };
    if (!BULK && t + 1 < T)
      for (int to = member / PACKETS; to < CLUSTER; to += 32 * TEAM / PACKETS) push_to(to);
    if (BULK && t + 1 < T && lane * WARPS + warp < CLUSTER) push_to(lane * WARPS + warp);  // a warp issues one after the other
    if (member < PACKETS) *(Packet *)(h + ((size_t)(t + 1) * B + sequence + b) * HIDDEN + unit) = packet;
    for (int i = 0; i < ITEMS; i++) {
      const size_t now = (size_t)t * B * HIDDEN + at[i], next = now + (size_t)B * HIDDEN;
      if (HAS_C) reserve[RESERVED * next] = c[i];
      if (SAVES) reserve[RESERVED * now + HAS_C] = saved[i];
      for (int g = 0; g < GATES; g++)
        gates[(size_t)t * B * GATES * HIDDEN + gate[i] + g * HIDDEN] = narrow(in[i][g]);
    }
  }
  synchronize_cluster();  // nobody leaves while others still push
}

// dy, dlast, carry, dgates, dgates_h: as in persistent_grid.cu.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
persistent_backward(const uint4 *weights, const float *vectors, const Number *gates, const Number *h, const float *reserve,
                    const Number *dy, const float *dlast, float *carry, Number *dgates, Number *dgates_h, int *failed, int T, int B) {
  const int warp = of_warp(threadIdx.x / 32), lane = threadIdx.x % 32, rank = rank_in_cluster();
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
  float dc[ITEMS], past[ITEMS];
  Vectors of_unit[ITEMS], dvectors[ITEMS] = {};
  size_t at[ITEMS], gate[ITEMS];
  for (int i = 0; i < ITEMS; i++) {  // here a warp's neighbours are sequences of a unit
    const int item = threadIdx.x + i * THREADS;
    const size_t b = (size_t)blockIdx.x / CLUSTER * SEQUENCES + item % SEQUENCES, unit = rank * UNITS + item / SEQUENCES;
    at[i] = b * HIDDEN + unit, gate[i] = b * GATES * HIDDEN + unit;
    if (HAS_C) dc[i] = carry[CARRIED * at[i]];
    if (PASSES_H) past[i] = carry[CARRIED * at[i] + HAS_C];
    load_vectors(vectors, unit, of_unit[i]);
  }
  begin(barriers, 2);
  bool lost = false;
  for (int step = 0; step < T; step++) {
    const int t = T - 1 - step;
    const size_t row_size = (size_t)B * HIDDEN, now = t * row_size;
    Before before[ITEMS];
    float dgate[ITEMS][4], dgate_h[ITEMS][4];
    for (int i = 0; i < ITEMS; i++) {
      before[i] = load_before(gates, h, reserve, dy, now + at[i], now * GATES + gate[i], row_size);
      prefetch_before(gates, h, reserve, dy, now + at[i], now * GATES + gate[i], row_size);
    }
    Word *row = rows + step % 2 * SEQUENCES * BACK_ROW;  // a late warp may still read the other
    if (step > 0) wait(barriers + step % 2, step, failed, lost);
    if (threadIdx.x == 0 && step + 1 < T) announce(barriers + (step + 1) % 2, CLUSTER * UNITS * SEQUENCES * sizeof(float));
    for (int i = 0; i < ITEMS; i++) {
      const int item = threadIdx.x + i * THREADS, b = item % SEQUENCES;
      float dh = wide(before[i].dy) + (step == 0 ? dlast[at[i]] : 0.f);
      for (int from = 0; step > 0 && from < CLUSTER; from++)
        dh += arrived[(step % 2 * CLUSTER + from) * UNITS * SEQUENCES + item];
      step_backward(before[i], of_unit[i], dh, dc[i], past[i], dgate[i], dgate_h[i], dvectors[i]);
      for (int g = 0; g < GATES; g++)
        ((Number *)(row + b * BACK_ROW))[g * UNITS + item / SEQUENCES] = narrow(dgate_h[i][g]);
    }
    __syncthreads();
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
    #pragma unroll
    for (int r = 0; r < BACK_TILES; r++) {
      if (warp * BACK_TILES + r >= HIDDEN / 16 || step + 1 == T) break;
      // A lane has two sequences of two rows; neighbours swap, so that each has four sequences of one row.
      const bool odd = lane % 2;
      const float (&own)[4] = sums[r];
      const float one = from_lane(odd ? own[0] : own[2], 1), two = from_lane(odd ? own[1] : own[3], 1);
      const float four[4] = {odd ? one : own[0], odd ? two : own[1], odd ? own[2] : one, odd ? own[3] : two};
      const int unit = (warp * BACK_TILES + r) * 16 + lane / 4 + odd * 8, owner = unit / UNITS;
      const float *place = arrived + (((step + 1) % 2 * CLUSTER + rank) * UNITS + unit % UNITS) * SEQUENCES + lane % 4 / 2 * 4;
      const uint4 packet = make_uint4(__float_as_uint(four[0]), __float_as_uint(four[1]), __float_as_uint(four[2]), __float_as_uint(four[3]));
      push(in_block(place, owner), packet, in_block(barriers + (step + 1) % 2, owner));
    }
    for (int i = 0; i < ITEMS; i++)  // what no other block waits for
      for (int g = 0; g < GATES; g++) {
        dgates_h[now * GATES + gate[i] + g * HIDDEN] = narrow(dgate_h[i][g]);
        if (INNER >= 0) dgates[now * GATES + gate[i] + g * HIDDEN] = narrow(dgate[i][g]);
      }
  }
  for (int i = 0; i < ITEMS; i++) {
    if (HAS_C) carry[CARRIED * at[i]] = dc[i];
    if (PASSES_H) carry[CARRIED * at[i] + HAS_C] = past[i];
    for (int v = 0; v < OWN_VECTORS; v++) carry[CARRIED * at[i] + PASSING + v] = dvectors[i][v];
  }
  synchronize_cluster();
}
