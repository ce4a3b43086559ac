// A network as a graph: devices, network cards, switches, and the links between
// them. Immutable once built; tens of bytes a link.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/units.h"

namespace chakra {

enum class VertexKind : uint8_t { kDevice, kNic, kSwitch, kNvSwitch, kPcieSwitch, kHost };

absl::string_view Name(VertexKind kind);  // "device", "nic", "switch", "nvswitch", "pcie_switch", "host"

// What links of one kind have in common.
struct LinkClass {
  std::string name;     // for reports: "host", "leaf-spine", "global"
  Bandwidth bandwidth;  // of one link, each direction; > 0
  Time latency;         // of one link, the switch behind it included; 0 to 1 s
};

// Vertices that are alike, numbered in a row. Vertex `first` + i is called
// "name.i", or "name" when there is only one and `name` ends in no digit.
struct VertexGroup {
  std::string name;  // "device", "leaf", "spine"
  VertexKind kind = VertexKind::kDevice;
  uint32_t first = 0;
  uint32_t count = 0;
  int tier = 0;  // height in a drawing and for up-down routing: 0 devices, 1 the switches next to them
  std::vector<int> shape;  // the sizes of the grid that they form, fastest first; empty: none
};

// Vertices are [0, vertices()), the devices first. A link between two vertices
// is two arcs, one a direction; arcs are [0, arcs()), those that leave one
// vertex in a row, in the order in which the links were added.
class NetworkGraph {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kMaxVertices = 1u << 26;
  static constexpr uint64_t kMaxLinks = uint64_t{1} << 27;

  uint32_t devices() const { return devices_; }
  uint32_t vertices() const { return static_cast<uint32_t>(first_.size() - 1); }
  uint32_t arcs() const { return static_cast<uint32_t>(target_.size()); }
  uint32_t links() const { return arcs() / 2; }
  // True when messages may pass through a device on their way (torus, mesh).
  bool devices_forward() const { return devices_forward_; }

  // The arcs that leave `v` are [begin(v), end(v)).
  uint32_t begin(uint32_t v) const { return first_[v]; }
  uint32_t end(uint32_t v) const { return first_[v + 1]; }
  uint32_t degree(uint32_t v) const { return end(v) - begin(v); }
  uint32_t target(uint32_t arc) const { return target_[arc]; }
  uint32_t source(uint32_t arc) const { return target_[reverse_[arc]]; }
  uint32_t reverse(uint32_t arc) const { return reverse_[arc]; }
  uint16_t class_of(uint32_t arc) const { return class_[arc]; }
  const LinkClass& link_class(uint32_t arc) const { return classes_[class_[arc]]; }
  const std::vector<LinkClass>& classes() const { return classes_; }
  // The first arc from `from` to `to`; kNone: there is none.
  uint32_t FindArc(uint32_t from, uint32_t to) const;

  // In the order of their numbers, without gaps: they cover all vertices.
  const std::vector<VertexGroup>& groups() const { return groups_; }
  const VertexGroup& group(uint32_t v) const;
  VertexKind kind(uint32_t v) const { return group(v).kind; }
  // Whether a message may pass through `v`.
  bool Forwards(uint32_t v) const { return v >= devices_ || devices_forward_; }

  // "leaf.3". Find() is the inverse; errors (InvalidArgument) name the nearest
  // group or the range of its numbers.
  std::string VertexName(uint32_t v) const;
  absl::StatusOr<uint32_t> FindVertex(absl::string_view name) const;
  // "leaf.3 - spine.1"
  std::string ArcName(uint32_t arc) const;

  // The same with links of `bandwidth` times their bandwidth and `latency` times their latency; both > 0.
  NetworkGraph Scaled(double bandwidth, double latency) const;

  // Bytes that it holds in memory.
  uint64_t MemoryBytes() const;

 private:
  friend class GraphBuilder;
  uint32_t devices_ = 0;
  bool devices_forward_ = false;
  std::vector<uint32_t> first_;    // by vertex, and the end
  std::vector<uint32_t> target_;   // by arc
  std::vector<uint32_t> reverse_;  // by arc
  std::vector<uint16_t> class_;    // by arc
  std::vector<LinkClass> classes_;
  std::vector<VertexGroup> groups_;
  std::vector<uint32_t> by_name_;  // the groups, sorted by name
};

// Collects vertices and links; Build() checks and packs them.
class GraphBuilder {
 public:
  // Adds `count` vertices and returns the number of the first. The devices must
  // be added before all others (several groups of them are fine).
  uint32_t AddVertices(absl::string_view name, VertexKind kind, uint32_t count, int tier = 0,
                       std::vector<int> shape = {});
  // Returns the class's number. Equal classes get one number.
  uint16_t AddClass(const LinkClass& link_class);
  // A full-duplex link. Several between two vertices are fine.
  void AddLink(uint32_t a, uint32_t b, uint16_t link_class) { links_.push_back({a, b, link_class}); }
  void set_devices_forward(bool forward) { devices_forward_ = forward; }

  // Errors: no device, a device after other vertices, a link of a vertex with
  // itself or of a vertex or class that is not there, a class without
  // bandwidth or with a latency outside 0 to 1 s, a group name used twice,
  // more vertices or links than the limits of NetworkGraph.
  absl::StatusOr<NetworkGraph> Build();

 private:
  struct Link {
    uint32_t a, b;
    uint16_t link_class;
  };
  std::vector<VertexGroup> groups_;
  std::vector<LinkClass> classes_;
  std::map<std::tuple<std::string, int64_t, int64_t>, uint16_t> class_index_;
  std::vector<Link> links_;
  uint64_t vertices_ = 0;
  bool devices_forward_ = false;
};

}  // namespace chakra
