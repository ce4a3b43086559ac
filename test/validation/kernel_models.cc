#include "test/validation/kernel_models.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/operators/operator_work.h"

namespace chakra::validation {
namespace {

// From the model configurations of the NeuSight artefact (Lee et al., ASPLOS 2025),
// scripts/asplos/data/DLmodel_configs. Attention runs operator by operator; a training pass is a forward pass
// and a backward pass without an optimizer (neusight/Tracing/trace.py).
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

constexpr int kElementBytes = 4;  // fp32

std::vector<Operand> OperandsOf(const OperatorCalls& calls) {
  std::vector<Operand> operands;
  for (const Shape& s : calls.shapes) operands.push_back({{s}, kElementBytes, "fp32"});
  return operands;
}

class Operators {
 public:
  explicit Operators(bool training) : training_(training) {}

  // A GEMM of a [.., m, k] and b [.., k, n]; a training pass also computes the gradients of both.
  void Gemm(int times, const char* op, const Shape& a, const Shape& b) {
    const Shape bias = {b.back()};
    const auto add = [&](const Shape& x, const Shape& y) {
      all_.push_back(
          {times, op, op == std::string("addmm") ? std::vector<Shape>{bias, x, y} : std::vector{x, y}});
    };
    add(a, b);
    if (!training_) return;
    Shape result = a, a_turned = a, b_turned = b;
    result.back() = b.back();
    std::swap(a_turned[a.size() - 2], a_turned[a.size() - 1]);
    std::swap(b_turned[b.size() - 2], b_turned[b.size() - 1]);
    add(result, b_turned);
    add(a_turned, result);
  }
  // An operator that streams; its gradient moves equally many bytes.
  void Stream(int times, const char* op, const std::vector<Shape>& shapes) {
    all_.push_back({training_ ? 2 * times : times, op, shapes});
  }
  std::vector<OperatorCalls> all() && { return std::move(all_); }

 private:
  const bool training_;
  std::vector<OperatorCalls> all_;
};

}  // namespace

std::vector<OperatorCalls> ModelOperators(const std::string& model, int sequence, int batch, bool training) {
  const Model* m = nullptr;
  for (const Model& candidate : kModels) {
    if (model == candidate.name) m = &candidate;
  }
  if (m == nullptr) return {};
  const int layers = m->layers;
  const int64_t tokens = int64_t{sequence} * batch, w = m->width, all_heads = int64_t{batch} * m->heads;
  const Shape x = {tokens, w}, wide = {tokens, 4 * w}, scores = {all_heads, sequence, sequence};
  const Shape head = {all_heads, sequence, w / m->heads}, turned = {all_heads, w / m->heads, sequence};
  Operators o(training);
  o.Stream(2 * layers, "native_layer_norm", {x, {w}, {w}});
  if (m->one_projection) {
    o.Gemm(layers, "addmm", x, {w, 3 * w});
  } else {
    o.Gemm(3 * layers, "addmm", x, {w, w});
  }
  o.Stream(4 * layers, "clone",
           {x});  // heads of query, key and value before each other, and the result's back
  o.Gemm(layers, "bmm", head, turned);
  o.Stream(2 * layers, "mul", {scores});  // scaled, masked
  o.Stream(layers, "_softmax", {scores});
  if (training) o.Stream(layers, "native_dropout", {scores});
  o.Gemm(layers, "bmm", scores, head);
  o.Gemm(layers, "addmm", x, {w, w});
  o.Stream(2 * layers, "add", {x, x});
  o.Gemm(layers, "addmm", x, {w, 4 * w});
  o.Stream(m->activation * layers, "gelu", {wide});
  o.Gemm(layers, "addmm", wide, {4 * w, w});
  // Without training, BERT classifies sequences and has no output of words.
  if (training || model != "bert_large") o.Gemm(1, "mm", x, {w, m->vocabulary});
  return std::move(o).all();
}

std::optional<PassWork> ModelWork(const std::string& model, int sequence, int batch, bool training) {
  const std::vector<OperatorCalls> all = ModelOperators(model, sequence, batch, training);
  if (all.empty()) return std::nullopt;
  PassWork sum;
  for (const OperatorCalls& calls : all) {
    const auto work = WorkOfOperator(calls.op, OperandsOf(calls), kElementBytes);
    if (!work.has_value()) continue;
    sum.operations += calls.times * work->operations;
    sum.bytes += calls.times * work->bytes;
  }
  return sum;
}

absl::StatusOr<ModelledTime> PassTime(const KernelModel& model, const std::vector<OperatorCalls>& operators) {
  ModelledTime sum;
  for (const OperatorCalls& calls : operators) {
    const auto of = CallsOfOperator(calls.op, OperandsOf(calls), kElementBytes);
    if (!of.has_value()) return absl::InternalError(absl::StrCat(calls.op, ": no calls"));
    const auto time = PredictAll(model, of->calls);
    if (!time.ok()) return time.status();
    sum.us += calls.times * time->us;
    sum.low_us += calls.times * time->low_us;
    sum.high_us += calls.times * time->high_us;
  }
  return sum;
}

}  // namespace chakra::validation
