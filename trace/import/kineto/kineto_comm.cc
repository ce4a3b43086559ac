#include "trace/import/kineto/kineto_comm.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch::kineto {
namespace {

class CommReader {
 public:
  CommReader(const EventTokens& event, Notes* notes) : event_(event), notes_(notes) {}

  std::string Text(Arg arg) {
    absl::string_view text;
    uint64_t bad = 0;
    if (!event_.has(arg)) return "";
    if (ToText(event_.arg(arg), &scratch_, &text, &bad)) return std::string(text);
    return std::string(event_.arg(arg));  // a number, where other files have a text
  }
  int64_t Integer(Arg arg) {
    int64_t v = kNone;
    if (event_.has(arg) && !ToInteger(event_.arg(arg), &v)) Wrong(arg, "an integer");
    return v;
  }
  // The list is empty, and `cut` is set, if the file has only a part of it.
  std::vector<int64_t> Integers(Arg arg, bool* cut) {
    std::vector<int64_t> list;
    *cut = false;
    if (event_.has(arg) && !ToIntegers(event_.arg(arg), &list, cut)) {
      list.clear();
      Wrong(arg, "a list of integers");
    }
    if (*cut) list.clear();
    return list;
  }
  std::vector<int64_t> Split(Arg arg) {
    bool cut;
    std::vector<int64_t> list = Integers(arg, &cut);
    if (cut) {
      notes_->Count(
          "kineto_split_cut", event_.index,
          absl::StrCat("event ", event_.index, ": split sizes ", event_.arg(arg), " are not whole"));
    }
    return list;
  }
  void Wrong(Arg arg, absl::string_view expected) {
    notes_->Count("kineto_bad_argument", event_.index,
                  absl::StrCat("event ", event_.index, " ", event_.name, ": ", event_.arg(arg).substr(0, 40),
                               " is not ", expected, "; left out"));
  }

 private:
  const EventTokens& event_;
  Notes* notes_;
  std::string scratch_;
};

void ReadGroup(const EventTokens& event, CommReader* in, CommCall* c) {
  c->group = event.has(Arg::kGroupName) ? in->Text(Arg::kGroupName) : in->Text(Arg::kGroupId);
  c->group_desc = in->Text(Arg::kGroupDesc);
  c->group_size = in->Integer(Arg::kGroupSize);
  c->start = in->Integer(Arg::kRankStart);
  c->stride = in->Integer(Arg::kRankStride);
  for (const int64_t rank : in->Integers(Arg::kGroupRanks, &c->ranks_cut)) {
    if (rank < 0 || rank > std::numeric_limits<int>::max()) {
      c->ranks.clear();
      in->Wrong(Arg::kGroupRanks, "a list of ranks");
      return;
    }
    c->ranks.push_back(static_cast<int>(rank));
  }
}

// PyTorch writes the peer of a send or receive as a global rank ("Src Rank", "Dst Rank"), but a root as a
// rank of the group ("Rank", which for other calls is the caller's rank).
void ReadRoot(const EventTokens& event, CommReader* in, CommCall* c) {
  const bool p2p = c->op == CommOp::kSend || c->op == CommOp::kRecv;
  const Arg peer = c->op == CommOp::kRecv || !event.has(Arg::kDstRank) ? Arg::kSrcRank : Arg::kDstRank;
  c->p2p = p2p;
  if (event.has(peer) && (p2p || c->op == CommOp::kUnknown || c->op == CommOp::kCoalesced)) {
    c->p2p = true;
    c->root = in->Integer(peer);
    c->root_is_global = c->root != kNone;
  } else if (p2p || c->op == CommOp::kBroadcast || c->op == CommOp::kReduce || c->op == CommOp::kGather ||
             c->op == CommOp::kScatter) {
    c->root = in->Integer(Arg::kRank);
  }
}

int64_t Bytes(int64_t elems, int64_t item) {
  int64_t bytes;
  if (elems < 0 || item == 0 || __builtin_mul_overflow(elems, item, &bytes)) return kNone;
  return bytes;
}

}  // namespace

CommCall ReadComm(const EventTokens& event, Notes* notes) {
  CommReader in(event, notes);
  CommCall c;
  c.name = in.Text(Arg::kCollective);
  c.op = ParseCommOp(c.name);
  ReadGroup(event, &in, &c);
  ReadRoot(event, &in, &c);
  c.seq = in.Integer(Arg::kCommSeq);
  c.dtype = in.Text(Arg::kDtype);
  c.in_elems = in.Integer(Arg::kInElems);
  c.out_elems = in.Integer(Arg::kOutElems);
  c.in_bytes = Bytes(c.in_elems, ItemSize(c.dtype));
  c.out_bytes = Bytes(c.out_elems, ItemSize(c.dtype));
  c.in_split = in.Split(Arg::kInSplit);
  c.out_split = in.Split(Arg::kOutSplit);
  return c;
}

}  // namespace chakra::pytorch::kineto
