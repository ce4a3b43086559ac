// Facts about a rank for its columns (build.h), and the numbers of its lanes and nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/import/join/join.h"

namespace chakra::pytorch {

inline constexpr absl::string_view kGroupsNodeName = "## process_group:init ##";  // name of node 0
inline constexpr absl::string_view kWindowNodeName = "[capture window]";          // name of node 1
inline constexpr absl::string_view kOwnWorkName = "[between calls]";

// Facts about a rank. Node i of the timeline has the id i + 1; node 0 has the groups.
class RankFacts {
 public:
  // `rank`, the rank at `index`, and `joined` must outlive the object.
  RankFacts(const CaptureRank& rank, uint32_t index, const Joined& joined);
  // For a rank that is not joined yet: times count from DeviceTrace::base_ns, delays from the begin of the
  // rank's own window.
  explicit RankFacts(const CaptureRank& rank);

  // The number of the lane of node `i`: the capture's number if that is distinct. A node that is not ordered
  // on a lane gets a number of its own.
  int64_t LaneOf(const TimelineNode& node, uint32_t i) const {
    if (node.lane < 0) return 1500000000 + int64_t{i};
    return (node.host ? tid_ : stream_)[static_cast<size_t>(node.lane)];
  }
  // The delay of an edge. The root is the begin of the window of all ranks; the window of this rank may begin
  // later.
  int64_t DelayOf(const TimelineEdge& edge) const {
    return t_.DelayOf(edge) + (edge.from == 0 ? RootDelay() : 0);
  }
  // How much later than the run this rank begins.
  int64_t RootDelay() const { return joined_ ? t_.window_begin - window_ : 0; }
  int64_t StartOf(int64_t start_ns) const { return std::max<int64_t>(0, start_ns - window_); }
  int64_t ReleaseOf(const TimelineEdge& edge) const {
    return edge.extra == TimelineEdge::kNoExtra ? kReleaseAtEnd
                                                : std::llround(t_.ShareOf(edge) * kReleaseAtEnd);
  }
  // `steps`: with nodes of the whole timeline.
  ChakraProtoMsg::GlobalMetadata Metadata(const std::vector<TimelineStep>& steps) const;

  // The row of the event of the operator that a node belongs to; kNoRow: none.
  uint32_t OperatorOf(const TimelineNode& node) const;
  // The shapes and types of an operator, and its host node (null: none).
  struct OperandTexts {
    absl::string_view shapes, types;
    const HostNode* host = nullptr;
  };
  OperandTexts OperandsOf(uint32_t operator_row) const;
  // What a compiler records of the kernel that the operator launches; null: nothing.
  const CompiledKernel* CompiledOf(uint32_t operator_row) const;
  // The work of one launch, as far as it is recorded.
  static Work WorkOf(const CompiledKernel& compiled);

 private:
  void NumberLanes();
  absl::string_view DeviceName() const;

  const CaptureRank& rank_;
  const Timeline& t_;
  const bool joined_;
  int64_t window_ = 0;                 // origin of the times of nodes, ns since the device trace's base
  std::vector<int64_t> tid_, stream_;  // numbers by lane
};

}  // namespace chakra::pytorch
