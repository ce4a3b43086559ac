#include "trace/import/hlo/facts.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra::hlo {
namespace {

constexpr int64_t kMostWork = int64_t{1} << 62;

int64_t Bounded(double n) {
  if (!(n > 0)) return 0;
  return n >= static_cast<double>(kMostWork) ? kMostWork : std::llround(n);
}

struct TypeName {
  const char* hlo;
  const char* text;
};
constexpr TypeName kTypeNames[] = {
    {"bf16", "c10::BFloat16"},
    {"f16", "c10::Half"},
    {"f32", "float"},
    {"f64", "double"},
    {"f8e4m3fn", "c10::Float8_e4m3fn"},
    {"f8e5m2", "c10::Float8_e5m2"},
    {"f8e4m3fnuz", "c10::Float8_e4m3fnuz"},
    {"f8e5m2fnuz", "c10::Float8_e5m2fnuz"},
    {"s8", "signed char"},
    {"u8", "unsigned char"},
    {"s16", "short int"},
    {"s32", "int"},
    {"s64", "long int"},
    {"pred", "bool"},
};

// What stays where it is, or only says something to the compiler.
constexpr absl::string_view kIdle[] = {
    "parameter",    "constant",    "tuple",       "get-tuple-element", "bitcast",    "after-all",
    "partition-id", "replica-id",  "opt-barrier", "add-dependency",    "domain",     "get-dimension-size",
    "while",        "conditional", "call",        "copy-done",         "slice-done", "async-update",
    "infeed",       "outfeed",     "recv-done",   "send-done",
};
constexpr absl::string_view kIdleTargets[] = {"Sharding",
                                              "SPMDFullToShardShape",
                                              "SPMDShardToFullShape",
                                              "AllocateBuffer",
                                              "annotate_device_placement",
                                              "xla.sdy.GlobalToLocalShape",
                                              "xla.sdy.LocalToGlobalShape",
                                              "xla.sdy.FuncResultSharding",
                                              "LayoutConstraint",
                                              "AssumeGatherIndicesInBound",
                                              "X64Combine",
                                              "X64SplitLow",
                                              "X64SplitHigh"};

// Kinds of kernels, by what an instruction or the root of a fusion does.
struct OpcodeKind {
  absl::string_view opcode, op;
};
constexpr OpcodeKind kKinds[] = {
    {"reduce", "xla::reduce"},
    {"reduce-window", "xla::reduce"},
    {"select-and-scatter", "xla::scatter"},
    {"copy", "xla::copy"},
    {"copy-start", "xla::copy"},
    {"concatenate", "xla::copy"},
    {"slice", "xla::copy"},
    {"dynamic-slice", "xla::copy"},
    {"dynamic-update-slice", "xla::copy"},
    {"slice-start", "xla::copy"},
    {"pad", "xla::copy"},
    {"reshape", "xla::copy"},
    {"broadcast", "xla::copy"},
    {"iota", "xla::copy"},
    {"reverse", "xla::copy"},
    {"transpose", "xla::transpose"},
    {"gather", "xla::gather"},
    {"scatter", "xla::scatter"},
    {"sort", "xla::sort"},
    {"topk", "xla::sort"},
};

absl::string_view KindOfOpcode(absl::string_view opcode) {
  for (const OpcodeKind& k : kKinds) {
    if (k.opcode == opcode) return k.op;
  }
  return "xla::loop";
}

bool MovesOnly(absl::string_view opcode) {
  static constexpr absl::string_view kMoves[] = {
      "copy",    "copy-start",        "concatenate",   "slice",
      "pad",     "reshape",           "dynamic-slice", "dynamic-update-slice",
      "gather",  "broadcast",         "transpose",     "iota",
      "reverse", "bitcast",           "parameter",     "constant",
      "tuple",   "get-tuple-element", "slice-start"};
  return std::find(std::begin(kMoves), std::end(kMoves), opcode) != std::end(kMoves);
}

// A product as [batch, m, k] x [batch, k, n].
struct Gemm {
  double batch = 1, m = 1, n = 1, k = 1;
  std::string lhs_type, rhs_type;
  double operations() const { return 2 * batch * m * n * k; }
};

double ProductAt(const Shape& shape, const std::vector<int64_t>& dims) {
  double n = 1;
  for (const int64_t d : dims) {
    if (d >= 0 && d < static_cast<int64_t>(shape.dims.size()))
      n *= static_cast<double>(shape.dims[static_cast<size_t>(d)]);
  }
  return n;
}

Gemm GemmOf(const Shape& lhs, const Shape& rhs, const DotDims& dims) {
  Gemm g;
  g.batch = ProductAt(lhs, dims.lhs_batch);
  g.k = ProductAt(lhs, dims.lhs_contracting);
  const double left = static_cast<double>(ElementsOf(lhs)), right = static_cast<double>(ElementsOf(rhs));
  if (g.batch * g.k > 0) {
    g.m = left / (g.batch * g.k);
    g.n = right / (g.batch * g.k);
  }
  g.lhs_type = lhs.type;
  g.rhs_type = rhs.type;
  return g;
}

// The numbers of a list of texts or numbers: ["0", "2"].
std::vector<int64_t> NumbersOf(simdjson::dom::element value) {
  std::vector<int64_t> out;
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return out;
  for (const simdjson::dom::element e : array) {
    std::string_view text;
    int64_t n = 0;
    if (e.get(n) == simdjson::SUCCESS) {
      out.push_back(n);
    } else if (e.get(text) == simdjson::SUCCESS &&
               absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &n)) {
      out.push_back(n);
    }
  }
  return out;
}

