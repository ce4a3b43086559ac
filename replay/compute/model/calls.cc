#include "replay/compute/model/calls.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "replay/compute/operators/operator_rules.h"
#include "replay/compute/operators/operator_work.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

namespace rules = operator_rules;
using rules::Call;

// The dtype for an operand's type. A type that the matrix units do not know counts as bf16.
KernelDtype DtypeOfOperand(const std::vector<Operand>& operands, size_t i) {
  const absl::string_view dtype = i < operands.size() ? operands[i].dtype : "";
  if (dtype == "fp64") return KernelDtype::kFp64;
  if (dtype == "fp32") return KernelDtype::kFp32;
  if (dtype == "fp8") return KernelDtype::kFp8;
  if (dtype == "fp4") return KernelDtype::kFp4;
  if (dtype == "int8") return KernelDtype::kInt8;
  return KernelDtype::kBf16;
}

double At(const Shape& shape, size_t i) { return static_cast<double>(shape[i]); }

// The GEMM of the two operands of matmul or linear (`linear`: the second operand is transposed).
std::optional<GemmCall> Product(const std::vector<Operand>& operands, const Call& call, size_t a,
                                bool linear) {
  const Shape *x = call.Tensor(a, 1), *y = call.Tensor(a + 1, 1);
  if (x == nullptr || y == nullptr) return std::nullopt;
  GemmCall gemm;
  gemm.dtype = DtypeOfOperand(operands, a);
  gemm.k = static_cast<double>(x->back());
  if (linear && y->size() == 1) gemm.n = 1;
  if (!linear) gemm.n = y->size() == 1 ? 1 : static_cast<double>(y->back());
  if (linear && y->size() > 1) gemm.n = At(*y, 0);
  const double rows = gemm.k > 0 ? Elements(*x) / gemm.k : 0, deep = gemm.k;
  gemm.k *= call.Packed(a);
  if (linear || y->size() <= 2) {  // all rows of x are one matrix
    gemm.m = rows;
    return gemm;
  }
  gemm.batch = Elements(*y) / std::max(1.0, deep * gemm.n);
  gemm.m = x->size() < 2 ? 1 : At(*x, x->size() - 2);
  gemm.batch = std::max(gemm.batch, gemm.m > 0 ? rows / gemm.m : 0);
  return gemm;
}

// x [N, C, ...], weight [K, C / groups, ...].
struct Filters {
  double channels = 0, filters = 0, groups = 1, taps = 0, pixels = 0;
};

std::optional<Filters> FiltersOf(const Shape* x, const Shape* w) {
  if (x == nullptr || w == nullptr || x->size() != w->size() || x->size() < 3) return std::nullopt;
  if ((*x)[1] <= 0 || (*w)[0] <= 0 || (*w)[1] <= 0) return std::nullopt;
  Filters f;
  f.channels = At(*x, 1);
  f.filters = At(*w, 0);
  f.groups = std::max(1.0, std::floor(f.channels / At(*w, 1)));
  f.taps = Elements(*w) / f.filters;
  f.pixels = Elements(*x) / f.channels;
  return f;
}

std::vector<KernelCall> Convolution(const std::vector<Operand>& operands, const Call& call) {
  const auto f = FiltersOf(call.Tensor(0, 3), call.Tensor(1, 3));
  if (!f.has_value()) return {};
  return {GemmCall{DtypeOfOperand(operands, 0), f->groups, f->pixels, f->filters / f->groups, f->taps}};
}

// grad [N, K, ...], x, weight: first the gradient of x, then that of the weight. Each has the operations of a
// GEMM of the gradient's pixels with the filters.
std::vector<KernelCall> ConvolutionBackward(const std::vector<Operand>& operands, const Call& call) {
  const Shape *grad = call.Tensor(0, 3), *x = call.Tensor(1, 3);
  const auto f = FiltersOf(x, call.Tensor(2, 3));
  if (grad == nullptr || !f.has_value() || At(*grad, 1) != f->filters) return {};
  const KernelDtype dtype = DtypeOfOperand(operands, 0);
  const double out = Elements(*grad) / At(*grad, 1);  // pixels of the gradient
  const double filters = f->filters / f->groups, channels = f->channels / f->groups;
  const double window = f->taps / channels;
  const double overlap = window * out / std::max(1.0, f->pixels);  // taps that contribute to a pixel of x
  return {GemmCall{dtype, f->groups, f->pixels, channels, std::max(1.0, filters * overlap)},
          GemmCall{dtype, f->groups, filters, f->taps, out}};
}

