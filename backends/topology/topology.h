// Topologies of machines: dimensions of rings, full meshes, switches and networks, and the paths through the
// first three.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/network.h"
#include "trace/base/units.h"

namespace chakra {

struct TopologyDimension {
  enum class Kind { kRing, kFullyConnected, kSwitch, kNetwork };
  Kind kind = Kind::kSwitch;
  int size = 1;         // number of blocks of the dimensions below that it joins
  Bandwidth bandwidth;  // of a link, in each direction; kNetwork: set by Make() to a device's widest port
  // Latency of a link; a path over a switch has it twice. kNetwork: set by Make() to half the latency of a
  // path.
  Time latency;
  std::string name;
  // kNetwork: the graph. It holds the devices of all blocks, in the order of their numbers. With `each_rail`
  // there is one copy of the graph for each place in a block, and a copy holds the devices at that place.
  std::shared_ptr<const Network> network;
  bool each_rail = false;
};

absl::string_view Name(TopologyDimension::Kind kind);  // "ring", "fully_connected", "switch", "network"

// One directed link of a path. `link` is dense in [0, Topology::links()).
struct Hop {
  uint32_t link;
  uint16_t dimension;
  uint16_t link_class;  // of Topology::link_classes()
};

// The position of a message on its path; see Topology::NextHop().
struct PathCursor {
  int at = 0;  // the device reached, or the device whose link to a switch was taken
  int dst = 0;
  uint16_t dimension = 0;  // all dimensions below this one are corrected
  bool at_switch = false;  // the message is in this dimension's switch
};

// A product of dimensions; device numbers run fastest in the first dimension. A message corrects one
// dimension after the other, in order (dimension order). On a ring it takes the shorter direction, and in a
// tie upwards. A network that holds all devices also corrects the dimensions below it. A Router chooses paths
// through networks. A network is stored once, however many copies there are.
class Topology {
 public:
  static constexpr int kMaxDimensions = 32;
  static constexpr int64_t kMaxDevices = int64_t{1} << 22;
  static constexpr uint64_t kMaxLinks = uint64_t{1} << 28;
  static constexpr Time kMaxLatency = Time::Micros(1000000);  // no sum over a path overflows

  // Errors: no or too many dimensions, a size or bandwidth < 1, a latency that is negative or above a second,
  // more devices or links than the limits above, a network with a wrong number of devices.
  static absl::StatusOr<Topology> Make(std::vector<TopologyDimension> dimensions);

  int devices() const { return devices_; }
  uint64_t links() const { return links_; }
  const std::vector<TopologyDimension>& dimensions() const { return dimensions_; }
  // Whether a dimension is a network; paths then come from a Router.
  bool has_network() const { return has_network_; }
  // The kinds of links: one for each dimension that is not a network, and the classes of each network.
  const std::vector<LinkClass>& link_classes() const { return link_classes_; }
  size_t FirstClass(int dim) const { return class_base_[static_cast<size_t>(dim)]; }
  // The dimension of a kind of links.
  int ClassDimension(size_t link_class) const;
  // "device 3 - switch of dim0", "leaf.1 - spine.2 of dim1": for reports and errors.
  std::string LinkName(uint32_t link) const;
  // The ends of a link. An end is an end point of paths (a device, or a switch as numbered by
  // SwitchBetween()) or, with a larger number, a vertex of a network other than a device. All ends have
  // different numbers.
  struct Ends {
    uint64_t from, to;
  };
  Ends LinkEnds(uint32_t link) const;
  // A link with its dimension and class.
  Hop LinkHop(uint32_t link) const;
  // Appends the links from src to dst in order; none if src == dst. Precondition: both are devices whose path
  // crosses no network; or one is a switch and the other a device linked to it, and then the path is this
  // link.
  void Path(int src, int dst, std::vector<Hop>* path) const;
  // Path() link by link, without storing the path: moves the cursor over the next link. Returns false at the
  // destination.
  bool NextHop(PathCursor* cursor, Hop* hop) const;
  // The number of links of `dim` on a path from coordinate `a` to coordinate `b`.
  int LinksWithin(int dim, int a, int b) const;
  // The switch that two devices of a switch dimension share, as an end point of paths: devices() + dimension
  // * devices() + the device of their block with coordinate 0 in that dimension. -1 if they differ in no
  // dimension, in several, or in one that is no switch, or if they are not devices.
  int SwitchBetween(int a, int b) const;
  bool IsSwitch(int endpoint) const { return endpoint >= devices_; }
  int SwitchDimension(int endpoint) const { return endpoint / devices_ - 1; }
  // The highest dimension in which two devices differ; 0 if they are equal. If one is a switch, the switch's
  // dimension.
  int Level(int a, int b) const {
    if (IsSwitch(a) || IsSwitch(b)) return SwitchDimension(a > b ? a : b);
    size_t d = dimensions_.size() - 1;
    while (d > 0 && Coordinate(a, static_cast<int>(d)) == Coordinate(b, static_cast<int>(d))) --d;
    return static_cast<int>(d);
  }
  // NetworkCopy(): the copy, counted from 0, of the network of dimension `dim` that holds the device.
  // NetworkDevice(): the device's number in this network. DeviceAt(): the inverse of both.
  uint32_t NetworkCopy(int dim, int device) const;
  uint32_t NetworkDevice(int dim, int device) const;
  int DeviceAt(int dim, uint32_t copy, uint32_t network_device) const;
  // The hop for an arc of a copy of the network of `dim`.
  Hop NetworkHop(int dim, uint32_t copy, uint32_t arc) const;
  uint32_t NetworkCopies(int dim) const;
  struct NetworkPlace {
    int dimension;
    uint32_t copy;
    uint32_t arc;
  };
  // The inverse of NetworkHop(). Precondition: a link of a network.
  NetworkPlace NetworkArc(uint32_t link) const;
  // `device` with another coordinate in `dim`.
  int Moved(int device, int dim, int coordinate) const {
    return device + (coordinate - Coordinate(device, dim)) * stride_[static_cast<size_t>(dim)];
  }
  // Coordinate of a device in dimension `dim`.
  int Coordinate(int device, int dim) const {
    return coordinate_[static_cast<size_t>(device) * dimensions_.size() + static_cast<size_t>(dim)];
  }

 private:
  bool SwitchHop(PathCursor* cursor, Hop* hop) const;
  size_t DimensionOf(uint32_t link) const;

  std::vector<TopologyDimension> dimensions_;
  std::vector<int> stride_;           // of device numbers
  std::vector<int32_t> coordinate_;   // device by device
  std::vector<uint64_t> link_base_;   // first link of each dimension
  std::vector<uint16_t> class_base_;  // first link class of each dimension
  std::vector<LinkClass> link_classes_;
  bool has_network_ = false;
  int devices_ = 0;
  uint64_t links_ = 0;
};

}  // namespace chakra
