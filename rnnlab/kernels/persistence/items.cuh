// The items of a lane, a unit of one sequence each: which of a tile are its own, their sums, what they load.
#pragma once
constexpr int SLOTS = GATES == 1 ? 1 : 4;  // rows that a unit has in a tile of 16; with fewer gates some are empty
constexpr int TILE_UNITS = 16 / SLOTS;
constexpr int ITEMS = 4 / SLOTS;  // units times sequences that a lane finishes of a tile
constexpr int SEQUENCES = 8;      // of a tile
static_assert(GATES <= 4, "a unit has up to four rows in a tile");

// Numbers a unit that one array has between the passes, and one between the steps backward: those of c come first,
// the gradients of the cell's own vectors come last.
constexpr int RESERVED = HAS_C + SAVES, PASSING = HAS_C + PASSES_H, CARRIED = PASSING + OWN_VECTORS;

struct Before {  // of one item, as loaded before the exchange: a conversion here would wait for the loads
  Number gate[4], dy, h_before, h_after;
  float c_before, c_after, saved;
};

// now: the item's place among [T,B,H]; gate: that of its first gate among [T,B,G·H]; row: B·H.
DEVICE Before load_before(const Number *gates, const Number *h, const float *reserve, const Number *dy, size_t now, size_t gate, size_t row) {
  Before item = {{}, dy[now], h[now], h[now + row]};
  for (int g = 0; g < GATES; g++) item.gate[g] = gates[gate + g * HIDDEN];
  if (HAS_C) item.c_before = reserve[RESERVED * now], item.c_after = reserve[RESERVED * (now + row)];
  if (SAVES) item.saved = reserve[RESERVED * now + HAS_C];
  return item;
}

// What the step before the one before will load: memory may be slower than an exchange, the second-level cache is not.
DEVICE void prefetch_before(const Number *gates, const Number *h, const float *reserve, const Number *dy, size_t now, size_t gate, size_t row) {
  if (now < 2 * row) return;
  prefetch(dy + now - 2 * row);
  for (int g = 0; g < GATES; g++) prefetch(gates + gate - 2 * GATES * row + g * HIDDEN);
  if (RESERVED) prefetch(reserve + RESERVED * (now - 2 * row));
  if (BACKWARD_READS_H) prefetch(h + now - 2 * row);
}

DEVICE void step_backward(const Before &at, const Vectors &vectors, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
  float gates[4];
  for (int g = 0; g < GATES; g++) gates[g] = wide(at.gate[g]);
  step_backward(gates, vectors, at.saved, wide(at.h_before), wide(at.h_after), at.c_before, at.c_after, dh, dc, past,
                dgates, dgates_h, dvectors);
}

// A unit's numbers from the arrays [V,H] of a layer.
DEVICE void load_vectors(const float *vectors, size_t unit, Vectors &own) {
  for (int v = 0; v < VECTORS; v++) own[v] = vectors[v * HIDDEN + unit];
}

// The recurrent sums of a lane's items, from its part of a tile's product.  Where a unit has four rows, lanes
// 16 apart hold two gates each, of two sequences: they swap, and each finishes one.
DEVICE void sums_of_items(const float (&part)[4], float (&sums)[ITEMS][4]) {
  if (SLOTS == 1) {
    for (int i = 0; i < ITEMS; i++) sums[i][0] = part[i];
    return;
  }
  const bool low = (threadIdx.x & 16) == 0;
  const float one = from_lane(low ? part[1] : part[0], 16), other = from_lane(low ? part[3] : part[2], 16);
  sums[0][0] = low ? part[0] : one, sums[0][1] = low ? one : part[1];
  sums[0][2] = low ? part[2] : other, sums[0][3] = low ? other : part[3];
}

// Unit and sequence, within its tile, of a lane's item; units have `slots` rows each.
DEVICE int unit_of(int item, int slots) {
  const int row = threadIdx.x % 32 / 4;
  return slots == 1 ? row + 8 * (item / 2) : row % 4;
}
DEVICE int sequence_of(int item, int slots) {
  const int lane = threadIdx.x % 32;
  return 2 * (lane % 4) + (slots == 1 ? item % 2 : lane / 16);
}
