// Routes that go up, then down, and never up again: free of deadlock on any
// graph without virtual channels.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/topology/paths/destination_fields.h"

namespace chakra {

// Answers as ShortestPaths does. Every link gets an upper end; a route takes
// links upwards as long as it must, then downwards. A vertex from which `to` can
// be reached by links downwards alone never offers one upwards, so the choice
// needs no memory of where a message comes from, and a route may be longer than
// the shortest of its kind (Schroeder et al., Autonet, IEEE JSAC 1991).
// The upper end is the one of the higher tier. Where the switches on a link are
// of one tier, and with kLevels, it is the one with fewer links to the root
// (the first switch of the highest tier; a root for each part that is cut off),
// of equals the one with the lower number. Vertices that messages do not pass
// through are below all others. Not thread-safe.
class UpDown {
 public:
  static constexpr uint64_t kDefaultBudget = uint64_t{64} << 20;
  static constexpr int kUnreachable = 0xffff;
  enum class Order {
    kAuto,    // by tier, unless a link that messages pass through joins two of one tier
    kLevels,  // by the number of links to the root: whatever hangs together is connected
  };

  // `graph` must outlive it.
  explicit UpDown(const NetworkGraph& graph, Order order = Order::kAuto, uint64_t budget = kDefaultBudget);

  // Which arcs messages may use; null (the default): all. Kept by reference;
  // call again whenever it has changed. A link is used in the directions that
  // are alive; levels count links of which both are. By tier, a dead link may
  // cut off what only a way down and up again still joins.
  // Levels are found anew when they are next needed.
  void SetAlive(const std::vector<bool>* alive);

  // The arcs out of `at` that lead to `to` with the fewest links, in the order
  // of their numbers. Nothing when at == to or there is no such way.
  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs);
  // Links that Next() takes from `at` to `to`; kUnreachable: there is no way up and down.
  int Distance(uint32_t at, uint32_t to);

  // Whether tiers decide what is up.
  bool by_tier() const { return by_tier_; }
  // Whether an arc leads upwards.
  bool Up(uint32_t arc);

 private:
  struct Way {
    int links = kUnreachable;
    bool down = false;  // downwards only
  };
  void FindOrder();
  bool IsUp(uint32_t arc) const;
  std::vector<uint32_t> Levels() const;
  void Search(uint32_t to, std::vector<uint16_t>* field);
  const std::vector<uint16_t>& FieldOf(uint32_t to);
  // From `v` to `to`, by the field of `to`.
  Way From(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const;
  Way Best(const std::vector<uint16_t>& field, uint32_t at, uint32_t to) const;

  const NetworkGraph* graph_;
  bool by_tier_ = false;
  bool stale_ = true;             // the order is
  DestinationFields fields_;      // number of links, and the highest bit where a way starts upwards
  std::vector<uint32_t> sorted_;  // vertices that messages pass through, the highest first
  std::vector<uint32_t> place_;   // by Index(): where it is in sorted_
  std::vector<uint32_t> queue_;
};

}  // namespace chakra