// The dot_dimension_numbers of a library's product in its backend configuration.
bool DotDimsOfConfig(const std::string& config, DotDims* out) {
  if (!absl::StrContains(config, "dot_dimension_numbers")) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element root, dims;
  const simdjson::padded_string text(config.data(), config.size());
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return false;
  if (root.at_pointer("/gemm_backend_config/dot_dimension_numbers").get(dims) != simdjson::SUCCESS &&
      root.at_pointer("/dot_dimension_numbers").get(dims) != simdjson::SUCCESS)
    return false;
  const std::pair<const char*, std::vector<int64_t>*> fields[] = {
      {"lhs_contracting_dimensions", &out->lhs_contracting},
      {"rhs_contracting_dimensions", &out->rhs_contracting},
      {"lhs_batch_dimensions", &out->lhs_batch},
      {"rhs_batch_dimensions", &out->rhs_batch}};
  for (const auto& [name, list] : fields) {
    simdjson::dom::element value;
    if (dims[name].get(value) == simdjson::SUCCESS) *list = NumbersOf(value);
  }
  return true;
}

std::string ShapeText(const Shape& shape) { return absl::StrCat("[", absl::StrJoin(shape.dims, ", "), "]"); }

void SetOperands(const std::vector<std::string>& shapes, const std::vector<std::string>& types, Facts* f) {
  f->shapes = absl::StrCat("[", absl::StrJoin(shapes, ", "), "]");
  f->types = absl::StrCat("[\"", absl::StrJoin(types, "\", \""), "\"]");
}

std::string Sizes(std::initializer_list<double> sizes) {
  std::vector<int64_t> out;
  for (const double s : sizes) out.push_back(Bounded(s));
  return absl::StrCat("[", absl::StrJoin(out, ", "), "]");
}

class FactsReader {
 public:
  FactsReader(const Module& module, uint32_t computation)
      : m_(module), c_(module.computations[computation]) {}

  Facts Read(uint32_t row);

 private:
  const Instruction& At(uint32_t row) const { return c_.instructions[row]; }
  const Shape& OperandShape(const Instruction& i, size_t n) const { return At(i.operands[n]).shape; }
  // The work of one instruction inside of a fusion, without memory.
  double InnerOperations(const Computation& inner, const Instruction& i) const;
  double Touched(const Computation& inner, uint32_t parameter, int depth) const;
  double Written(const Computation& inner) const;
  void ReadFusion(const Instruction& i, Facts* f) const;
  void ReadCustomCall(const Instruction& i, Facts* f) const;
  bool ReadAttention(const Instruction& i, Facts* f) const;
  void ReadConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i,
                       Facts* f) const;
  void ReadGemm(const Gemm& g, Facts* f) const;
  void ReadPlain(const Instruction& i, Facts* f) const;
  double OperandBytes(const Instruction& i) const;

  const Module& m_;
  const Computation& c_;
};