// query, key and value are operands `q` to q + 2; `heads` is the dimension of the heads, 1 or 2. Three
// dimensions are [tokens, heads, width] of concatenated sequences; a later operand has their starts.
std::vector<KernelCall> Attention(const std::vector<Operand>& operands, const Call& call, size_t q,
                                  size_t heads, bool backward) {
  const Shape *query = call.Tensor(q, 3), *key = call.Tensor(q + 1, 3);
  if (query == nullptr || key == nullptr || call.Tensor(q + 2, 3) == nullptr) return {};
  if (query->size() != key->size() || query->size() > 4 || query->back() != key->back()) return {};
  if (query->size() == 3 && heads == 1) return {};
  AttentionCall a;
  a.dtype = a.kv_dtype = DtypeOfOperand(operands, q);
  a.causal = false;
  a.backward = backward;
  a.head_dim = static_cast<double>(query->back());
  if (const Shape* value = call.Tensor(q + 2, 3)) a.v_dim = static_cast<double>(value->back());
  double keys = 0;
  if (query->size() == 4) {
    a.batch = At(*query, 0);
    a.heads = At(*query, heads);
    a.kv_heads = At(*key, heads);
    a.seq = At(*query, 3 - heads);
    keys = At(*key, 3 - heads);
  } else {
    a.heads = At(*query, 1);
    a.kv_heads = At(*key, 1);
    const size_t begins = backward ? q + 5 : q + 3;  // backward: after the result and its sums
    const Shape* starts = call.Tensor(begins, 1);
    a.batch = starts != nullptr && starts->size() == 1 ? std::max(1.0, At(*starts, 0) - 1) : 1;
    a.seq = std::max(1.0, At(*query, 0) / a.batch);
    keys = At(*key, 0) / a.batch;
  }
  a.prefix = std::max(0.0, keys - a.seq);
  return {a};
}

std::vector<KernelCall> ProductOf(const std::vector<Operand>& operands, const Call& call, size_t a,
                                  bool linear) {
  const auto gemm = Product(operands, call, a, linear);
  return gemm.has_value() ? std::vector<KernelCall>{*gemm} : std::vector<KernelCall>();
}

// A line for each rule of operator_rules.h whose operators stream.
struct StreamRule {
  OperatorRule rule;
  StreamKind kind;
};

constexpr StreamRule kStreams[] = {
    {rules::Elementwise, StreamKind::kElementwise},
    {rules::Softmax, StreamKind::kNorm},
    {rules::Normalize, StreamKind::kNorm},
    {rules::Copy, StreamKind::kCopy},
    {rules::Fill, StreamKind::kCopy},
    {rules::Concatenate, StreamKind::kCopy},
    {rules::Reduce, StreamKind::kReduction},
    {rules::Embedding, StreamKind::kGather},
    {rules::EmbeddingBackward, StreamKind::kGather},
    {rules::Gather, StreamKind::kGather},
    {rules::FusedAdam, StreamKind::kOptimizer},
    {rules::FusedSgd, StreamKind::kOptimizer},
    {rules::Foreach, StreamKind::kOptimizer},
};

// Operators whose kind differs from that of the rule that counts their work.
struct OtherKind {
  const char* name;
  StreamKind kind;
};

constexpr OtherKind kOtherKinds[] = {
    {"cumsum", StreamKind::kScan},         {"topk", StreamKind::kScan},      {"clone", StreamKind::kCopy},
    {"contiguous", StreamKind::kCopy},     {"flip", StreamKind::kTranspose}, {"roll", StreamKind::kTranspose},
    {"_foreach_copy_", StreamKind::kCopy},
};

std::optional<StreamKind> KindOf(absl::string_view name, OperatorRule rule) {
  absl::ConsumePrefix(&name, "aten::");
  for (const OtherKind& o : kOtherKinds) {
    if (name == o.name) return o.kind;
  }
  for (const StreamRule& s : kStreams) {
    if (s.rule == rule) return s.kind;
  }
  return std::nullopt;
}

// Used for a streaming kernel whose operator is unknown: the work is that of the first operator of its family
// here that the operands fit.
constexpr struct {
  KernelFamily family;
  const char* op;
} kStandIns[] = {
    {KernelFamily::kElementwise, "add"},  {KernelFamily::kReduction, "sum"},
    {KernelFamily::kNorm, "layer_norm"},  {KernelFamily::kCopy, "copy_"},
    {KernelFamily::kCopy, "cat"},         {KernelFamily::kTranspose, "copy_"},
    {KernelFamily::kTranspose, "clone"},  {KernelFamily::kGather, "gather"},
    {KernelFamily::kGather, "embedding"}, {KernelFamily::kOptimizer, "_foreach_add_"},
    {KernelFamily::kScan, "sum"},
};

// GEMM operators, in the order in which operands are tried: stricter operators first.
constexpr const char* kProducts[] = {"addmm",  "baddbmm", "mm",    "bmm", "convolution_backward",
                                     "linear", "matmul",  "conv2d"};

