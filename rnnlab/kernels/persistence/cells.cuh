// A cell's work for one unit of one sequence in float32; what pointwise.py says in Python.
// CELL: 0 rnn_tanh, 1 rnn_relu, 2 lstm, 3 gru (reset after).  Gates: LSTM i f n o, GRU r z n.
#pragma once
constexpr bool LSTM = CELL == 2, GRU = CELL == 3;
constexpr int GATES = LSTM ? 4 : GRU ? 3 : 1;
constexpr int SLOTS = GATES == 1 ? 1 : 4;  // rows that a unit has in a tile of 16; a GRU leaves one empty
constexpr int TILE_UNITS = 16 / SLOTS;
constexpr int ITEMS = 4 / SLOTS;  // units times sequences that a lane finishes of a tile
constexpr int SEQUENCES = 8;      // of a tile

DEVICE float sigmoid(float x) { return 0.5f * fast_tanh(0.5f * x) + 0.5f; }

// in: the products with the inputs, with biases, left holding the gates; sums: the recurrent products.
// state: c of an LSTM, h of a GRU; kept: what backward needs beside the gates.  Gives h.
DEVICE float step_forward(float (&in)[4], const float (&sums)[4], float inner_bias, float &state, float &kept) {
  if (LSTM) {
    for (int g = 0; g < 4; g++) in[g] = g == 2 ? fast_tanh(in[g] + sums[g]) : sigmoid(in[g] + sums[g]);
    kept = state = in[1] * state + in[0] * in[2];
    return in[3] * fast_tanh(state);
  }
  if (GRU) {
    in[0] = sigmoid(in[0] + sums[0]), in[1] = sigmoid(in[1] + sums[1]);
    kept = sums[2] + inner_bias;
    in[2] = fast_tanh(in[2] + in[0] * kept);
    return state = (1 - in[1]) * in[2] + in[1] * state;
  }
  return CELL == 0 ? fast_tanh(in[0] + sums[0]) : fmaxf(in[0] + sums[0], 0.f);
}

struct Before {  // of one item, as loaded before the exchange: a conversion here would wait for the loads
  Number gate[4], dy, h_before, h_after;
  float kept, kept_before;
};

// now: the item's place among [T,B,H]; gate: that of its first gate among [T,B,G·H]; row: B·H.
DEVICE Before load_before(const Number *gates, const Number *h, const float *kept, const Number *dy, size_t now, size_t gate, size_t row) {
  Before item = {{}, dy[now], h[now], h[now + row]};
  for (int g = 0; g < GATES; g++) item.gate[g] = gates[gate + g * HIDDEN];
  if (LSTM || GRU) item.kept = kept[LSTM ? now + row : now], item.kept_before = kept[now];
  return item;
}

// What the step before the one before will load: memory may be slower than an exchange, the second-level cache is not.
DEVICE void prefetch_before(const Number *gates, const Number *h, const float *kept, const Number *dy, size_t now, size_t gate, size_t row) {
  if (now < 2 * row) return;
  prefetch(dy + now - 2 * row);
  for (int g = 0; g < GATES; g++) prefetch(gates + gate - 2 * GATES * row + g * HIDDEN);
  if (LSTM || GRU) prefetch(kept + now - 2 * row);
  if (!LSTM) prefetch(h + now - 2 * row);
}

// dh: all that reaches h after the step.  carry: dc of an LSTM; of a GRU dh·z, which goes past the product.
// Gives the gradients of the gates' sums: of their part from the inputs (dgate) and from h (dgate_h).
DEVICE void step_backward(const Before &at, float dh, float &carry, float (&dgate)[4], float (&dgate_h)[4]) {
  float gate[GATES];
  for (int g = 0; g < GATES; g++) gate[g] = wide(at.gate[g]);
  if (LSTM) {
    const float tanh_c = fast_tanh(at.kept), dc = carry + dh * gate[3] * (1 - tanh_c * tanh_c);
    dgate[0] = dc * gate[2] * gate[0] * (1 - gate[0]);
    dgate[1] = dc * at.kept_before * gate[1] * (1 - gate[1]);
    dgate[2] = dc * gate[0] * (1 - gate[2] * gate[2]);
    dgate[3] = dh * tanh_c * gate[3] * (1 - gate[3]);
    carry = dc * gate[1];
  } else if (GRU) {
    dh += carry;
    dgate[2] = dh * (1 - gate[1]) * (1 - gate[2] * gate[2]);
    dgate[1] = dh * (wide(at.h_before) - gate[2]) * gate[1] * (1 - gate[1]);
    dgate[0] = dgate[2] * at.kept * gate[0] * (1 - gate[0]);
    carry = dh * gate[1];
  } else {
    const float h = wide(at.h_after);
    dgate[0] = CELL == 0 ? dh * (1 - h * h) : h > 0 ? dh : 0.f;
  }
  for (int g = 0; g < GATES; g++) dgate_h[g] = GRU && g == 2 ? dgate[2] * gate[0] : dgate[g];
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