double FactsReader::OperandBytes(const Instruction& i) const {
  double sum = 0;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const bool again = std::find(i.operands.begin(), i.operands.begin() + static_cast<ptrdiff_t>(n),
                                 i.operands[n]) != i.operands.begin() + static_cast<ptrdiff_t>(n);
    if (!again) sum += static_cast<double>(BytesOf(OperandShape(i, n)));
  }
  return sum;
}

double FactsReader::InnerOperations(const Computation& inner, const Instruction& i) const {
  const auto shape = [&](size_t n) -> const Shape& { return inner.instructions[i.operands[n]].shape; };
  if (MovesOnly(i.opcode)) return 0;
  if (i.opcode == "dot" && i.operands.size() >= 2) return GemmOf(shape(0), shape(1), i.dot).operations();
  if (i.opcode == "convolution" && i.operands.size() >= 2) {
    Facts f;
    ReadConvolution(shape(0), shape(1), i.shape, i, &f);
    return static_cast<double>(f.operations);
  }
  if (absl::StartsWith(i.opcode, "reduce") && !i.operands.empty())
    return static_cast<double>(ElementsOf(shape(0)));
  return static_cast<double>(ElementsOf(i.shape));
}

// Bytes that a fusion reads of its parameter: all, but for one that is only sliced or updated in place.
double FactsReader::Touched(const Computation& inner, uint32_t parameter, int depth) const {
  const double whole = static_cast<double>(BytesOf(inner.instructions[parameter].shape));
  double sum = 0;
  bool used = false;
  for (uint32_t row = parameter + 1; row < inner.instructions.size(); ++row) {
    const Instruction& user = inner.instructions[row];
    const auto at = std::find(user.operands.begin(), user.operands.end(), parameter);
    if (at == user.operands.end()) continue;
    used = true;
    const bool first = at == user.operands.begin();
    if (first && (user.opcode == "dynamic-slice" || user.opcode == "slice" || user.opcode == "gather")) {
      sum += static_cast<double>(BytesOf(user.shape));
    } else if (first && user.opcode == "dynamic-update-slice") {
      continue;  // what is not updated stays where it is
    } else if (user.opcode == "bitcast" && depth < 8) {
      sum += Touched(inner, row, depth + 1);
    } else {
      return whole;
    }
  }
  return used ? std::min(sum, whole) : 0;
}

// Bytes that a fusion writes: its result, but of an update in place only what is updated.
double FactsReader::Written(const Computation& inner) const {
  if (inner.root == kNoRow) return 0;
  std::vector<uint32_t> roots = {inner.root};
  if (inner.instructions[inner.root].opcode == "tuple") roots = inner.instructions[inner.root].operands;
  double sum = 0;
  for (uint32_t row : roots) {
    const Shape& shape = inner.instructions[row].shape;
    for (int depth = 0; depth < 8 && inner.instructions[row].opcode == "bitcast" &&
                        !inner.instructions[row].operands.empty();
         ++depth)
      row = inner.instructions[row].operands[0];
    const Instruction& i = inner.instructions[row];
    const bool update = i.opcode == "dynamic-update-slice" && i.operands.size() >= 2;
    sum += static_cast<double>(BytesOf(update ? inner.instructions[i.operands[1]].shape : shape));
  }
  return sum;
}

void FactsReader::ReadGemm(const Gemm& g, Facts* f) const {
  f->op = "xla::dot";
  SetOperands({Sizes({g.batch, g.m, g.k}), Sizes({g.batch, g.k, g.n})},
              {TypeText(g.lhs_type), TypeText(g.rhs_type)}, f);
  f->operations = std::max(f->operations, Bounded(g.operations()));
}

// x, w and out in the dimensions of `i`: forward, or a gradient that XLA writes as a forward convolution.
void FactsReader::ReadConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i,
                                  Facts* f) const {
  f->op = "xla::convolution";
  const auto at = [](const Shape& s, int64_t d) {
    return d >= 0 && d < static_cast<int64_t>(s.dims.size())
               ? static_cast<double>(s.dims[static_cast<size_t>(d)])
               : 1;
  };
  std::vector<int64_t> input = {Bounded(at(x, i.conv.input_batch)), Bounded(at(x, i.conv.input_feature))};
  std::vector<int64_t> kernel = {Bounded(at(w, i.conv.kernel_output)), Bounded(at(w, i.conv.kernel_input))};
  for (const int64_t d : i.conv.input_spatial) input.push_back(Bounded(at(x, d)));
  for (const int64_t d : i.conv.kernel_spatial) kernel.push_back(Bounded(at(w, d)));
  SetOperands({absl::StrCat("[", absl::StrJoin(input, ", "), "]"),
               absl::StrCat("[", absl::StrJoin(kernel, ", "), "]")},
              {TypeText(x.type), TypeText(w.type)}, f);
  const double filters = std::max(1.0, at(w, i.conv.kernel_output));
  f->operations =
      Bounded(2 * static_cast<double>(ElementsOf(out)) * static_cast<double>(ElementsOf(w)) / filters);
}

