// The ways of all pairs of devices: found when they are needed, and anew when routes change.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"
#include "backends/packet/transports/transport.h"
#include "backends/packet/ways/connection.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// Finds a way of a connection, or finds it anew; may leave it without a route. Find() adds at most 512 ports
// to the table of paths.
struct WayFinder {
  virtual ~WayFinder() = default;
  virtual void Find(const Connection& connection, uint32_t way_of_connection) = 0;
};

// A pair has PacketOptions::paths ways, one after the other. A connection knows the number of the first.
class Ways {
 public:
  // The network must outlive it.
  Ways(const PacketNetwork* network, const PacketOptions& options);

  // Before the first Find().
  void set_finder(WayFinder* finder) { finder_ = finder; }
  // The ways of another pair; the number of the first.
  uint32_t AddPair();
  // The ways of a pair that will not be asked for any more, and over which nothing is under way.
  void GiveBack(uint32_t first);
  uint32_t size() const { return static_cast<uint32_t>(ways_.size()); }
  Way& operator[](uint32_t i) { return ways_[i]; }
  const Way& operator[](uint32_t i) const { return ways_[i]; }
  PathTable& paths() { return paths_; }
  const PathTable& paths() const { return paths_; }

  // Finds the ways that a connection may take and that are not known.
  void Find(const Connection& connection);
  // From here on all ways are unknown, and what was chosen among them is too.
  void ForgetRoutes() { ++epoch_; }
  uint32_t epoch() const { return epoch_; }

  // What a transport learns of a way. Where packets take all ways, the rates of their ports together.
  PathFacts Facts(const Connection& connection, const Way& way) const;
  // Of all ways of a pair that are found: ports there and back; the longest time there and back, ps.
  std::vector<uint32_t> PortsOf(const Connection& connection) const;
  int64_t BaseRtt(const Connection& connection) const;

  uint64_t MemoryBytes() const { return ways_.capacity() * sizeof(Way) + paths_.MemoryBytes(); }

 private:
  double RateAt(const Connection& connection, const Way& way, uint32_t hop) const;

  const PacketNetwork* network_;
  PacketOptions options_;
  uint32_t count_;  // of a pair
  WayFinder* finder_ = nullptr;
  std::vector<Way> ways_;
  uint32_t given_back_ = kNoIndex;  // the first way of a pair; a list, by Way::ports
  PathTable paths_;
  uint32_t epoch_ = 0;
};

}  // namespace chakra::packet
