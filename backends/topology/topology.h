// Products of rings, full meshes and switches, and the paths through them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/units.h"

namespace chakra {

struct TopologyDimension {
  enum class Kind { kRing, kFullyConnected, kSwitch };
  Kind kind = Kind::kSwitch;
  int size = 1;
  Bandwidth bandwidth;  // of a link, each direction
  Time latency;         // of a link; a switch path pays it twice
  std::string name;
};

absl::string_view Name(TopologyDimension::Kind kind);  // "ring", "fully_connected", "switch"

// One directed link of a path. `link` is dense in [0, Topology::links()).
struct Hop {
  uint32_t link;
  uint16_t dimension;
};

// Where a message is on its way; see Topology::NextHop().
struct PathCursor {
  int at = 0;  // the device reached, or whose link to a switch was taken
  int dst = 0;
  uint16_t dimension = 0;  // dimensions below are corrected
  bool at_switch = false;  // in this dimension's switch
};

// A product of dimensions; device numbers run fastest in the first. A message
// corrects one dimension after the other, the first first (dimension order);
// on a ring it goes the shorter way, at a tie upwards.
class Topology {
 public:
  static constexpr int kMaxDimensions = 32;
  static constexpr int64_t kMaxDevices = int64_t{1} << 22;
  static constexpr uint64_t kMaxLinks = uint64_t{1} << 28;
  static constexpr Time kMaxLatency = Time::Micros(1000000);  // no sum over a path overflows

  // Errors: no dimension or too many, a size or bandwidth < 1, a latency that
  // is negative or above a second, more devices or links than the limits above.
  static absl::StatusOr<Topology> Make(std::vector<TopologyDimension> dimensions);

  int devices() const { return devices_; }
  uint64_t links() const { return links_; }
  const std::vector<TopologyDimension>& dimensions() const { return dimensions_; }
  // Appends the links from src to dst in order. Empty when src == dst.
  // Precondition: both in [0, devices()), or one a switch on which the other
  // hangs: that path is their one link.
  void Path(int src, int dst, std::vector<Hop>* path) const;
  // The same link by link, without storing the path: takes the next link from
  // where the cursor is. False at the destination.
  bool NextHop(PathCursor* cursor, Hop* hop) const;
  // Links that a path from coordinate `a` to coordinate `b` of `dim` takes in it.
  int LinksWithin(int dim, int a, int b) const;
  // The switch, as an end point of paths, that two devices of a switch
  // dimension share: devices() + dimension * devices() + the device of their
  // block whose coordinate there is 0. -1 when they differ in no or in several
  // dimensions, in one without a switch, or are no devices.
  int SwitchBetween(int a, int b) const;
  bool IsSwitch(int endpoint) const { return endpoint >= devices_; }
  int SwitchDimension(int endpoint) const { return endpoint / devices_ - 1; }
  // The highest dimension in which two devices differ; 0 for one and the same;
  // with a switch, its own.
  int Level(int a, int b) const {
    if (IsSwitch(a) || IsSwitch(b)) return SwitchDimension(a > b ? a : b);
    size_t d = dimensions_.size() - 1;
    while (d > 0 && Coordinate(a, static_cast<int>(d)) == Coordinate(b, static_cast<int>(d))) --d;
    return static_cast<int>(d);
  }
  // Coordinate of a device in dimension `dim`.
  int Coordinate(int device, int dim) const {
    return coordinate_[static_cast<size_t>(device) * dimensions_.size() + static_cast<size_t>(dim)];
  }

 private:
  bool SwitchHop(PathCursor* cursor, Hop* hop) const;

  std::vector<TopologyDimension> dimensions_;
  std::vector<int> stride_;          // of device numbers
  std::vector<int32_t> coordinate_;  // device by device
  std::vector<uint64_t> link_base_;  // first link of each dimension
  int devices_ = 0;
  uint64_t links_ = 0;
};

}  // namespace chakra