void FactsReader::ReadPlain(const Instruction& i, Facts* f) const {
  f->op = std::string(KindOfOpcode(i.opcode));
  std::vector<std::string> shapes, types;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    if (OperandShape(i, n).tuple()) continue;
    shapes.push_back(ShapeText(OperandShape(i, n)));
    types.push_back(TypeText(OperandShape(i, n).type));
  }
  SetOperands(shapes, types, f);
}

void FactsReader::ReadFusion(const Instruction& i, Facts* f) const {
  if (i.calls.empty()) return;
  const Computation& inner = m_.computations[i.calls[0]];
  double operations = 0, bytes = Written(inner);
  const Instruction* product = nullptr;
  double most = 0;
  for (uint32_t row = 0; row < inner.instructions.size(); ++row) {
    const Instruction& part = inner.instructions[row];
    if (part.opcode == "parameter") {
      bytes += Touched(inner, row, 0);
      continue;
    }
    const double work = InnerOperations(inner, part);
    operations += work;
    const bool is_product =
        (part.opcode == "dot" || part.opcode == "convolution") && part.operands.size() >= 2;
    if (is_product && work > most) {
      most = work;
      product = &part;
    }
    const absl::string_view kind = KindOfOpcode(part.opcode);
    if (kind == "xla::reduce" || kind == "xla::scatter" || kind == "xla::gather") f->op = std::string(kind);
    if (kind == "xla::transpose" && f->op == "xla::loop") f->op = std::string(kind);
  }
  if (inner.root != kNoRow && f->op == "xla::loop" && operations == 0) f->op = "xla::copy";
  f->operations = Bounded(operations);
  f->bytes = Bounded(bytes);
  if (product == nullptr) return;
  const Shape &lhs = inner.instructions[product->operands[0]].shape,
              &rhs = inner.instructions[product->operands[1]].shape;
  if (product->opcode == "dot") {
    ReadGemm(GemmOf(lhs, rhs, product->dot), f);
  } else {
    ReadConvolution(lhs, rhs, product->shape, *product, f);
    f->operations = Bounded(operations);
  }
}

// Fused attention: query, key and value, or packed, each [batch, length, heads, width].
bool FactsReader::ReadAttention(const Instruction& i, Facts* f) const {
  const std::string target = absl::AsciiStrToLower(i.target);
  const bool attention = absl::StrContains(target, "fmha") || absl::StrContains(target, "attn") ||
                         absl::StrContains(target, "attention");
  if (!attention) return false;
  const Shape *q = nullptr, *kv = nullptr;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Shape& s = OperandShape(i, n);
    if (s.tuple() || s.dims.size() < 4 || s.dims.size() > 5 || ElementsOf(s) < 64) continue;
    if (q == nullptr) {
      q = &s;
      if (s.dims.size() == 5) kv = &s;
    } else if (kv == nullptr) {
      kv = &s;
    }
  }
  if (q == nullptr || kv == nullptr) return false;
  const auto dim = [](const Shape& s, size_t from_end) {
    return static_cast<double>(s.dims[s.dims.size() - from_end]);
  };
  const double batch = static_cast<double>(q->dims[0]), length = static_cast<double>(q->dims[1]);
  const double heads = dim(*q, 2), width = dim(*q, 1);
  const double keys = static_cast<double>(kv->dims[1]), kv_heads = dim(*kv, 2);
  const bool backward = absl::StrContains(target, "backward") || absl::StrContains(target, "bwd");
  // Two products forward, five backward (FlashAttention-2, section 3.2); a causal mask leaves half of the
  // pairs.
  const bool causal = absl::StrContains(absl::AsciiStrToLower(i.backend_config), "causal");
  double operations = (backward ? 10 : 4) * batch * heads * length * keys * width;
  if (causal) operations /= 2;
  f->op = backward ? "xla::attention_backward" : "xla::attention";
  const std::string query = Sizes({batch, length, heads, width}), key = Sizes({batch, keys, kv_heads, width});
  const std::string type = TypeText(q->type);
  if (backward) {
    SetOperands({query, query, key, key}, {type, type, type, type}, f);
  } else {
    SetOperands({query, key, key}, {type, type, type}, f);
  }
  f->operations = Bounded(operations);
  return true;
}

