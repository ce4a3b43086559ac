#include "replay/compute/operators/operator_rules.h"

#include <algorithm>
#include <cstdint>

namespace chakra::operator_rules {

// GEMMs of (m x k) and (k x n) matrices, `batch` times: 2 m n k operations each. The result is written;
// `read` bytes are read.
static Work Product(const Call& call, size_t a, double batch, double m, double n, double k, double read) {
  const double out = batch * m * n;
  return OperatorWork{2 * out * k, read + out * call.ElementBytes(a)};
}

// A GEMM of the matrices at `a` and a + 1. Their leading dimensions are a batch and must be equal.
static Work Matrices(const Call& call, size_t a, size_t rank) {
  const Shape *x = call.Tensor(a, rank), *y = call.Tensor(a + 1, rank);
  if (x == nullptr || y == nullptr || x->size() != rank || y->size() != rank) return std::nullopt;
  double batch = 1;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if ((*x)[i] != (*y)[i]) return std::nullopt;
    batch *= static_cast<double>((*x)[i]);
  }
  const double m = static_cast<double>((*x)[rank - 2]);
  const double k = static_cast<double>((*x)[rank - 1]) * call.Packed(a);
  if ((*y)[rank - 2] != (*x)[rank - 1]) return std::nullopt;
  return Product(call, a, batch, m, static_cast<double>((*y)[rank - 1]), k, call.AllBytes());
}

Work Mm(const Call& call) { return Matrices(call, 0, 2); }
Work Addmm(const Call& call) { return Matrices(call, 1, 2); }
Work Bmm(const Call& call) { return Matrices(call, 0, 3); }
Work Baddbmm(const Call& call) { return Matrices(call, 1, 3); }

// x [..., k], weight [n, k], bias [n].
Work Linear(const Call& call) {
  const Shape *x = call.Tensor(0, 1), *w = call.Tensor(1, 2);
  if (x == nullptr || w == nullptr || w->back() != x->back()) return std::nullopt;
  const double k = static_cast<double>(x->back()), n = static_cast<double>((*w)[0]);
  const double m = k > 0 ? Elements(*x) / k : 0;
  return Product(call, 0, 1, m, n, k, call.AllBytes());
}

// Factors of any rank: a vector is a row or a column, and batches are broadcast (torch.matmul).
Work Matmul(const Call& call) {
  const Shape *x = call.Tensor(0, 1), *y = call.Tensor(1, 1);
  if (x == nullptr || y == nullptr) return std::nullopt;
  const int64_t k = x->back();
  if ((y->size() == 1 ? (*y)[0] : (*y)[y->size() - 2]) != k) return std::nullopt;
  const double m = x->size() == 1 ? 1 : static_cast<double>((*x)[x->size() - 2]);
  const double n = y->size() == 1 ? 1 : static_cast<double>(y->back());
  double batch = 1;
  const size_t xb = x->size() < 2 ? 0 : x->size() - 2, yb = y->size() < 2 ? 0 : y->size() - 2;
  for (size_t i = 0; i < std::max(xb, yb); ++i) {
    const int64_t p = i < xb ? (*x)[xb - 1 - i] : 1, q = i < yb ? (*y)[yb - 1 - i] : 1;
    if (p != q && p != 1 && q != 1) return std::nullopt;
    batch *= static_cast<double>(p == 1 ? q : p);
  }
  return Product(call, 0, batch, m, n, static_cast<double>(k), call.AllBytes());
}

// matrix [m, k] times vector [k].
Work Mv(const Call& call) { return Matmul(call); }

// x [N, C, ...], weight [K, C / groups, ...]. Shapes do not determine strides. The output is assumed to be as
// large as the input, which is true for stride 1 with padding, and otherwise an upper bound.
Work Convolution(const Call& call) {
  const Shape *x = call.Tensor(0, 3), *w = call.Tensor(1, 3);
  if (x == nullptr || w == nullptr || x->size() != w->size() || (*x)[1] == 0 || (*w)[0] == 0)
    return std::nullopt;
  const double out = Elements(*x) / static_cast<double>((*x)[1]) * static_cast<double>((*w)[0]);
  const double per_output = Elements(*w) / static_cast<double>((*w)[0]);
  return OperatorWork{2 * out * per_output, call.AllBytes() + out * call.ElementBytes(0), false};
}

// grad [N, K, ...], x [N, C, ...], weight: one GEMM for each of the two gradients. Both gradients are
// written.
Work ConvolutionBackward(const Call& call) {
  const Shape *grad = call.Tensor(0, 3), *x = call.Tensor(1, 3), *w = call.Tensor(2, 3);
  if (grad == nullptr || x == nullptr || w == nullptr || (*w)[0] == 0) return std::nullopt;
  const double product = 2 * Elements(*grad) * Elements(*w) / static_cast<double>((*w)[0]);
  return OperatorWork{2 * product, call.AllBytes() + call.Bytes(1) + call.Bytes(2)};
}

// query, key and value are operands `q` to q + 2: [batch, heads, length, width], or [batch, length, heads,
// width] if `heads` is 2. Counts `products` GEMMs of 2 * batch * heads * queries * keys * width operations. A
// causal mask would halve these, but shapes do not show a mask.
static Work Attention(const Call& call, size_t q, size_t heads, double products, double extra_bytes) {
  const Shape *query = call.Tensor(q, 4), *key = call.Tensor(q + 1, 4), *value = call.Tensor(q + 2, 4);
  if (query == nullptr || key == nullptr || value == nullptr) return std::nullopt;
  if (query->size() != 4 || key->size() != 4 || value->size() != 4) return std::nullopt;
  const size_t length = 3 - heads;
  const double keys = static_cast<double>((*key)[length]);
  const double width = (static_cast<double>(query->back()) + static_cast<double>(value->back())) / 2;
  const double rows = query->back() > 0 ? Elements(*query) / static_cast<double>(query->back()) : 0;
  const double moved = call.Bytes(q) + call.Bytes(q + 1) + call.Bytes(q + 2);
  const double out = rows * static_cast<double>(value->back()) * call.ElementBytes(q);
  return OperatorWork{products * 2 * rows * keys * width, moved + out + extra_bytes, false};
}

