// Routes that first go up, then down, and never up again. They are free of deadlock on any graph, without
// virtual channels.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/topology/paths/destination_fields.h"

namespace chakra {

// Answers like ShortestPaths. Every link has an upper end; a route goes upwards as long as it must, then
// downwards. A vertex that reaches `to` by downward links alone never offers an upward link. So the choice
// does not depend on where a message comes from, and a route may be longer than the shortest up-down route
// (Schroeder et al., Autonet, IEEE JSAC 1991). The upper end of a link is its end in the higher tier. If both
// ends are in one tier, or with kLevels, it is the end with fewer links to the root; if these are equal, the
// end with the lower number. The root is the first switch of the highest tier; each disconnected part has its
// own root. Vertices that messages do not pass through are below all others. Not thread-safe.
class UpDown {
 public:
  static constexpr uint64_t kDefaultBudget = uint64_t{64} << 20;
  static constexpr int kUnreachable = 0xffff;
  enum class Order {
    kAuto,    // by tier, unless a link that messages pass through joins two vertices of one tier
    kLevels,  // by the number of links to the root: all vertices of a connected part reach each other
  };

  // `graph` must outlive the object.
  explicit UpDown(const NetworkGraph& graph, Order order = Order::kAuto, uint64_t budget = kDefaultBudget);

  // Sets the arcs that messages may use; null (the default): all. The vector is kept by reference; call
  // SetAlive() again after each change. A link is used in its live directions; levels only count links with
  // two live directions. With order by tier, a dead link may cut off vertices that only a route down and up
  // again would reach. Levels are computed again when they are next needed.
  void SetAlive(const std::vector<bool>* alive);

  // Appends the arcs out of `at` that lead to `to` with the fewest links, in the order of their numbers.
  // Appends nothing if at == to or if there is no such route.
  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs);
  // The number of links that Next() takes from `at` to `to`; kUnreachable: no up-down route.
  int Distance(uint32_t at, uint32_t to);

  // Whether tiers decide which end of a link is the upper one.
  bool by_tier() const { return by_tier_; }
  // Whether an arc leads upwards.
  bool Up(uint32_t arc);

 private:
  struct Way {
    int links = kUnreachable;
    bool down = false;  // the route only goes downwards
  };
  void FindOrder();
  bool IsUp(uint32_t arc) const;
  std::vector<uint32_t> Levels() const;
  void Search(uint32_t to, std::vector<uint16_t>* field);
  const std::vector<uint16_t>& FieldOf(uint32_t to);
  // The route from `v` to `to`, from the field of `to`.
  Way From(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const;
  Way Best(const std::vector<uint16_t>& field, uint32_t at, uint32_t to) const;

  const NetworkGraph* graph_;
  bool by_tier_ = false;
  bool stale_ = true;             // the order must be computed again
  DestinationFields fields_;      // number of links; the highest bit is set if the route begins upwards
  std::vector<uint32_t> sorted_;  // vertices that messages pass through, the highest first
  std::vector<uint32_t> place_;   // by Index(): position in sorted_
  std::vector<uint32_t> queue_;
};

}  // namespace chakra