void FactsReader::ReadCustomCall(const Instruction& i, Facts* f) const {
  f->bytes = Bounded(OperandBytes(i) + static_cast<double>(BytesOf(i.shape)));
  f->op = "xla::custom-call";
  const Shape& out = i.shape.tuple() && !i.shape.parts.empty() ? i.shape.parts[0] : i.shape;
  DotDims dims;
  if (i.operands.size() >= 2 && DotDimsOfConfig(i.backend_config, &dims)) {
    ReadGemm(GemmOf(OperandShape(i, 0), OperandShape(i, 1), dims), f);
    return;
  }
  if (i.operands.size() >= 2 && absl::StrContains(i.target, "$conv")) {
    const Shape &a = OperandShape(i, 0), &b = OperandShape(i, 1);
    if (absl::StrContains(i.target, "BackwardFilter")) {
      ReadConvolution(a, out, b, i,
                      f);  // the result has the filter's dimensions, the second operand the output's
    } else if (absl::StrContains(i.target, "BackwardInput")) {
      ReadConvolution(out, b, a, i, f);
    } else {
      ReadConvolution(a, b, out, i, f);
    }
    return;
  }
  if (ReadAttention(i, f)) return;
  if (absl::StrContains(absl::AsciiStrToLower(i.target), "topk")) {
    f->op = "xla::sort";
    return;
  }
  f->unknown = true;
}

Facts FactsReader::Read(uint32_t row) {
  const Instruction& i = At(row);
  Facts f;
  ReadPlain(i, &f);
  const double result = static_cast<double>(BytesOf(i.shape));
  const auto operand = [&](size_t n) { return static_cast<double>(BytesOf(OperandShape(i, n))); };
  if (i.opcode == "fusion") {
    ReadFusion(i, &f);
    return f;
  }
  if (i.opcode == "custom-call") {
    ReadCustomCall(i, &f);
    return f;
  }
  f.bytes = Bounded(OperandBytes(i) + result);
  f.operations = MovesOnly(i.opcode) ? 0 : Bounded(InnerOperations(c_, i));
  if (i.opcode == "dot" && i.operands.size() >= 2) {
    ReadGemm(GemmOf(OperandShape(i, 0), OperandShape(i, 1), i.dot), &f);
  } else if (i.opcode == "convolution" && i.operands.size() >= 2) {
    ReadConvolution(OperandShape(i, 0), OperandShape(i, 1), i.shape, i, &f);
  } else if (i.opcode == "dynamic-slice" || i.opcode == "slice" || i.opcode == "gather") {
    f.bytes = Bounded(2 * result);
  } else if (i.opcode == "dynamic-update-slice" && i.operands.size() >= 2) {
    f.bytes = Bounded(2 * operand(1));
  } else if (i.opcode == "scatter" && i.operands.size() >= 3) {
    f.bytes = Bounded(3 * operand(i.operands.size() - 1));
  } else if (i.opcode == "copy-start" && i.operands.size() >= 1) {
    f.bytes = Bounded(2 * operand(0));
  }
  return f;
}

}  // namespace

std::string TypeText(const std::string& type) {
  for (const TypeName& t : kTypeNames) {
    if (type == t.hlo) return t.text;
  }
  return type;
}

bool Runs(const Instruction& i) {
  if (std::find(std::begin(kIdle), std::end(kIdle), i.opcode) != std::end(kIdle)) return false;
  return i.opcode != "custom-call" ||
         std::find(std::begin(kIdleTargets), std::end(kIdleTargets), i.target) == std::end(kIdleTargets);
}

Facts FactsOf(const Module& module, uint32_t computation, uint32_t row) {
  return FactsReader(module, computation).Read(row);
}

}  // namespace chakra::hlo
