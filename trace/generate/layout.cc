#include "trace/generate/layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace chakra::generate {
namespace {

constexpr const char* kNames[kGroupKinds] = {"tp",  "cp",     "dp",      "ep",   "epnode", "eprail", "etp",
                                             "edp", "copies", "ecopies", "ends", "mp",     "world"};

}  // namespace

Place Layout::PlaceOf(int rank) const {
  Place p;
  int64_t rest = rank;
  p.tp = rest % split_.tp;
  rest /= split_.tp;
  p.cp = rest % split_.cp;
  rest /= split_.cp;
  p.dp = split_.pp_before_dp ? rest / split_.pp : rest % split_.dp;
  p.pp = split_.pp_before_dp ? rest % split_.pp : rest / split_.dp;
  return p;
}

int Layout::RankAt(const Place& p) const {
  const int64_t outer = split_.pp_before_dp ? p.pp + split_.pp * p.dp : p.dp + split_.dp * p.pp;
  return static_cast<int>(p.tp + split_.tp * (p.cp + split_.cp * outer));
}

int Layout::OnStage(int rank, int64_t stage) const {
  Place p = PlaceOf(rank);
  p.pp = stage;
  return RankAt(p);
}

int Layout::OfContext(int rank, int64_t by) const {
  Place p = PlaceOf(rank);
  p.cp = (p.cp + by + split_.cp) % split_.cp;
  return RankAt(p);
}

int Layout::OtherEnd(PeerKind kind, int64_t stage, int rank) const {
  if (kind == PeerKind::kStage) return OnStage(rank, stage);
  return OfContext(rank, kind == PeerKind::kNextContext ? 1 : -1);
}

int64_t Layout::GraphOf(int rank) const {
  return split_.roles.empty() ? PlaceOf(rank).pp : split_.roles[static_cast<size_t>(rank)];
}

int Layout::FirstOf(int64_t graph) const {
  if (split_.roles.empty()) return RankAt({0, 0, 0, graph});
  return static_cast<int>(std::find(split_.roles.begin(), split_.roles.end(), graph) - split_.roles.begin());
}

int64_t Layout::RanksOf(int64_t graph) const {
  if (split_.roles.empty()) return split_.stage_ranks();
  return std::count(split_.roles.begin(), split_.roles.end(), graph);
}

int Layout::SymmetricTo(int rank) const {
  if (!split_.roles.empty()) return FirstOf(GraphOf(rank));
  const Place p = PlaceOf(rank);
  return RankAt({0, split_.cp_kind == proto::Parallel::RING ? p.cp : 0, 0, p.pp});
}

int64_t Layout::SizeOf(GroupKind kind) const {
  switch (kind) {
    case GroupKind::kTensor:
      return split_.tp;
    case GroupKind::kContext:
      return split_.cp;
    case GroupKind::kData:
      return split_.sharers(false);
    case GroupKind::kExpert:
      return split_.ep;
    case GroupKind::kExpertNode:
      return split_.expert_node();
    case GroupKind::kExpertRail:
      return split_.ep / split_.expert_node();
    case GroupKind::kExpertTensor:
      return split_.etp;
    case GroupKind::kExpertData:
      return split_.sharers(true);
    case GroupKind::kCopies:
    case GroupKind::kExpertCopies:
      return split_.copies;
    case GroupKind::kEnds:
      return std::min<int64_t>(split_.pp, 2);
    case GroupKind::kModel:
      return split_.tp * split_.pp;
    case GroupKind::kWorld:
      return split_.ranks();
  }
  return 1;
}

int64_t Layout::InStage(int rank) const {
  const Place p = PlaceOf(rank);
  return p.tp + split_.tp * (p.cp + split_.cp * p.dp);
}

int Layout::FromStage(int64_t stage, int64_t in_stage) const {
  return RankAt(
      {in_stage % split_.tp, in_stage / split_.tp % split_.cp, in_stage / split_.tp / split_.cp, stage});
}

int64_t Layout::HolderStage(int64_t stage, int64_t i, int64_t of_stage) const {
  if (!split_.mirrored()) return stage;
  const int64_t near = std::min(stage, split_.pp - 1 - stage);
  return i < of_stage ? near : split_.pp - 1 - near;
}

int Layout::ExpertMember(int rank, int64_t i) const {
  const int64_t own = InStage(rank), all = split_.ep * split_.etp;
  return FromStage(PlaceOf(rank).pp, own / all * all + i * split_.etp + own % split_.etp);
}

int Layout::HolderOf(bool expert, int rank, int64_t i) const {
  Place p = PlaceOf(rank);
  if (expert) {
    const int64_t own = InStage(rank), all = split_.ep * split_.etp, dp = split_.expert_dp();
    return FromStage(HolderStage(p.pp, i, dp), own % all + i % dp * all);
  }
  p.pp = HolderStage(p.pp, i, split_.dp * split_.cp);
  p.cp = i % split_.cp;
  p.dp = i / split_.cp % split_.dp;
  return RankAt(p);
}

int Layout::Member(GroupKind kind, int rank, int64_t i) const {
  Place p = PlaceOf(rank);
  const int64_t own = InStage(rank), ep = split_.ep, etp = split_.etp, node = split_.expert_node();
  switch (kind) {
    case GroupKind::kTensor:
      p.tp = i;
      break;
    case GroupKind::kContext:
      p.cp = i;
      break;
    case GroupKind::kData:
    case GroupKind::kExpertData:
    case GroupKind::kCopies:
    case GroupKind::kExpertCopies: {
      const bool expert = kind == GroupKind::kExpertData || kind == GroupKind::kExpertCopies;
      const int64_t holder = expert ? own / (ep * etp) : p.dp * split_.cp + p.cp;
      const int64_t sharers = split_.sharers(expert);
      const bool copies = kind == GroupKind::kCopies || kind == GroupKind::kExpertCopies;
      if (split_.copies == 1) return copies ? rank : HolderOf(expert, rank, i);
      return HolderOf(expert, rank, copies ? holder % sharers + i * sharers : holder / sharers * sharers + i);
    }
    case GroupKind::kExpertTensor:
      return FromStage(p.pp, own / etp * etp + i);
    case GroupKind::kExpert:
      return ExpertMember(rank, i);
    case GroupKind::kExpertNode:
      return ExpertMember(rank, own / etp % ep / node * node + i);
    case GroupKind::kExpertRail:
      return ExpertMember(rank, i * node + own / etp % node);
    case GroupKind::kEnds:
      p.pp = i == 0 ? 0 : split_.pp - 1;
      break;
    case GroupKind::kModel:
      p.tp = i % split_.tp;
      p.pp = i / split_.tp;
      break;
    case GroupKind::kWorld:
      return static_cast<int>(i);
  }
  return RankAt(p);
}

std::vector<int> Layout::Members(GroupKind kind, int rank) const {
  std::vector<int> members;
  for (int64_t i = 0; i < SizeOf(kind); ++i) members.push_back(Member(kind, rank, i));
  return members;
}

const char* Layout::NameOf(GroupKind kind) { return kNames[static_cast<int>(kind)]; }

std::string Layout::NameOf(GroupKind kind, int rank) const {
  if (kind == GroupKind::kWorld) return NameOf(kind);
  return absl::StrCat(NameOf(kind), Member(kind, rank, 0));
}

}  // namespace chakra::generate
