#include "trace/import/comm/comm_operators.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "trace/base/glob.h"
#include "trace/import/comm/comm_kernels.h"

namespace chakra::pytorch {
namespace {

struct OperatorRow {
  absl::string_view pattern;
  bool whole;      // every kernel that it launches communicates; if false, only kernels with such names
  int input = -1;  // see CommOperator
  int output = -1;
};

// Prefixes of annotations by the backends of process groups; the rest of the name is the kind.
constexpr absl::string_view kBackends[] = {
    "nccl:", "rccl:", "xccl:", "hccl:", "gloo:", "ucc:", "mpi:", "ccl:"};

// The first row that matches counts; '*' matches any text. The kind is in the name.
// To add an operator, add a row. An operator that sends its first tensor needs no argument numbers.
constexpr OperatorRow kOperatorRows[] = {
    // torch.distributed: outputs come first, if there are any.
    {"c10d::*allgather*", true, 1, 0},
    {"c10d::*reduce_scatter*", true, 1, 0},
    {"c10d::gather_", true, 1, 0},
    {"c10d::scatter_", true, 1, 0},
    {"c10d::alltoall*", true, 1, 0},
    {"c10d::*", true, 0},
    {"_c10d_functional*::*", true},
    {"c10d_functional::*", true},
    // Symmetric memory. Fused operators compute too.
    {"symm_mem::*fused*", false},
    {"symm_mem::*_copy*", true, 1},
    {"symm_mem::*", true},
    // Inference engines.
    {"_C_custom_ar::*all_reduce*", true},
    {"_C_custom_ar::*allreduce*", true},
    {"vllm::*all_reduce*", false},
    {"vllm::*allreduce*", false},
    {"vllm::all_gather", false},
    {"vllm::reduce_scatter", false},
    {"sgl_kernel::*all_reduce*", true},
    {"sgl_kernel::*allreduce*", true},
    {"sglang::*all_reduce*", false},
    {"sglang::*allreduce*", false},
    {"sglang::*all_gather*", false},
    {"sglang::*reduce_scatter*", false},
    {"aiter::*all_reduce*", false},
    {"aiter::*allreduce*", false},
    {"aiter::*all_gather*", false},
    {"aiter::*reduce_scatter*", false},
    {"trtllm::*allreduce*", false},
    {"trtllm::allgather*", false},
    {"trtllm::reducescatter*", false},
    {"trtllm::alltoall*", false},
    {"flashinfer::*allreduce*", false},
    {"fbgemm::*all_reduce*", false},
};

// Finds the kind in the name of a custom operator: "inplace_all_reduce",
// "flashinfer_allreduce_residual_rmsnorm".
CommOp KindInName(absl::string_view name) {
  if (const size_t colon = name.rfind(':'); colon != name.npos) name.remove_prefix(colon + 1);
  if (const CommOp op = ParseCommOp(name); op != CommOp::kUnknown) return op;
  std::string letters;
  std::vector<bool> begins;  // by letter: whether a word begins there ("small_reduce" has no "all")
  bool inside = false;
  for (const char c : name) {
    const bool letter = absl::ascii_isalpha(static_cast<unsigned char>(c));
    if (letter) letters += absl::ascii_tolower(static_cast<unsigned char>(c));
    if (letter) begins.push_back(!inside);
    inside = letter;
  }
  static constexpr std::pair<absl::string_view, CommOp> kWords[] = {
      {"allreducebarrier", CommOp::kBarrier}, {"reducescatter", CommOp::kReduceScatter},
      {"allreduce", CommOp::kAllReduce},      {"allgather", CommOp::kAllGather},
      {"alltoall", CommOp::kAllToAll},        {"multimemoneshotreduceout", CommOp::kReduce},
      {"barrier", CommOp::kBarrier}};
  for (const auto& [word, op] : kWords) {
    for (size_t at = 0; (at = letters.find(word.data(), at, word.size())) != letters.npos; ++at) {
      if (begins[at]) return op;
    }
  }
  return CommOp::kUnknown;
}

// Reads "0->1" or "1<-0" after the last blank.
void ReadPeer(absl::string_view name, CommOperator* out) {
  const size_t blank = name.rfind(' ');
  if (blank == name.npos) return;
  const absl::string_view text = name.substr(blank + 1);
  const size_t arrow = std::min(text.find("->"), text.find("<-"));
  int64_t rank = 0, peer = 0;
  if (arrow == text.npos || !absl::SimpleAtoi(text.substr(0, arrow), &rank) ||
      !absl::SimpleAtoi(text.substr(arrow + 2), &peer) || rank < 0 || peer < 0)
    return;
  out->rank = rank;
  out->peer = peer;
}

// The items of a JSON list at its top level; empty for any other text.
std::vector<absl::string_view> ListParts(absl::string_view text) {
  std::vector<absl::string_view> parts;
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return parts;
  text = absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
  if (text.empty()) return parts;
  int depth = 0;
  bool quoted = false;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != ',' || depth > 0) continue;
    parts.push_back(absl::StripAsciiWhitespace(text.substr(from, i - from)));
    from = i + 1;
  }
  parts.push_back(absl::StripAsciiWhitespace(text.substr(from)));
  return parts;
}

