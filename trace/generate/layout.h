// The positions of ranks in the grid of a step, and the groups that they form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/generate/sizes.h"
#include "trace/model/trace.h"

namespace chakra::generate {

// The coordinates of a rank, one in each dimension.
struct Place {
  int64_t tp = 0, cp = 0, dp = 0, pp = 0;
};

// Ranks that communicate with each other.
enum class GroupKind : uint8_t {
  kTensor,
  kContext,
  kData,          // ranks that share one copy of weights, over dp and cp (and the stages of a mirrored piece)
  kExpert,        // ranks with different experts
  kExpertNode,    // those of kExpert in one NVLink domain
  kExpertRail,    // those of kExpert at the same position in each domain
  kExpertTensor,  // ranks that share each expert
  kExpertData,    // ranks that share one copy of experts
  kCopies,        // ranks with the same share of each copy of weights
  kExpertCopies,  // the same for experts
  kEnds,          // first and last stage, which share one embedding
  kModel,         // over tp and pp: these ranks together have one model
  kWorld,
};
inline constexpr int kGroupKinds = 13;

// The other end of a message.
enum class PeerKind : uint8_t { kStage, kNextContext, kPreviousContext };

class Layout {
 public:
  explicit Layout(const Split& split) : split_(split) {}

  int ranks() const { return static_cast<int>(split_.ranks()); }
  Place PlaceOf(int rank) const;
  int RankAt(const Place& place) const;
  // The rank at the same position on another stage; the next (`by` = 1) or previous (-1) rank of cp.
  int OnStage(int rank, int64_t stage) const;
  int OfContext(int rank, int64_t by) const;
  // The other end of a rank's message; `stage`: the stage of PeerKind::kStage.
  int OtherEnd(PeerKind kind, int64_t stage, int rank) const;

  // The index of the graph that a rank runs: that of its stage, or that of its role if ranks have different
  // tables. FirstOf() and RanksOf(): the lowest rank of a graph, and the number of its ranks.
  int64_t GraphOf(int rank) const;
  int FirstOf(int64_t graph) const;
  int64_t RanksOf(int64_t graph) const;

  // The symmetric rank that represents `rank`: it has the same stage, the same number in a ring of cp, and
  // messages to ranks at the same distances.
  int SymmetricTo(int rank) const;

  int64_t SizeOf(GroupKind kind) const;
  // The members of a rank's group, in ascending order, or in the order of their shares if that differs.
  std::vector<int> Members(GroupKind kind, int rank) const;
  // "tp12": the kind, and the lowest rank of the group; "world" for kWorld.
  std::string NameOf(GroupKind kind, int rank) const;
  // "tp": only the kind.
  static const char* NameOf(GroupKind kind);
  // The i-th member of a rank's group; the first is the lowest rank.
  int Member(GroupKind kind, int rank, int64_t i) const;

 private:
  // The stage of the i-th rank with the same weights. Each stage with these weights has `of_stage` such
  // ranks.
  int64_t HolderStage(int64_t stage, int64_t i, int64_t of_stage) const;
  // The i-th rank with the same weights, or the same experts.
  int HolderOf(bool expert, int rank, int64_t i) const;
  // The i-th of the ranks that share the experts of `rank`.
  int ExpertMember(int rank, int64_t i) const;
  int64_t InStage(int rank) const;
  int FromStage(int64_t stage, int64_t in_stage) const;

  const Split split_;
};

}  // namespace chakra::generate
