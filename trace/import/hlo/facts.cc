#include "trace/import/hlo/facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/import/hlo/attention.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/products.h"

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

// Opcodes that run nothing themselves: they move no data, or only inform the compiler, or their computations
// run instead.
constexpr absl::string_view kIdle[] = {
    "parameter",    "constant",    "tuple",       "get-tuple-element", "bitcast",    "after-all",
    "partition-id", "replica-id",  "opt-barrier", "add-dependency",    "domain",     "get-dimension-size",
    "while",        "conditional", "call",        "copy-done",         "async-done", "async-update",
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

// Kinds of kernels, by the opcode of an instruction or of a part of a fusion.
struct OpcodeKind {
  absl::string_view opcode, op;
};
constexpr OpcodeKind kKinds[] = {
    {"reduce", "xla::reduce"}, {"reduce-window", "xla::reduce"}, {"select-and-scatter", "xla::scatter"},
    {"copy", "xla::copy"},     {"copy-start", "xla::copy"},      {"concatenate", "xla::copy"},
    {"slice", "xla::copy"},    {"dynamic-slice", "xla::copy"},   {"dynamic-update-slice", "xla::copy"},
    {"pad", "xla::copy"},      {"reshape", "xla::copy"},         {"broadcast", "xla::copy"},
    {"iota", "xla::copy"},     {"reverse", "xla::copy"},         {"transpose", "xla::transpose"},
    {"gather", "xla::gather"}, {"scatter", "xla::scatter"},      {"sort", "xla::sort"},
    {"topk", "xla::sort"},
};

absl::string_view KindOfOpcode(absl::string_view opcode) {
  for (const OpcodeKind& k : kKinds) {
    if (k.opcode == opcode) return k.op;
  }
  return "xla::loop";
}

bool IsDot(const Instruction& i) {
  return (i.opcode == "dot" || i.opcode == "ragged-dot" || i.opcode == "scaled-dot") &&
         i.operands.size() >= 2;
}

bool MovesOnly(absl::string_view opcode) {
  static constexpr absl::string_view kMoves[] = {
      "copy",    "copy-start",       "concatenate",   "slice",
      "pad",     "reshape",          "dynamic-slice", "dynamic-update-slice",
      "gather",  "broadcast",        "transpose",     "iota",
      "reverse", "bitcast",          "parameter",     "constant",
      "tuple",   "get-tuple-element"};
  return std::find(std::begin(kMoves), std::end(kMoves), opcode) != std::end(kMoves);
}

// The number after "key" in a configuration, written as a number or as text; -1: there is none.
int64_t NumberAfter(absl::string_view config, absl::string_view key) {
  const size_t at = config.find(absl::StrCat("\"", key, "\""));
  if (at == config.npos) return -1;
  config.remove_prefix(at + key.size() + 2);
  while (!config.empty() && absl::StrContains(": \"", config[0])) config.remove_prefix(1);
  int64_t n = -1;
  return absl::SimpleAtoi(config.substr(0, config.find_first_not_of("0123456789")), &n) ? n : -1;
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
  // Operations of one instruction inside a fusion, where it reads and writes no memory.
  double InnerOperations(const Computation& inner, const Instruction& i);
  double Touched(const Computation& inner, uint32_t parameter, int depth) const;
  double Written(const Computation& inner) const;
  void ReadFusion(const Instruction& i, Facts* f);
  void ReadLibrary(const Instruction& i, Facts* f) const;
  bool ReadLibraryProduct(const Instruction& i, Facts* f) const;
  bool ReadFusedAttention(const Instruction& i, Facts* f) const;
  void ReadConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i,
                       Facts* f) const;
  void ReadGemm(const Gemm& g, Facts* f) const;
  void ReadPlain(const Instruction& i, Facts* f) const;
  void ReadHostCopy(const Instruction& i, Facts* f) const;
  double OperandBytes(const Instruction& i) const;

  const Module& m_;
  const Computation& c_;
  absl::flat_hash_map<uint32_t, double> nested_;  // operations of nested fusions, by computation
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

double FactsReader::InnerOperations(const Computation& inner, const Instruction& i) {
  const auto shape = [&](size_t n) -> const Shape& { return inner.instructions[i.operands[n]].shape; };
  if (MovesOnly(i.opcode) || i.opcode == "after-all" || IsCollective(i.opcode)) return 0;
  if (IsDot(i)) return GemmOf(shape(0), shape(1), i.dot).operations();
  if (i.opcode == "convolution" && i.operands.size() >= 2)
    return ConvolutionOperations(shape(0), shape(1), i.shape, i);
  if (i.opcode == "fusion" && !i.calls.empty()) {
    const auto [it, fresh] = nested_.try_emplace(i.calls[0], 0);
    if (!fresh) return it->second;
    double sum = 0;
    for (const Instruction& part : m_.computations[i.calls[0]].instructions)
      sum += InnerOperations(m_.computations[i.calls[0]], part);
    return nested_[i.calls[0]] = sum;
  }
  if (absl::StartsWith(i.opcode, "reduce") && !i.operands.empty())
    return static_cast<double>(ElementsOf(shape(0)));
  return static_cast<double>(ElementsOf(i.shape));
}

// Bytes of a parameter that a fusion reads: all, unless the parameter is only sliced or updated in place.
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
      continue;  // the other elements are not touched
    } else if (user.opcode == "bitcast" && depth < 8) {
      sum += Touched(inner, row, depth + 1);
    } else {
      return whole;
    }
  }
  return used ? std::min(sum, whole) : 0;
}

