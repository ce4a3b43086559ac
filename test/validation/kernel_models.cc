#include <iterator>

#include "absl/strings/str_cat.h"
#include "replay/compute/operators/operator_work.h"
#include "test/validation/kernel_tables.h"

namespace chakra::validation {
namespace {

// From the model configurations of the NeuSight artefact (Lee et al., ASPLOS 2025),
// scripts/asplos/data/DLmodel_configs.
struct Model {
  const char* name;
  int layers, width, heads, vocabulary;
  bool one_projection;  // of query, key and value together
  int activation;       // element-wise operators of the activation
};

constexpr Model kModels[] = {
    {"bert_large", 24, 1024, 16, 30522, false, 1},  // gelu
    {"gpt2_large", 36, 1280, 20, 50257, true, 8},   // gelu_new: eight operators on their own
    {"gpt3_xl", 24, 3072, 24, 50257, true, 8},     {"gpt3_27", 32, 2560, 32, 50257, true, 8},
    {"opt_13", 24, 2048, 32, 50272, false, 1},  // relu
};

class Sum {
 public:
  // `times` calls of an operator on tensors of these shapes.
  void Add(int times, absl::string_view op, const std::vector<Shape>& shapes) {
    std::vector<Operand> operands;
    for (const Shape& s : shapes) operands.push_back({{s}, 4, "fp32"});
    const auto work = WorkOfOperator(op, operands, 4);
    if (!work.has_value()) return;
    total_.operations += times * work->operations;
    total_.bytes += times * work->bytes;
  }
  PassWork total() const { return total_; }

 private:
  PassWork total_;
};

}  // namespace

std::optional<PassWork> ModelWork(const std::string& model, int sequence, int batch, bool training) {
  const Model* m = nullptr;
  for (const Model& candidate : kModels) {
    if (model == candidate.name) m = &candidate;
  }
  if (m == nullptr) return std::nullopt;
  const int64_t tokens = int64_t{sequence} * batch, w = m->width, all_heads = int64_t{batch} * m->heads;
  const Shape x = {tokens, w}, wide = {tokens, 4 * w}, scores = {all_heads, sequence, sequence};
  const Shape head = {all_heads, sequence, w / m->heads}, turned = {all_heads, w / m->heads, sequence};
  Sum sum;
  sum.Add(2 * m->layers, "native_layer_norm", {x, {w}, {w}});
  if (m->one_projection) {
    sum.Add(m->layers, "addmm", {{3 * w}, x, {w, 3 * w}});
  } else {
    sum.Add(3 * m->layers, "addmm", {{w}, x, {w, w}});
  }
  sum.Add(m->layers, "bmm", {head, turned});
  sum.Add(2 * m->layers, "mul", {scores});  // scaled, masked
  sum.Add(m->layers, "_softmax", {scores});
  sum.Add(m->layers, "bmm", {scores, head});
  sum.Add(m->layers, "addmm", {{w}, x, {w, w}});
  sum.Add(2 * m->layers, "add", {x, x});
  sum.Add(m->layers, "addmm", {{4 * w}, x, {w, 4 * w}});
  sum.Add(m->activation * m->layers, "gelu", {wide});
  sum.Add(m->layers, "addmm", {{w}, wide, {4 * w, w}});
  sum.Add(1, "mm", {x, {w, m->vocabulary}});
  const double passes = training ? 3 : 1;
  return PassWork{passes * sum.total().operations, passes * sum.total().bytes};
}

}  // namespace chakra::validation
