// Simulates packets, unless the same has happened before.
//
// Flows that have a port in common, on their paths or on those of acknowledgements, form a region. A region
// exists from its first flow until nothing is under way over its ports. Regions share no port, and each has
// its own simulation. The results of the flows of a region are kept (episodes.h). A region whose flows are
// the same as those of an earlier one is not simulated: its flows end at the same times since the start as
// those of the earlier region. When a flow begins that the earlier region did not have, the region is
// simulated from its start after all. Symmetric regions that begin together are simulated once.
//
// This is exact, except for effects that depend on more than the region: which of two connections goes first
// at one instant (by their numbers), whose turn it is at a port that was idle, random marks, hashes of
// transports, and a shared buffer that switches of other regions use too.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/packet/skip/episodes.h"
#include "backends/packet/skip/steady_sim.h"

namespace chakra::packet {

class RepeatingSim {
 public:
  // Connections must have one path, and links must not fail.
  RepeatingSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads);
  ~RepeatingSim();

  // See PacketSim. There is one message at a time; Send() uses it.
  uint32_t NewMessage() {
    message_ = Message();
    return 0;
  }
  Message& message(uint32_t /*i*/) { return message_; }
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways);
  const Connection& connection(uint32_t i) const { return connections_[i]; }
  void Send(uint32_t message, int64_t now);
  void TellAt(uint64_t tag, uint64_t order, Time at) { local_.Add(tag, order, at); }
  int64_t at();
  void Run(int64_t limit, bool stop, int64_t bound);
  void set_overlap(bool /*overlap*/) {}
  std::vector<Told>& told() { return told_; }
  Ways& ways() { return ways_; }
  const Ways& ways() const { return ways_; }
  void set_finder(WayFinder* finder) { ways_.set_finder(finder); }
  uint64_t open_messages() const { return open_messages_ + local_.size(); }
  std::string WhyStuck() const;
  uint64_t MemoryBytes() const;
  // Including what was not simulated.
  PacketTotals counters() const;
  PortTotals Extra(uint32_t port) const;
  void Settle() {}
  // If no message is under way, the last acknowledgements arrive now.
  void CountAll(int64_t now);

 private:
  static constexpr int64_t kNever = Episodes::kNever;
  struct Region;      // region.h
  struct Simulation;  // of one region

  // regions.cc: which flows belong together
  uint32_t NewRegion(int64_t now);
  // Adds a connection to a region, if it is not there yet. Returns true if it was added.
  bool Join(uint32_t region, uint32_t connection);
  uint32_t RegionFor(const std::vector<uint32_t>& ports, int64_t now);
  uint32_t Merge(const std::vector<uint32_t>& regions, int64_t now);
  // Sets input_ to the description of the region's last flow, as an input of the episode.
  void Describe(uint32_t region, bool is_new_connection);
  void AddPort(Region* region, uint32_t index, uint32_t port);
  // Follows the last flow in the tree of episodes.
  void Step(uint32_t region, int64_t now);
  void End(uint32_t region, int64_t now);
  void Release(uint32_t region);
  uint32_t PortSignature(uint32_t port);
  // The path of a connection, and the ports of this path and of the path back.
  const Way& WayOf(const Connection& connection) const;
  std::vector<uint32_t> PortsOf(const Connection& connection) const;

  // follow.cc: the events of a region, simulated or copied
  int64_t Next(uint32_t region);
  void Schedule(uint32_t region);
  // Schedules the regions that wait for outputs of a node.
  void Wake(uint32_t node);
  // The region leaves its node. If the region wrote it, all outputs up to `now` are there.
  void Leave(uint32_t region, int64_t now);
  // Whether another region, which began no later, simulates what comes next.
  bool IsAhead(const Episodes::Node& node, const Region& region) const;
  // Lets the region write its node, if no other region does and the node is complete only up to `done` or
  // less.
  void WriteFrom(uint32_t region, int64_t done);
  void FollowTo(uint32_t region, int64_t at);
  void RunLive(uint32_t region, int64_t limit, bool stop);
  // Simulates everything that the region did up to `done`, which has been reported.
  void Simulate(uint32_t region, int64_t done);
  void SendInside(Region* region, uint32_t flow);
  bool Take(uint32_t region, int64_t late);
  void Tell(Region* region, uint32_t flow, FlowEnd::Kind kind, int64_t at);
  std::unique_ptr<Simulation> TakeSimulation();
  void Abandon(Region* region);

  struct Due {
    int64_t at;
    uint32_t region;
    uint64_t stamp;
    bool operator>(const Due& o) const {
      if (at != o.at) return at > o.at;
      return region != o.region ? region > o.region : stamp > o.stamp;
    }
  };
  // What a connection has in addition to its data in PacketSim.
  struct Place {
    uint32_t region = kNoIndex;
    uint32_t number = 0;  // number in the region
    uint32_t inner = kNoIndex, inner_generation = 0;
  };

  PacketNetwork* network_;
  PacketOptions options_;
  int64_t landing_;  // ps: in this time, all signals of a link arrive

  Episodes episodes_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<uint32_t> free_regions_;
  std::vector<std::unique_ptr<Simulation>> idle_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  LocalMessages local_;

  Message message_;  // the message that is about to be sent
  std::vector<Connection> connections_;
  std::vector<Place> places_;
  std::vector<uint32_t> free_connections_;
  Ways ways_;

  std::vector<uint32_t> region_of_;  // by port
  std::vector<uint32_t> number_of_;  // by port, in its region
  std::vector<uint32_t> signature_of_;
  absl::flat_hash_map<std::vector<uint64_t>, uint32_t> signatures_;
  std::vector<uint64_t> input_;  // set by Describe()

  // If flows keep joining regions that are under way, all flows form one region from then on.
  uint64_t again_ = 0;  // events that were simulated in vain
  bool one_region_ = false;

  uint64_t inputs_ = 0;
  uint64_t open_messages_ = 0;  // in regions
  std::vector<Told> told_;
  std::vector<PortTotals> extra_;
  PacketTotals extra_totals_;  // counts that no simulation contains
  PacketTotals retired_;       // of discarded simulations: what they did for earlier regions
};

}  // namespace chakra::packet