bool IsStream(KernelFamily family) { return StreamKindOf(family).has_value(); }

// Sets the dtype that the kernel's name gives, if the operands give no dtype, or fp32 and the name says TF32
// (a run may have used TF32). `told`: an operand has a dtype.
void TakeDtypeOfName(absl::string_view name, bool told, GemmCall* gemm) {
  const auto named = DtypeOfKernelName(name);
  if (!named.has_value()) return;
  if (!told || (gemm->dtype == KernelDtype::kFp32 && *named == KernelDtype::kTf32)) gemm->dtype = *named;
}

FamilyCalls StreamOfKernel(const KernelFacts& kernel, KernelFamily family,
                           const std::vector<Operand>& operands, int unknown) {
  FamilyCalls out{family, {}};
  StreamCall stream;
  stream.kind = *StreamKindOf(family);
  stream.bytes = kernel.bytes;
  stream.operations = kernel.operations;
  if (stream.bytes <= 0 && !operands.empty()) {
    auto work = WorkOfOperator(kernel.op, operands, unknown);
    for (size_t i = 0; i < std::size(kStandIns) && !work.has_value(); ++i) {
      if (kStandIns[i].family == family) work = WorkOfOperator(kStandIns[i].op, operands, unknown);
    }
    if (work.has_value()) {
      stream.bytes = work->bytes;
      stream.operations = work->operations;
    }
  }
  stream.for_layout = absl::StrContains(kernel.name, "fp8_transpose");
  if (stream.bytes >= 1) out.calls = {stream};
  return out;
}

// The calls of the first operator in [begin, end) that the operands fit.
std::vector<KernelCall> FirstThatFits(const char* const* begin, const char* const* end,
                                      const std::vector<Operand>& operands, int unknown) {
  for (; begin != end; ++begin) {
    if (!WorkOfOperator(*begin, operands, unknown).has_value()) continue;
    auto calls = CallsOfOperator(*begin, operands, unknown);
    if (calls.has_value()) return calls->calls;
  }
  return {};
}

std::vector<KernelCall> AttentionOfKernel(const KernelFacts& kernel, const std::vector<Operand>& operands,
                                          int unknown) {
  // The heads dimension precedes the length dimension in cuDNN's and in scaled_dot operators. Other kernels
  // are launched with the length first.
  const bool heads_first = absl::StrContains(kernel.name, "cudnn") ||
                           absl::StrContains(kernel.name, "heads_first") ||
                           absl::StrContains(kernel.op, "scaled_dot");
  const bool backward = IsBackwardKernel(kernel.name);
  const char* op = heads_first ? (backward ? "_scaled_dot_product_cudnn_attention_backward"
                                           : "_scaled_dot_product_cudnn_attention")
                               : (backward ? "_flash_attention_backward" : "_flash_attention_forward");
  auto calls = CallsOfOperator(op, operands, unknown);
  if (!calls.has_value()) return {};
  for (KernelCall& call : calls->calls) {
    auto* a = std::get_if<AttentionCall>(&call);
    if (a != nullptr && absl::StrContains(kernel.name, kFlash1)) a->kernel = kFlash1;
    if (a != nullptr && absl::StrContains(kernel.name, kFlash2)) a->kernel = kFlash2;
    if (a != nullptr && absl::StrContains(kernel.name, "softcap")) a->capped = true;
  }
  return calls->calls;
}

// The window of keys that a query sees, if the operations show fewer than half of all pairs: with a window of
// w keys there are w * seq - w^2 / 2 pairs, since the first w queries see fewer. 0: no window.
double WindowOf(const AttentionCall& a, double operations) {
  const double v = a.v_dim > 0 ? a.v_dim : a.head_dim;
  const double of_pair = 2 * a.batch * a.heads * (a.backward ? 3 * a.head_dim + 2 * v : a.head_dim + v);
  const double pairs = operations / of_pair, all = a.seq * a.seq;
  return pairs < 0.499 * all ? std::round(a.seq - std::sqrt(all - 2 * pairs)) : 0;
}

// Finds the mask from the node's own operations, since shapes do not show it: a causal mask leaves half of
// the pairs, a window fewer.
FamilyCalls WithMask(const KernelFacts& kernel, FamilyCalls calls) {
  if (kernel.operations <= 0) return calls;
  for (KernelCall& call : calls.calls) {
    auto* a = std::get_if<AttentionCall>(&call);
    if (a == nullptr || a->prefix > 0) continue;
    const double all = (a->backward ? 10 : 4) * a->batch * a->heads * a->seq * a->seq * a->head_dim;
    if (kernel.operations < 0.75 * all) a->causal = true;
    a->window = WindowOf(*a, kernel.operations);
  }
  return calls;
}

