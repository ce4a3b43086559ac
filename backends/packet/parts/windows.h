// Runs all shards of a simulation in the order of time, on one thread or several.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/parts/shard.h"
#include "backends/packet/parts/worker_crew.h"
#include "trace/base/stop.h"

namespace chakra::packet {

// If the network has several parts, time advances in windows of its lookahead. Within a window no shard can
// affect another, so they run in parallel. Shards of switches run to the end of a window at once; the first
// shard, where messages begin and end, runs as far as Run() says. So the counts of switches' ports are ahead
// by up to a window, by the same amount for any number of threads. Everything else is as with one part.
// Definitions are in windows_impl.h.
template <typename Events>
class Windows {
 public:
  // All arguments must outlive this object. `first`: the shard where messages begin and end; it reports them
  // in `told`. `make(part)` makes a shard of switches, for part 1 to PacketNetwork::parts(). `threads` (at
  // least 1) changes no result. `large`: kept up to date for the shards.
  template <typename Make>
  Windows(PacketNetwork* network, const PacketPool* pool, Shard<Events>* first, const std::vector<Told>* told,
          int threads, bool* large, const Make& make)
      : network_(*network),
        pool_(*pool),
        first_(*first),
        told_(*told),
        threads_(threads),
        large_(*large),
        all_({first}) {
    for (uint32_t part = 1; part <= network->parts(); ++part) {
      switches_.push_back(make(part));
      all_.push_back(switches_.back().get());
    }
  }

  // The time of the next event; the maximum value if there is none, or if the thread was told to stop
  // (trace/base/stop.h): then nothing happens any more.
  int64_t at();
  // Handles all events up to and including `limit`; with `stop`, only up to the first instant at which
  // something is reported. No shard runs beyond `bound` (>= limit).
  void Run(int64_t limit, bool stop, int64_t bound);
  // With overlap (default: without), Run() returns while switches may still run to the end of a window. The
  // caller may start messages meanwhile. The caller must call Settle() before reading the network or
  // totals(), or changing what shards read.
  void set_overlap(bool overlap) { overlap_ = overlap; }
  // Waits until no shard runs.
  void Settle();
  // Changes the link of a port; while the link is down, its packets are lost.
  void ChangeLink(uint32_t port, double share, int64_t now);

  // The counts of ports, and the number of events.
  PacketTotals totals() const {
    PacketTotals totals = totals_;
    first_.AddCounters(&totals);
    return totals;
  }
  uint64_t MemoryBytes() const {
    uint64_t bytes = 0;
    for (const Shard<Events>* shard : all_) bytes += shard->MemoryBytes();
    return bytes;
  }

 private:
  void Open(int64_t begin, int64_t bound);
  void RunSwitches(uint32_t index);
  // False: it stopped, because something was reported.
  bool RunFirst(int64_t last, bool stop);
  void FindNextOfSwitches();
  void LookAtPool();
  bool Stops() { return stopped_ = stopped_ || StopRequested(); }

  PacketNetwork& network_;
  const PacketPool& pool_;
  Shard<Events>& first_;
  const std::vector<Told>& told_;
  int threads_;
  bool& large_;
  std::vector<std::unique_ptr<Shard<Events>>> switches_;
  std::vector<Shard<Events>*> all_;  // the first, then those of switches
  bool stopped_ = false;
  uint32_t asked_ = 0;  // counts the checks in RunFirst(), to look for a stop request only sometimes
  bool overlap_ = false;
  bool running_ = false;          // the shards of switches may be running in this window
  bool open_ = false;             // a window is under way
  int64_t begin_ = 0, last_ = 0;  // first and last instant of the window, ps
  uint64_t mailbox_ = 0;          // shards with events from others when the window began, one bit each
  // Time of the next event of switches, or of the next event that they posted.
  int64_t switches_at_ = std::numeric_limits<int64_t>::max();
  PacketTotals totals_;      // of all calls of Settle()
  uint64_t busy_ = 0;        // number of events of switches in the last window
  bool shared_out_ = false;  // worker threads run the switches in this window
  std::unique_ptr<WorkerCrew> crew_;
};

}  // namespace chakra::packet
