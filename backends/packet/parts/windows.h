// All shards of a simulation in time, on one thread or several.
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

// Where the network has several parts, time goes by in windows of its lookahead: in a window no shard learns
// what another does, so that they run side by side. Shards of switches run to the end of a window at once;
// the first shard, where messages begin and end, goes on as Run() says. So what ports of switches counted is
// up to a window ahead, by the same for any number of threads. All else is as if there were one part.
// Definitions are in windows_impl.h.
template <typename Events>
class Windows {
 public:
  // All of them must outlive it. `first`: where messages begin and end, told in `told`. `make(part)`: a shard
  // of switches, part 1 to PacketNetwork::parts(). `threads` (at least 1) change no result. `large`: is kept
  // up to date for the shards.
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

  // When the next event is; the greatest time where there is none, and where the thread was told to stop
  // (trace/base/stop.h): then nothing happens any more.
  int64_t at();
  // All events up to and at `limit`; with `stop` only those up to the first instant at which something is
  // told. No shard goes beyond `bound` (>= limit).
  void Run(int64_t limit, bool stop, int64_t bound);
  // With overlap (at first without) Run() returns while switches are still on their way to the end of a
  // window: the caller may start messages meanwhile, and calls Settle() before it looks at the network, at
  // totals(), or changes what shards read.
  void set_overlap(bool overlap) { overlap_ = overlap; }
  // Waits until no shard runs.
  void Settle();
  // Of a port: its packets are lost while it is down.
  void ChangeLink(uint32_t port, double share, int64_t now);

  // What ports counted, and events.
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
  // False: it stopped, for something was told.
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
  uint32_t asked_ = 0;  // how often RunFirst() might have looked whether it is to stop
  bool overlap_ = false;
  bool running_ = false;          // switches, in the window
  bool open_ = false;             // a window is under way
  int64_t begin_ = 0, last_ = 0;  // of the window, ps
  uint64_t mail_ = 0;             // shards with mail when it began, a bit each
  // The next event of switches, or mail from them.
  int64_t switches_at_ = std::numeric_limits<int64_t>::max();
  PacketTotals totals_;      // of all Settle()
  uint64_t busy_ = 0;        // events of switches in the last window
  bool shared_out_ = false;  // threads run the switches
  std::unique_ptr<WorkerCrew> crew_;
};

}  // namespace chakra::packet