// Selects the call that the kernel is, among the GEMMs of an operator.
std::vector<KernelCall> OneOf(std::vector<KernelCall> calls, absl::string_view name) {
  if (calls.size() > 1) {
    const bool weights = absl::StrContains(name, "wgrad") || absl::StrContains(name, "wrw") ||
                         absl::StrContains(name, "bwd_weight");
    calls = {calls[weights ? 1 : 0]};
  }
  return calls;
}

}  // namespace

std::optional<FamilyCalls> CallsOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes) {
  const OperatorRule rule = RuleOfOperator(name);
  if (rule == nullptr) return std::nullopt;
  const auto work = WorkOfOperator(name, operands, unknown_element_bytes);
  const Call call(operands, unknown_element_bytes);
  FamilyCalls out{KernelFamily::kGemm, {}};
  if (const auto kind = KindOf(name, rule); kind.has_value()) {
    if (!work.has_value() || !(work->bytes >= 1)) return std::nullopt;
    out.family = FamilyOf(*kind);
    out.calls = {StreamCall{*kind, work->bytes, work->operations}};
    return out;
  }
  const bool length_first = rule == rules::SdpaLengthFirst || rule == rules::SdpaLengthFirstBackward;
  const bool backward = rule == rules::SdpaBackward || rule == rules::SdpaLengthFirstBackward;
  if (length_first || backward || rule == rules::Sdpa) {
    out.family = KernelFamily::kAttention;
    out.calls = Attention(operands, call, backward ? 1 : 0, length_first ? 2 : 1, backward);
  } else if (!work.has_value()) {
    return std::nullopt;
  } else if (rule == rules::Convolution) {
    out.calls = Convolution(operands, call);
  } else if (rule == rules::ConvolutionBackward) {
    out.calls = ConvolutionBackward(operands, call);
  } else {
    const bool second = rule == rules::Addmm || rule == rules::Baddbmm;
    out.calls = ProductOf(operands, call, second ? 1 : 0, rule == rules::Linear);
  }
  if (out.calls.empty()) return std::nullopt;
  return out;
}

FamilyCalls CallsOfKernel(const KernelFacts& kernel, int unknown_element_bytes) {
  std::vector<Operand> operands;
  if (!kernel.shapes.empty()) {
    if (auto parsed = ParseOperands(kernel.shapes, kernel.dtypes); parsed.ok()) operands = *std::move(parsed);
  }
  const absl::string_view op = !kernel.op.empty() ? kernel.op : kernel.name;
  std::optional<FamilyCalls> of_op = CallsOfOperator(op, operands, unknown_element_bytes);
  KernelFamily family =
      RuleOfOperator(kernel.name) != nullptr ? KernelFamily::kNone : FamilyOfKernelName(kernel.name);
  if (family == KernelFamily::kNone) return WithMask(kernel, of_op.value_or(FamilyCalls()));
  if (family == KernelFamily::kHostCopy) return {family, {}};
  if (IsStream(family)) return StreamOfKernel(kernel, family, operands, unknown_element_bytes);
  FamilyCalls out{family, {}};
  if (of_op.has_value() && of_op->family == family) {
    out.calls = std::move(of_op->calls);
  } else if (family == KernelFamily::kGemm) {
    out.calls = FirstThatFits(std::begin(kProducts), std::end(kProducts), operands, unknown_element_bytes);
  } else if (family == KernelFamily::kAttention) {
    out.calls = AttentionOfKernel(kernel, operands, unknown_element_bytes);
  }
  out.calls = OneOf(std::move(out.calls), kernel.name);
  const bool told =
      std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return !o.dtype.empty(); });
  for (KernelCall& call : out.calls) {
    auto* gemm = std::get_if<GemmCall>(&call);
    if (gemm == nullptr) continue;
    TakeDtypeOfName(kernel.name, told, gemm);
    gemm->cublas = IsCublasKernel(kernel.name);
    gemm->accumulates = absl::StrContains(kernel.name, "accum_fp32");
    gemm->each = absl::StrContains(kernel.name, "multi_stream");
  }
  return WithMask(kernel, std::move(out));
}

absl::StatusOr<ModelledTime> PredictAll(const KernelModel& model, const std::vector<KernelCall>& calls) {
  if (calls.empty()) return absl::InvalidArgumentError("no call to predict");
  ModelledTime sum;
  for (const KernelCall& call : calls) {
    ASSIGN_OR_RETURN(const auto time, Predict(model, call));
    sum.us += time.us;
    sum.low_us += time.low_us;
    sum.high_us += time.high_us;
    sum.from = time.from;
  }
  return sum;
}

}  // namespace chakra
