// Where ranks stand in the grid of a step, and the groups that they form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/generate/sizes.h"
#include "trace/model/trace.h"

namespace chakra::generate {

// A rank's number in each dimension.
struct Place {
  int64_t tp = 0, cp = 0, dp = 0, pp = 0;
};

// Ranks that communicate with each other.
enum class GroupKind : uint8_t {
  kTensor,
  kContext,
  kData,          // over dp and cp (and the two stages of a mirrored piece): they hold the same weights
  kExpert,        // hold different experts
  kExpertNode,    // likewise, of one NVLink domain
  kExpertRail,    // likewise, of the same place in each domain
  kExpertTensor,  // share each expert
  kExpertData,    // hold the same experts
  kEnds,          // first and last stage, which hold one embedding
  kModel,         // over tp and pp: together they hold one model
  kWorld,
};
inline constexpr int kGroupKinds = 11;

// The other end of a message.
enum class PeerKind : uint8_t { kStage, kNextContext, kPreviousContext };

class Layout {
 public:
  explicit Layout(const Split& split) : split_(split) {}

  int ranks() const { return static_cast<int>(split_.ranks()); }
  Place PlaceOf(int rank) const;
  int RankAt(const Place& place) const;
  // The rank of the same place on another stage, or the next (`by` = 1) or previous (-1) one of cp.
  int OnStage(int rank, int64_t stage) const;
  int OfContext(int rank, int64_t by) const;
  // The other end of a rank's message; `stage`: of PeerKind::kStage, which one.
  int OtherEnd(PeerKind kind, int64_t stage, int rank) const;

  // Which of the step's graphs a rank runs: that of its stage, or of its role where ranks hold different
  // tables; and the ranks of a graph, of which FirstOf() is the least.
  int64_t GraphOf(int rank) const;
  int FirstOf(int64_t graph) const;
  int64_t RanksOf(int64_t graph) const;

  // The rank that does the same as `rank`, with messages to ranks at the same distance: of its stage, and of
  // its number in a ring of cp.
  int SymmetricTo(int rank) const;

  int64_t SizeOf(GroupKind kind) const;
  // The members of a rank's group, ascending, or in the order of their shares where that differs.
  std::vector<int> Members(GroupKind kind, int rank) const;
  // "tp12": the kind, and the least rank of the group. kWorld has "world".
  std::string NameOf(GroupKind kind, int rank) const;
  // "tp": the kind alone.
  static const char* NameOf(GroupKind kind);
  // The i-th member of a rank's group; the first is the least.
  int Member(GroupKind kind, int rank, int64_t i) const;

 private:
  // The stage of the i-th rank that holds the same weights; `of_stage` of them are on each stage that has
  // them.
  int64_t HolderStage(int64_t stage, int64_t i, int64_t of_stage) const;
  // The i-th of the ranks that share the experts of `rank`.
  int ExpertMember(int rank, int64_t i) const;
  int64_t InStage(int rank) const;
  int FromStage(int64_t stage, int64_t in_stage) const;

  const Split split_;
};

}  // namespace chakra::generate