// Number of elements of one argument: "[8, 1024]" is a tensor, "[[8], [4]]" a list of tensors, "[]" a tensor
// of one element. kNone for any other text, and for more than 2^48.
int64_t Elements(absl::string_view shape, int depth = 0) {
  const std::vector<absl::string_view> parts = ListParts(shape);
  if (parts.empty()) return shape == "[]" ? 1 : kNone;
  constexpr int64_t kMost = int64_t{1} << 48;
  const bool list = parts[0].front() == '[';
  if (list && depth > 2) return kNone;
  int64_t total = list ? 0 : 1;
  for (const absl::string_view part : parts) {
    int64_t n = 0;
    if (part.empty()) return kNone;
    if (list) {
      n = Elements(part, depth + 1);
      if (n == kNone || n > kMost - total) return kNone;
      total += n;
    } else {
      if (!absl::SimpleAtoi(part, &n) || n < 0 || (n > 0 && total > kMost / n)) return kNone;
      total *= n;
    }
  }
  return total;
}

absl::string_view Unquoted(absl::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return "";
  return text.substr(1, text.size() - 2);
}

struct Arguments {
  std::vector<absl::string_view> shapes, types;
  absl::string_view type(size_t i) const { return i < types.size() ? Unquoted(types[i]) : ""; }
  bool tensor(size_t i) const { return ItemSize(type(i)) > 0 || absl::StartsWith(type(i), "TensorList"); }
};

// Elements and bytes of argument `i`; kNone: not known.
void Measure(const Arguments& args, size_t i, int64_t* elements, int64_t* bytes) {
  *elements = *bytes = kNone;
  if (i >= args.shapes.size() || !args.tensor(i)) return;
  *elements = Elements(args.shapes[i]);
  const int64_t item = ItemSize(args.type(i));
  if (*elements >= 0 && item > 0) *bytes = *elements * item;
}

// Sums all arguments: an annotation of a process group lists the tensors that its rank sends.
void MeasureAll(const Arguments& args, CommCall* call) {
  int64_t elements = 0, bytes = 0;
  bool any = false;
  for (size_t i = 0; i < args.shapes.size(); ++i) {
    if (!args.tensor(i)) continue;
    int64_t e = 0, b = 0;
    Measure(args, i, &e, &b);
    if (e == kNone || b == kNone) return;
    if (!any) call->dtype = std::string(args.type(i));
    any = true;
    elements += e;
    bytes += b;
  }
  if (!any) return;
  call->in_elems = elements;
  call->in_bytes = bytes;
}

}  // namespace

bool ReadCommOperator(absl::string_view name, CommOperator* out) {
  *out = CommOperator();
  for (const absl::string_view backend : kBackends) {
    if (!absl::StartsWith(name, backend)) continue;
    out->annotation = out->whole = true;
    out->op = KindInName(name);
    out->closes = out->op == CommOp::kCoalesced || absl::EndsWithIgnoreCase(name, "_coalesced");
    ReadPeer(name, out);
    return out->op != CommOp::kWait && out->op != CommOp::kInit;
  }
  if (!absl::StrContains(name, "::")) return false;
  for (const OperatorRow& row : kOperatorRows) {
    if (!MatchesGlob(row.pattern, name)) continue;
    out->op = KindInName(name);
    out->whole = row.whole;
    out->input = row.input;
    out->output = row.output;
    return out->op != CommOp::kUnknown && out->op != CommOp::kWait && out->op != CommOp::kInit;
  }
  return false;
}

void ReadOperatorCall(const CommOperator& op, absl::string_view shapes, absl::string_view types,
                      CommCall* call) {
  call->op = op.op;
  if (op.op == CommOp::kSend || op.op == CommOp::kRecv) {
    call->p2p = true;
    call->root = op.peer;
  }
  call->rank = op.rank;
  const Arguments args = {ListParts(shapes), ListParts(types)};
  if (op.annotation) return MeasureAll(args, call);
  size_t input = static_cast<size_t>(std::max(0, op.input));
  while (op.input < 0 && input < args.shapes.size() && !args.tensor(input)) ++input;
  Measure(args, input, &call->in_elems, &call->in_bytes);
  if (call->in_bytes >= 0) call->dtype = std::string(args.type(input));
  if (op.output >= 0) Measure(args, static_cast<size_t>(op.output), &call->out_elems, &call->out_bytes);
}

}  // namespace chakra::pytorch
