#include "trace/import/rocprof/rccl.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::rocprof {
namespace {

using pytorch::CommCall;
using pytorch::CommOp;

// ncclDataType_t of nccl.h, in its order, as names that pytorch::ItemSize() knows.
constexpr absl::string_view kRcclTypes[] = {"int8",    "uint8",    "int32",         "uint32",
                                            "int64",   "uint64",   "float16",       "float32",
                                            "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"};

absl::string_view TypeOfText(absl::string_view text) {
  int number = -1;
  if (absl::SimpleAtoi(text, &number))
    return number >= 0 && number < static_cast<int>(std::size(kRcclTypes)) ? kRcclTypes[number] : "";
  std::string lower = absl::AsciiStrToLower(absl::StripPrefix(text, "nccl"));
  if (absl::StartsWith(lower, "fp8") || absl::StartsWith(lower, "float8"))
    return absl::StrContains(lower, "e5m2") ? "float8_e5m2" : "float8_e4m3fn";
  for (const absl::string_view type : kRcclTypes) {
    if (type == lower) return type;
  }
  if (lower == "half") return "float16";
  if (lower == "float") return "float32";
  if (lower == "double") return "float64";
  if (lower == "char") return "int8";
  if (lower == "int") return "int32";
  return "";
}

// The number of an argument, the first of `names` that has one; kUnknown: there is none.
int64_t NumberOf(const Arguments& args, std::initializer_list<absl::string_view> names) {
  for (const absl::string_view name : names) {
    const auto it = args.find(name);
    int64_t n = 0;
    if (it != args.end() && absl::SimpleAtoi(it->second, &n) && n >= 0) return n;
  }
  return kUnknown;
}

std::string TextOf(const Arguments& args, absl::string_view name) {
  const auto it = args.find(name);
  return it == args.end() ? "" : it->second;
}

// A communicator is known by its address, which other captures write as a decimal number.
std::string CommOf(const Arguments& args, absl::string_view key) {
  std::string text = TextOf(args, key);
  uint64_t address = 0;
  if (absl::StartsWith(text, "0x") && absl::SimpleHexAtoi(text, &address)) return absl::StrCat(address);
  return text;
}

CommOp OpOf(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "nccl")) return CommOp::kUnknown;
  if (name == "Bcast") return CommOp::kBroadcast;
  const CommOp op = pytorch::ParseCommOp(name);
  return op == CommOp::kWait || op == CommOp::kInit || op == CommOp::kCoalesced ? CommOp::kUnknown : op;
}

}  // namespace

bool MovesData(absl::string_view name) { return OpOf(name) != CommOp::kUnknown; }

void AddCommunicator(absl::string_view name, const Arguments& args, Communicators* known) {
  if (!absl::StartsWith(name, "ncclCommInitRank")) return;
  for (const absl::string_view key : {"comm", "newcomm"}) {
    const std::string comm = CommOf(args, key);
    if (!comm.empty())
      (*known)[comm] = {NumberOf(args, {"nranks", "nRanks", "ndev"}), NumberOf(args, {"rank", "myrank"})};
  }
}

CommCall ReadRcclCall(absl::string_view name, const Arguments* args, const Communicators& known) {
  CommCall call;
  call.name = std::string(name);
  call.op = OpOf(name);
  call.library = "RCCL";
  if (args == nullptr) return call;
  call.group = CommOf(*args, "comm");
  if (const auto comm = known.find(call.group); comm != known.end()) {
    call.group_size = comm->second.size;
    call.rank = comm->second.rank;
  }
  call.dtype = std::string(TypeOfText(TextOf(*args, "datatype")));
  call.root = NumberOf(*args, {"root", "peer"});
  const int64_t count = NumberOf(*args, {"count", "sendcount", "recvcount"});
  const int item = pytorch::ItemSize(call.dtype);
  if (count < 0 || item == 0 || count > (int64_t{1} << 58) / item) return call;
  const bool of_each_peer = call.op == CommOp::kAllToAll || call.op == CommOp::kScatter;
  if (call.op == CommOp::kReduceScatter) {
    call.out_elems = count;
    call.out_bytes = count * item;
  } else if (!of_each_peer) {
    call.in_elems = count;
    call.in_bytes = count * item;
  } else if (call.group_size > 0 && call.group_size <= (1 << 22) && count * item < (int64_t{1} << 40)) {
    call.in_elems = count * call.group_size;
    call.in_bytes = call.in_elems * item;
  }
  return call;
}

}  // namespace chakra::rocprof