// Bytes that a fusion writes: its result; for an update in place, only the updated elements.
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

// Reads a convolution: forward, or a gradient that XLA writes as a forward convolution. x, w and out have the
// dimensions of `i`.
void FactsReader::ReadConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i,
                                  Facts* f) const {
  Gemm gemm;
  if (ProductOfConvolution(x, w, out, i, &gemm)) {
    ReadGemm(gemm, f);
    f->operations = Bounded(gemm.operations());
    return;
  }
  f->op = "xla::convolution";
  std::vector<int64_t> input = {Bounded(SizeAt(x, i.conv.input_batch)),
                                Bounded(SizeAt(x, i.conv.input_feature))};
  std::vector<int64_t> kernel = {Bounded(SizeAt(w, i.conv.kernel_output)),
                                 Bounded(SizeAt(w, i.conv.kernel_input))};
  for (const int64_t d : i.conv.input_spatial) input.push_back(Bounded(SizeAt(x, d)));
  for (const int64_t d : i.conv.kernel_spatial) kernel.push_back(Bounded(SizeAt(w, d)));
  SetOperands({absl::StrCat("[", absl::StrJoin(input, ", "), "]"),
               absl::StrCat("[", absl::StrJoin(kernel, ", "), "]")},
              {TypeText(x.type), TypeText(w.type)}, f);
  f->operations = Bounded(ConvolutionOperations(x, w, out, i));
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

void FactsReader::ReadFusion(const Instruction& i, Facts* f) {
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
    const bool is_product = IsDot(part) || (part.opcode == "convolution" && part.operands.size() >= 2);
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
  if (product->opcode != "convolution") {
    ReadGemm(GemmOf(lhs, rhs, product->dot), f);
  } else {
    ReadConvolution(lhs, rhs, product->shape, *product, f);
    f->operations = Bounded(operations);
  }
}

bool FactsReader::ReadFusedAttention(const Instruction& i, Facts* f) const {
  std::vector<const Shape*> operands;
  for (size_t n = 0; n < i.operands.size(); ++n) operands.push_back(&OperandShape(i, n));
  Attention a;
  if (!ReadAttention(i, operands, &a)) return false;
  f->op = a.backward ? "xla::attention_backward" : "xla::attention";
  const std::string query = Sizes({a.batch, a.queries, a.heads, a.width}),
                    key = Sizes({a.batch, a.keys, a.kv_heads, a.width}), type = TypeText(a.type);
  if (a.backward) {
    SetOperands({query, query, key, key}, {type, type, type, type}, f);
  } else {
    SetOperands({query, key, key}, {type, type, type}, f);
  }
  f->operations = Bounded(a.operations);
  return true;
}

// Reads the GEMM of a library, or a GEMM that XLA writes as a custom call.
bool FactsReader::ReadLibraryProduct(const Instruction& i, Facts* f) const {
  if (i.operands.size() < 2) return false;
  const Shape &lhs = OperandShape(i, 0), &rhs = OperandShape(i, 1);
  const auto rank = static_cast<int64_t>(lhs.dims.size());
  DotDims dims;
  // block_scaled_dot is [batch, m, k] x [batch, n, k]; oneDNN's matmul is that, or [batch, m, k] x [batch, k,
  // n].
  const bool scaled = absl::StrContains(i.target, "block_scaled_dot"),
             onednn = absl::StrContains(i.target, "__onednn$matmul");
  if ((scaled || onednn) && rank >= 2 && rhs.dims.size() == lhs.dims.size()) {
    for (int64_t d = 0; d < rank - 2; ++d) dims.lhs_batch.push_back(d);
    dims.rhs_batch = dims.lhs_batch;
    dims.lhs_contracting = {rank - 1};
    dims.rhs_contracting = {scaled || SizeAt(rhs, rank - 2) != SizeAt(lhs, rank - 1) ? rank - 1 : rank - 2};
  } else if (!DotDimsOfConfig(i.backend_config, &dims)) {
    return false;
  }
  ReadGemm(GemmOf(lhs, rhs, dims), f);
  return true;
}

void FactsReader::ReadLibrary(const Instruction& i, Facts* f) const {
  // The last result of a library's call may be its workspace, whose size says nothing about the work.
  const bool works = i.shape.tuple() && i.shape.parts.size() > 1 &&
                     (absl::StartsWith(i.target, "__cu") || absl::StartsWith(i.target, "te_")) &&
                     (i.shape.parts.back().type == "s8" || i.shape.parts.back().type == "u8") &&
                     i.shape.parts.back().dims.size() == 1;
  const double idle = works ? static_cast<double>(BytesOf(i.shape.parts.back())) : 0;
  f->bytes = Bounded(OperandBytes(i) + static_cast<double>(BytesOf(i.shape)) - idle);
  f->op = "xla::custom-call";
  if (ReadLibraryProduct(i, f)) return;
  const Shape& out = i.shape.tuple() && !i.shape.parts.empty() ? i.shape.parts[0] : i.shape;
  if (i.operands.size() >= 2 && absl::StrContains(i.target, "$conv")) {
    const Shape &a = OperandShape(i, 0), &b = OperandShape(i, 1);
    if (absl::StrContains(i.target, "BackwardFilter")) {
      // The result has the dimensions of the filter, and the second operand those of the output.
      ReadConvolution(a, out, b, i, f);
    } else if (absl::StrContains(i.target, "BackwardInput")) {
      ReadConvolution(out, b, a, i, f);
    } else {
      ReadConvolution(a, b, out, i, f);
    }
    return;
  }
  if (ReadFusedAttention(i, f)) return;
  if (absl::StrContains(absl::AsciiStrToLower(i.target), "topk")) {
    f->op = "xla::sort";
    return;
  }
  // The estimate that the author of a kernel gives (Pallas).
  if (const size_t said = i.backend_config.find("\"cost_estimate\""); said != std::string::npos) {
    const absl::string_view estimate = absl::string_view(i.backend_config).substr(said);
    const int64_t operations = NumberAfter(estimate, "flops"),
                  bytes = NumberAfter(estimate, "bytes_accessed");
    f->operations = std::max<int64_t>(0, operations);
    if (bytes >= 0) f->bytes = bytes;
    if (operations >= 0 || bytes >= 0) return;
  }
  f->unknown = true;
}

// Recognizes a copy, or a fusion that only moves data, between the host's and the device's memory.
void FactsReader::ReadHostCopy(const Instruction& i, Facts* f) const {
  const bool moves = i.opcode == "copy" || i.opcode == "copy-start" || i.opcode == "dynamic-slice" ||
                     i.opcode == "dynamic-update-slice" || i.opcode == "slice" ||
                     (i.opcode == "fusion" && f->operations == 0);
  if (!moves || i.operands.empty()) return;
  // copy-start returns (target, source, ...). The first operand of an update in place is its target, so one
  // operand in the other memory is enough.
  const Shape& target = i.shape.tuple() && !i.shape.parts.empty() ? i.shape.parts[0] : i.shape;
  bool reads = false, reads_own = false;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    if (BytesOf(OperandShape(i, n)) <= 8) continue;  // indices into the arrays
    (OperandShape(i, n).host ? reads : reads_own) = true;
  }
  if (target.host ? !reads_own : !reads) return;
  f->host = target.host ? HostCopy::kToHost : HostCopy::kFromHost;
  f->bytes = i.opcode == "copy-start" || i.opcode == "copy" ? BytesOf(target) : f->bytes / 2;
}

Facts FactsReader::Read(uint32_t row) {
  const Instruction& i = At(row);
  Facts f;
  ReadPlain(i, &f);
  const double result = static_cast<double>(BytesOf(i.shape));
  const auto operand = [&](size_t n) { return static_cast<double>(BytesOf(OperandShape(i, n))); };
  if (i.opcode == "fusion") {
    ReadFusion(i, &f);
    ReadHostCopy(i, &f);
    return f;
  }
  if (i.opcode == "custom-call") {
    ReadLibrary(i, &f);
    return f;
  }
  f.bytes = Bounded(OperandBytes(i) + result);
  f.operations = MovesOnly(i.opcode) ? 0 : Bounded(InnerOperations(c_, i));
  if (IsDot(i)) {
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
  ReadHostCopy(i, &f);
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

bool Computes(const Instruction& i) {
  return !MovesOnly(i.opcode) && !IsCollective(i.opcode) && Runs(i) && ElementsOf(i.shape) > 1;
}

Facts FactsOf(const Module& module, uint32_t computation, uint32_t row) {
  return FactsReader(module, computation).Read(row);
}

}  // namespace chakra::hlo
