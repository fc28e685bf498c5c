// A cell's work for one unit of one sequence in float32, and what kernels must know of the cell.
// Derived from rnnlab.graphs.cells by rnnlab.emit.cuda_cells: change it there, then `make course`.
//
// CELL is its number in rnnlab/kernels/cells.py, which explains GATES to OWN_VECTORS.  FORWARD_READS_H and
// BACKWARD_READS_H say whether a step reads h, before it or after it.
// step_forward: gates come in holding the products with the inputs, with biases, and are left holding the
// gates; sums are the recurrent products, vectors the unit's numbers beside the biases.  Gives the next h.
// a_r is the sum that gate r is a function of, da_r its gradient.
// step_backward: dh is what reaches h after the step but for past, which goes past the products; dc and past
// are left as those before the step.  dgates and dgates_h get the gradients of the gates' sums: of their part
// from the inputs, and from h.  dvectors are added to: the gradients of the cell's own vectors.
#pragma once
DEVICE float sigmoid(float x) { return 0.5f * fast_tanh(0.5f * x) + 0.5f; }
#if CELL == 0  // rnn_tanh: gates h
constexpr int GATES = 1, INNER = -1, VECTORS = 0, OWN_VECTORS = 0;
typedef float Vectors[VECTORS + 1];
constexpr bool HAS_C = false, SAVES = false, PASSES_H = false, FORWARD_READS_H = false, BACKWARD_READS_H = true;
DEVICE float step_forward(float (&gates)[4], const float (&sums)[4], const Vectors &vectors, float h, float c,
                          float &c_next, float &saved) {
  return fast_tanh(gates[0] + sums[0]);
}
DEVICE void step_backward(const float (&gates)[4], const Vectors &vectors, float saved, float h, float h_next,
                          float c, float c_next, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
  const float h_next_j = h_next;
  dgates[0] = dh * (1 - h_next_j * h_next_j);
  for (int g = 0; g < 1; g++) dgates_h[g] = dgates[g];
}
#elif CELL == 1  // rnn_relu: gates h
constexpr int GATES = 1, INNER = -1, VECTORS = 0, OWN_VECTORS = 0;
typedef float Vectors[VECTORS + 1];
constexpr bool HAS_C = false, SAVES = false, PASSES_H = false, FORWARD_READS_H = false, BACKWARD_READS_H = true;
DEVICE float step_forward(float (&gates)[4], const float (&sums)[4], const Vectors &vectors, float h, float c,
                          float &c_next, float &saved) {
  return fmaxf(gates[0] + sums[0], 0.f);
}
DEVICE void step_backward(const float (&gates)[4], const Vectors &vectors, float saved, float h, float h_next,
                          float c, float c_next, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
  dgates[0] = h_next > 0 ? dh : 0.f;
  for (int g = 0; g < 1; g++) dgates_h[g] = dgates[g];
}
#elif CELL == 2  // gru: gates r z n
constexpr int GATES = 3, INNER = 2, VECTORS = 1, OWN_VECTORS = 0;
typedef float Vectors[VECTORS + 1];
constexpr bool HAS_C = false, SAVES = true, PASSES_H = true, FORWARD_READS_H = true, BACKWARD_READS_H = true;
DEVICE float step_forward(float (&gates)[4], const float (&sums)[4], const Vectors &vectors, float h, float c,
                          float &c_next, float &saved) {
  const float a_r = gates[0] + sums[0];
  const float r = sigmoid(a_r);
  const float a_z = gates[1] + sums[1];
  const float z = sigmoid(a_z);
  const float inner = sums[2] + vectors[0];
  const float a_n = gates[2] + r * inner;
  const float n = fast_tanh(a_n);
  saved = inner;
  gates[0] = r;
  gates[1] = z;
  gates[2] = n;
  return (1 - z) * n + z * h;
}
DEVICE void step_backward(const float (&gates)[4], const Vectors &vectors, float saved, float h, float h_next,
                          float c, float c_next, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
  dh += past;
  const float z = gates[1];
  const float n = gates[2];
  const float da_n = dh * (1 - z) * (1 - n * n);
  const float r = gates[0];
  const float da_r = da_n * saved * r * (1 - r);
  const float da_z = dh * (h - n) * z * (1 - z);
  dgates[0] = da_r;
  dgates[1] = da_z;
  dgates[2] = da_n;
  dgates_h[0] = da_r;
  dgates_h[1] = da_z;
  dgates_h[2] = da_n * r;
  past = dh * z;
}
#elif CELL == 3  // lstm: gates i f g o
constexpr int GATES = 4, INNER = -1, VECTORS = 0, OWN_VECTORS = 0;
typedef float Vectors[VECTORS + 1];
constexpr bool HAS_C = true, SAVES = false, PASSES_H = false, FORWARD_READS_H = false, BACKWARD_READS_H = false;
DEVICE float step_forward(float (&gates)[4], const float (&sums)[4], const Vectors &vectors, float h, float c,
                          float &c_next, float &saved) {
  const float a_i = gates[0] + sums[0];
  const float i = sigmoid(a_i);
  const float a_f = gates[1] + sums[1];
  const float f = sigmoid(a_f);
  const float a_g = gates[2] + sums[2];
  const float g = fast_tanh(a_g);
  const float a_o = gates[3] + sums[3];
  const float o = sigmoid(a_o);
  const float next_c = f * c + i * g;
  c_next = next_c;
  gates[0] = i;
  gates[1] = f;
  gates[2] = g;
  gates[3] = o;
  return o * fast_tanh(next_c);
}
DEVICE void step_backward(const float (&gates)[4], const Vectors &vectors, float saved, float h, float h_next,
                          float c, float c_next, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
  const float o = gates[3];
  const float tanh_c = fast_tanh(c_next);
  const float dc_total = dc + dh * o * (1 - tanh_c * tanh_c);
  const float g = gates[2];
  const float i = gates[0];
  const float f = gates[1];
  const float da_i = dc_total * g * i * (1 - i);
  dgates[0] = da_i;
  const float da_f = dc_total * c * f * (1 - f);
  dgates[1] = da_f;
  const float da_g = dc_total * i * (1 - g * g);
  dgates[2] = da_g;
  const float da_o = dh * tanh_c * o * (1 - o);
  dgates[3] = da_o;
  dc = dc_total * f;
  for (int g = 0; g < 4; g++) dgates_h[g] = dgates[g];
}
#endif
