// The paths of all pairs of devices: found when needed, and found again when routes change.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"
#include "backends/packet/transports/transport.h"
#include "backends/packet/ways/connection.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// Finds a path of a connection, for the first time or again; there may be no route. Find() adds at most 512
// ports to the table of paths.
struct WayFinder {
  virtual ~WayFinder() = default;
  virtual void Find(const Connection& connection, uint32_t way_of_connection) = 0;
};

// A pair has PacketOptions::paths paths, with consecutive numbers. A connection stores the number of the
// first.
class Ways {
 public:
  // `network` must outlive this object.
  Ways(const PacketNetwork* network, const PacketOptions& options);

  // Must be called before the first Find().
  void set_finder(WayFinder* finder) { finder_ = finder; }
  // Adds the paths of another pair; returns the number of the first.
  uint32_t AddPair();
  // Gives back the paths of a pair. Nobody may ask for them again, and nothing may be under way on them.
  void GiveBack(uint32_t first);
  uint32_t size() const { return static_cast<uint32_t>(ways_.size()); }
  Way& operator[](uint32_t i) { return ways_[i]; }
  const Way& operator[](uint32_t i) const { return ways_[i]; }
  PathTable& paths() { return paths_; }
  const PathTable& paths() const { return paths_; }

  // Finds those paths of a connection that are still unknown.
  void Find(const Connection& connection);
  // Makes all paths unknown, and all choices among them invalid.
  void ForgetRoutes() { ++epoch_; }
  uint32_t epoch() const { return epoch_; }

  // The facts of a path for a transport. If packets take all paths, the rate is the sum over the ports of
  // these paths.
  PathFacts Facts(const Connection& connection, const Way& way) const;
  // Over all paths of a pair that were found: their ports and those of the paths back; and the longest
  // round-trip time, ps.
  std::vector<uint32_t> PortsOf(const Connection& connection) const;
  int64_t BaseRtt(const Connection& connection) const;

  uint64_t MemoryBytes() const { return ways_.capacity() * sizeof(Way) + paths_.MemoryBytes(); }

 private:
  double RateAt(const Connection& connection, const Way& way, uint32_t hop) const;

  const PacketNetwork* network_;
  PacketOptions options_;
  uint32_t count_;  // paths of a pair
  WayFinder* finder_ = nullptr;
  std::vector<Way> ways_;
  uint32_t given_back_ = kNoIndex;  // first path of a pair; a list, linked by Way::ports
  PathTable paths_;
  uint32_t epoch_ = 0;
};

}  // namespace chakra::packet