// Two GEMMs: scores and values.
Work Sdpa(const Call& call) { return Attention(call, 0, 1, 2, 0); }
Work SdpaLengthFirst(const Call& call) { return Attention(call, 0, 2, 2, 0); }

// grad, query, key, value, ...: five GEMMs, including the recomputation of the scores (Dao et al.,
// FlashAttention, 2022, appendix B). The gradients are written.
Work SdpaBackward(const Call& call) {
  return Attention(call, 1, 1, 5, call.Bytes(0) + call.Bytes(1) + call.Bytes(2) + call.Bytes(3));
}
Work SdpaLengthFirstBackward(const Call& call) {
  return Attention(call, 1, 2, 5, call.Bytes(0) + call.Bytes(1) + call.Bytes(2) + call.Bytes(3));
}

// The number of elements of the shape that the operands broadcast to: the product of the largest dimension at
// each place.
static double Broadcast(const Call& call) {
  Shape out;
  for (size_t i = 0; i < call.size(); ++i) {
    const Shape* s = call.Tensor(i);
    if (s == nullptr) continue;
    if (s->size() > out.size()) out.insert(out.begin(), s->size() - out.size(), 1);
    for (size_t j = 0; j < s->size(); ++j) {
      int64_t& to = out[out.size() - s->size() + j];
      const int64_t from = (*s)[j];
      to = to == 0 || from == 0 ? 0 : std::max(to, from);
    }
  }
  return Elements(out);
}

// All inputs are read and a result of the broadcast shape is written. Counts `per_element` operations for
// each element of the result.
static Work PerElement(const Call& call, double per_element) {
  const size_t first = call.First();
  if (first == call.size()) return std::nullopt;
  const double out = std::max(call.Count(first), Broadcast(call));
  return OperatorWork{per_element * out, call.AllBytes() + out * call.ElementBytes(first)};
}

Work Elementwise(const Call& call) { return PerElement(call, 1); }

// Maximum, difference, exponential, sum and quotient.
Work Softmax(const Call& call) { return PerElement(call, 5); }

// Mean and variance (two passes of two operations), difference, product, scale and shift.
Work Normalize(const Call& call) { return PerElement(call, 8); }

// The target is written, the source is read.
Work Copy(const Call& call) {
  if (call.Tensor(0) == nullptr || call.Tensor(1) == nullptr) return std::nullopt;
  return OperatorWork{0, call.Bytes(0) + call.Bytes(1)};
}

// A tensor of the input's shape is written.
Work Fill(const Call& call) {
  const size_t first = call.First();
  if (first == call.size()) return std::nullopt;
  return OperatorWork{0, call.Bytes(first)};
}

Work Concatenate(const Call& call) {
  const size_t first = call.First();
  if (first == call.size() || call.Count(first) == 0) return std::nullopt;
  return OperatorWork{0, 2 * call.Bytes(first)};
}

// The bytes of the result are left out, since it is much smaller than the input.
Work Reduce(const Call& call) {
  const size_t first = call.First();
  if (first == call.size()) return std::nullopt;
  return OperatorWork{call.Count(first), call.AllBytes()};
}

// weight [rows, width], indices: each indexed row is read, and written to the result.
Work Embedding(const Call& call) {
  const Shape* weight = call.Tensor(0, 2);
  if (weight == nullptr || call.Tensor(1) == nullptr) return std::nullopt;
  const double moved = call.Count(1) * static_cast<double>(weight->back()) * call.ElementBytes(0);
  return OperatorWork{0, 2 * moved + call.Bytes(1)};
}

// grad [..., width], indices: each row is read and added to a row of the gradient.
Work EmbeddingBackward(const Call& call) {
  if (call.Tensor(0, 1) == nullptr || call.Tensor(1) == nullptr) return std::nullopt;
  return OperatorWork{call.Count(0), 3 * call.Bytes(0) + call.Bytes(1)};
}

// self, dim, index.
Work Gather(const Call& call) {
  if (call.Tensor(0) == nullptr || call.Tensor(2) == nullptr) return std::nullopt;
  return OperatorWork{0, 2 * call.Count(2) * call.ElementBytes(0) + call.Bytes(2)};
}

// Lists params, grads, averages, averages of squares, ...: grads are read, the others are read and written.
// Kingma and Ba, "Adam", 2015, algorithm 1: 12 operations for each parameter, without weight decay.
Work FusedAdam(const Call& call) {
  if (call.size() < 4 || call.Count(0) == 0) return std::nullopt;
  return OperatorWork{12 * call.Count(0),
                      2 * (call.Bytes(0) + call.Bytes(2) + call.Bytes(3)) + call.Bytes(1)};
}

// Lists params, grads, momenta.
Work FusedSgd(const Call& call) {
  if (call.size() < 3 || call.Count(0) == 0) return std::nullopt;
  return OperatorWork{4 * call.Count(0), 2 * (call.Bytes(0) + call.Bytes(2)) + call.Bytes(1)};
}

// Lists of tensors; the first list (or a new list of its shapes) is written.
Work Foreach(const Call& call) {
  if (call.size() == 0 || call.Count(0) == 0) return std::nullopt;
  return OperatorWork{call.Count(0), call.AllBytes() + call.Bytes(0)};
}

}  // namespace chakra::operator_rules
