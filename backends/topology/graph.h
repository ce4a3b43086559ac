// A network as a graph: devices, NICs, switches, and the links between them. Immutable once built; needs some
// tens of bytes for each link.
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

// The common properties of links of one kind.
struct LinkClass {
  std::string name;     // for reports: "host", "leaf-spine", "global"
  Bandwidth bandwidth;  // of one link, in each direction; > 0
  Time latency;         // of one link, including the switch behind it; 0 to 1 s
};

// Vertices of one kind with consecutive numbers. Vertex `first` + i is called "name.i", or "name" if there is
// only one and `name` does not end in a digit.
struct VertexGroup {
  std::string name;  // "device", "leaf", "spine"
  VertexKind kind = VertexKind::kDevice;
  uint32_t first = 0;
  uint32_t count = 0;
  int tier = 0;  // height in drawings and for up-down routing: 0 for devices, 1 for the switches next to them
  std::vector<int> shape;  // sizes of the grid that the vertices form, fastest first; empty: no grid
};

// Vertices are [0, vertices()), the devices first. A link between two vertices is two arcs, one in each
// direction. Arcs are [0, arcs()); the arcs that leave a vertex have consecutive numbers, in the order in
// which the links were added.
class NetworkGraph {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kMaxVertices = 1u << 26;
  static constexpr uint64_t kMaxLinks = uint64_t{1} << 27;

  uint32_t devices() const { return devices_; }
  uint32_t vertices() const { return static_cast<uint32_t>(first_.size() - 1); }
  uint32_t arcs() const { return static_cast<uint32_t>(target_.size()); }
  uint32_t links() const { return arcs() / 2; }
  // Whether messages may pass through devices (torus, mesh).
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
  // The first arc from `from` to `to`; kNone: no such arc.
  uint32_t FindArc(uint32_t from, uint32_t to) const;

  // The groups, in the order of their numbers; together they cover all vertices.
  const std::vector<VertexGroup>& groups() const { return groups_; }
  const VertexGroup& group(uint32_t v) const;
  VertexKind kind(uint32_t v) const { return group(v).kind; }
  // Whether a message may pass through `v`.
  bool Forwards(uint32_t v) const { return v >= devices_ || devices_forward_; }

  // "leaf.3". FindVertex() is the inverse; its errors (InvalidArgument) name the nearest group or the range
  // of its numbers.
  std::string VertexName(uint32_t v) const;
  absl::StatusOr<uint32_t> FindVertex(absl::string_view name) const;
  // "leaf.3 - spine.1"
  std::string ArcName(uint32_t arc) const;

  // The graph with all bandwidths multiplied by `bandwidth` and all latencies by `latency`; both > 0.
  NetworkGraph Scaled(double bandwidth, double latency) const;
  // The graph with the bandwidth of the arcs in `arcs` (indexed by arc) multiplied by `bandwidth` > 0. `arcs`
  // must contain both directions of a link or none.
  NetworkGraph ScaledWhere(const std::vector<bool>& arcs, double bandwidth) const;

  // The memory that the graph needs, in bytes.
  uint64_t MemoryBytes() const;

 private:
  friend class GraphBuilder;
  uint32_t devices_ = 0;
  bool devices_forward_ = false;
  std::vector<uint32_t> first_;    // by vertex: its first arc; the last entry is the number of arcs
  std::vector<uint32_t> target_;   // by arc
  std::vector<uint32_t> reverse_;  // by arc
  std::vector<uint16_t> class_;    // by arc
  std::vector<LinkClass> classes_;
  std::vector<VertexGroup> groups_;
  std::vector<uint32_t> by_name_;  // indices of groups, sorted by name
};

// Collects vertices and links; Build() checks and packs them.
class GraphBuilder {
 public:
  // Adds `count` vertices and returns the number of the first. Devices must be added before all others; they
  // may be in several groups.
  uint32_t AddVertices(absl::string_view name, VertexKind kind, uint32_t count, int tier = 0,
                       std::vector<int> shape = {});
  // Returns the number of the class. Equal classes have one number.
  uint16_t AddClass(const LinkClass& link_class);
  // Adds a full-duplex link. There may be several links between two vertices.
  void AddLink(uint32_t a, uint32_t b, uint16_t link_class) { links_.push_back({a, b, link_class}); }
  void set_devices_forward(bool forward) { devices_forward_ = forward; }

  // Errors: no device; a device after other vertices; a link from a vertex to itself; an unknown vertex or
  // class; a class without bandwidth or with a latency outside 0 to 1 s; a duplicate group name; more
  // vertices or links than NetworkGraph allows.
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
