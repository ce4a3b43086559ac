#include "trace/import/comm/comm_parts.h"

#include <algorithm>
#include <utility>

namespace chakra::pytorch {
namespace {

bool IsMessage(const CommCall& call) {
  return call.p2p || call.op == CommOp::kSend || call.op == CommOp::kRecv;
}

// Whether a call of kind `whole` may consist of calls of kind `part`.
bool MadeOf(CommOp whole, CommOp part) {
  return (whole == CommOp::kAllGather && part == CommOp::kBroadcast) ||
         (whole == CommOp::kReduceScatter && part == CommOp::kReduce);
}

int64_t Sum(int64_t a, int64_t b) { return a < 0 || b < 0 ? kNone : a + b; }

bool OfOneCall(const CommCall& a, const CommCall& b) {
  return a.op == b.op && a.group == b.group && a.group_desc == b.group_desc && a.ranks == b.ranks &&
         a.group_size == b.group_size && a.root == b.root && a.library == b.library &&
         a.own_group == b.own_group && a.kept == b.kept;
}

}  // namespace

std::vector<CommCall> MergeParts(std::vector<CommCall> calls, CommOp whole) {
  const bool made = !calls.empty() && std::all_of(calls.begin(), calls.end(),
                                                  [&](const CommCall& c) { return MadeOf(whole, c.op); });
  std::vector<CommCall> out;
  for (CommCall& call : calls) {
    if (made) {  // broadcasts have what each member sends to all, reductions what it gets
      call.op = whole;
      if (whole == CommOp::kAllGather) {
        if (call.out_bytes < 0) call.out_bytes = call.in_bytes;
        if (call.out_elems < 0) call.out_elems = call.in_elems;
        call.in_bytes = call.in_elems = kNone;
      } else {
        call.out_bytes = call.out_elems = kNone;
      }
      call.root = kNone;
    }
    const auto same =
        IsMessage(call)  // a batch may have thousands
            ? out.end()
            : std::find_if(out.begin(), out.end(), [&](const CommCall& o) { return OfOneCall(o, call); });
    if (same == out.end()) {
      out.push_back(std::move(call));
      continue;
    }
    for (int64_t CommCall::*size :
         {&CommCall::in_elems, &CommCall::out_elems, &CommCall::in_bytes, &CommCall::out_bytes})
      (*same).*size = Sum((*same).*size, call.*size);
    if (same->dtype != call.dtype) same->dtype.clear();
    same->in_split.clear();
    same->out_split.clear();
  }
  return out;
}

}  // namespace chakra::pytorch
