#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {
namespace {

struct OpWord {
  absl::string_view word;
  CommOp op;
};

// A word that is the begin of another word must come after it.
constexpr OpWord kOps[] = {
    {"allreduce", CommOp::kAllReduce},
    {"allgather", CommOp::kAllGather},
    {"alltoall", CommOp::kAllToAll},
    {"reducescatter", CommOp::kReduceScatter},
    {"reduce", CommOp::kReduce},
    {"gather", CommOp::kGather},
    {"scatter", CommOp::kScatter},
    {"broadcast", CommOp::kBroadcast},
    {"monitoredbarrier", CommOp::kBarrier},
    {"barrier", CommOp::kBarrier},
    {"isend", CommOp::kSend},
    {"send", CommOp::kSend},
    {"irecv", CommOp::kRecv},
    {"recvanysource", CommOp::kRecv},
    {"recv", CommOp::kRecv},
    {"waittensor", CommOp::kWait},
    {"wait", CommOp::kWait},
    {"init", CommOp::kInit},
    {"coalesced", CommOp::kCoalesced},
};

// Suffixes that do not change the kind of the call.
constexpr absl::string_view kTails[] = {"oop",  "base",   "coalesced", "into",    "tensor", "v",
                                        "list", "single", "sparse",    "inplace", "out"};

struct TypeSize {
  absl::string_view name;
  int bytes;
};

// Names of c10::ScalarType, caffe2::TypeMeta, numpy and HCCL, in lower case.
constexpr TypeSize kTypes[] = {
    {"float", 4},
    {"double", 8},
    {"half", 2},
    {"bfloat16", 2},
    {"byte", 1},
    {"char", 1},
    {"short", 2},
    {"int", 4},
    {"long", 8},
    {"bool", 1},
    {"long int", 8},
    {"long long", 8},
    {"long long int", 8},
    {"short int", 2},
    {"signed char", 1},
    {"unsigned char", 1},
    {"unsigned short", 2},
    {"unsigned short int", 2},
    {"unsigned int", 4},
    {"unsigned long", 8},
    {"unsigned long int", 8},
    {"fp16", 2},
    {"bfp16", 2},
    {"fp32", 4},
    {"fp64", 8},
    {"float16", 2},
    {"float32", 4},
    {"float64", 8},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"complexhalf", 4},
    {"complexfloat", 8},
    {"complexdouble", 16},
    {"complex32", 4},
    {"complex64", 8},
    {"complex128", 16},
    {"complex<half>", 4},
    {"complex<float>", 8},
    {"complex<double>", 16},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"quint4x2", 1},
    {"quint2x4", 1},
    {"bits1x8", 1},
    {"bits2x4", 1},
    {"bits4x2", 1},
    {"bits8", 1},
    {"bits16", 2},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e5m2fnuz", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e8m0fnu", 1},
    {"float4_e2m1fn_x2", 1},
};

bool OnlyTails(absl::string_view rest) {
  while (!rest.empty()) {
    const auto* tail = std::find_if(std::begin(kTails), std::end(kTails),
                                    [&](absl::string_view t) { return absl::StartsWith(rest, t); });
    if (tail == std::end(kTails)) return false;
    rest.remove_prefix(tail->size());
  }
  return true;
}

}  // namespace

CommOp ParseCommOp(absl::string_view name) {
  const size_t colon = name.rfind(':');  // drops "nccl:", "c10d::", "_c10d_functional::"
  if (colon != absl::string_view::npos) name.remove_prefix(colon + 1);
  std::string letters;
  for (const char c : name) {
    if (absl::ascii_isalpha(static_cast<unsigned char>(c))) {
      letters += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
  }
  for (const OpWord& o : kOps) {
    absl::string_view rest = letters;
    if (absl::ConsumePrefix(&rest, o.word) && OnlyTails(rest)) return o.op;
  }
  return CommOp::kUnknown;
}

absl::string_view Name(CommOp op) {
  switch (op) {
    case CommOp::kAllReduce:
      return "all_reduce";
    case CommOp::kReduce:
      return "reduce";
    case CommOp::kAllGather:
      return "all_gather";
    case CommOp::kGather:
      return "gather";
    case CommOp::kScatter:
      return "scatter";
    case CommOp::kBroadcast:
      return "broadcast";
    case CommOp::kAllToAll:
      return "all_to_all";
    case CommOp::kReduceScatter:
      return "reduce_scatter";
    case CommOp::kBarrier:
      return "barrier";
    case CommOp::kSend:
      return "send";
    case CommOp::kRecv:
      return "recv";
    case CommOp::kWait:
      return "wait";
    case CommOp::kInit:
      return "init";
    case CommOp::kCoalesced:
      return "coalesced";
    case CommOp::kUnknown:
      break;
  }
  return "unknown";
}

bool ToCollective(CommOp op, CollectiveType* out) {
  static constexpr std::pair<CommOp, CollectiveType> kTypes[] = {
      {CommOp::kAllReduce, CollectiveType::kAllReduce},
      {CommOp::kReduce, CollectiveType::kReduce},
      {CommOp::kAllGather, CollectiveType::kAllGather},
      {CommOp::kGather, CollectiveType::kGather},
      {CommOp::kScatter, CollectiveType::kScatter},
      {CommOp::kBroadcast, CollectiveType::kBroadcast},
      {CommOp::kAllToAll, CollectiveType::kAllToAll},
      {CommOp::kReduceScatter, CollectiveType::kReduceScatter},
      {CommOp::kBarrier, CollectiveType::kBarrier}};
  for (const auto& [from, to] : kTypes) {
    if (from == op) {
      *out = to;
      return true;
    }
  }
  return false;
}

int ItemSize(absl::string_view dtype) {
  std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(dtype));
  for (const absl::string_view space :
       {"c10::", "at::", "torch."}) {  // also inside "c10::complex<c10::Half>"
    for (size_t at = lower.find(space.data(), 0, space.size()); at != std::string::npos;
         at = lower.find(space.data(), at, space.size())) {
      lower.erase(at, space.size());
    }
  }
  for (const TypeSize& t : kTypes) {
    if (t.name == lower) return t.bytes;
  }
  return 0;
}

bool MovesData(CommOp op) {
  return op != CommOp::kWait && op != CommOp::kInit && op != CommOp::kUnknown && op != CommOp::kCoalesced;
}

void MergeCall(const CommCall& from, CommCall* to) {
  // A SendRecv kernel may carry any operation: the call has its kind.
  if (to->op == CommOp::kUnknown || (MovesData(from.op) && !MovesData(to->op))) to->op = from.op;
  if (to->name.empty()) to->name = from.name;
  if (to->group.empty()) to->group = from.group;
  if (to->group_desc.empty()) to->group_desc = from.group_desc;
  if (to->ranks.empty() || (to->ranks_cut && !from.ranks_cut && !from.ranks.empty())) {
    to->ranks = from.ranks;
    to->ranks_cut = from.ranks_cut;
  }
  if (to->group_size < 0) to->group_size = from.group_size;
  if (to->start < 0) to->start = from.start;
  if (to->stride < 0) to->stride = from.stride;
  if (to->seq < 0) to->seq = from.seq;
  to->p2p = to->p2p || from.p2p;
  if (to->root < 0) {
    to->root = from.root;
    to->root_is_global = from.root_is_global;
  }
  if (to->in_elems < 0) to->in_elems = from.in_elems;
  if (to->out_elems < 0) to->out_elems = from.out_elems;
  if (to->in_bytes < 0) to->in_bytes = from.in_bytes;
  if (to->out_bytes < 0) to->out_bytes = from.out_bytes;
  if (to->dtype.empty()) to->dtype = from.dtype;
  if (to->in_split.empty()) to->in_split = from.in_split;
  if (to->out_split.empty()) to->out_split = from.out_split;
  if (to->library.empty()) to->library = from.library;
}

}  // namespace chakra::pytorch
