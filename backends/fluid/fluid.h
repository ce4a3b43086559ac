// `fluid`: flows share links max-min fairly. Rates change only when a flow begins or ends, or when a link
// changes.
//
// A flow uses the links of its path from its start (after FlowOptions::startup) until its last byte has left,
// at sent = start + the time that its bytes need at its rates; received = sent + sum of the path's latencies.
// A flow that shares no link has the same times as in `analytical`, to the picosecond. This is the model of
// SimGrid's CM02 (Casanova and Marchal, "A Network Model for Simulation of Grid Application", 2002) without
// its correction factors.
//
// An isolated flow (no other flow uses its links) does not enter the solver, because its rate and end are
// known. It enters the solver when another flow begins to use one of its links.
//
// The limit of a flow is a link of its own in the solver, which holds the flow like any other link.
//
// A flow that is spread over several paths uses its share of each of their links. It has arrived when its
// slowest path has delivered.
//
// In-order flows of one tag use their links one after another. If they shared the links, the first of many
// would arrive with the last.
//
// There are two solvers. Usually `network_` computes the rates and returns each flow whose rate changed; each
// such flow then gets a new end. If each end changes the rates of hundreds of flows, as in an all-to-all with
// sizes that all differ, `clocks_` is used until all flows have ended; there the cost of a change depends on
// the links, not on the flows. Both solve to 1e-12; ends may differ by a picosecond if they are near the
// border between two.
//
// When a link goes down, its flows immediately move their remaining bytes to another path; if there is none,
// they wait. A link that comes back is used by flows that begin, that wait, or that took another path because
// of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/analytical/path_cost.h"
#include "backends/apart.h"
#include "backends/exchange_prices.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "backends/fluid/clocks.h"
#include "backends/fluid/end_queue.h"
#include "backends/fluid/event_queue.h"
#include "backends/fluid/link_log.h"
#include "backends/fluid/network.h"
#include "backends/fluid/options.h"
#include "backends/fluid/tell_queue.h"
#include "trace/base/prefetch.h"

namespace chakra {

class FluidFabric final : public Fabric,
                          public PathPrices,
                          public FabricReport,
                          public ExchangePrices,
                          public ApartFabrics,
                          private LinkLoad {
 public:
  // `bucket`: the initial length of a bucket of the series in Links().
  FluidFabric(const Topology& topology, const FabricOptions& options, Time bucket = LinkLog::kBucket);

  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override;
  // At the instant at which flows were started, returns the next picosecond without solving: more flows may
  // start at this instant, and each would need a solution.
  Time NextEvent(Time limit) override;
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  FlowCost Cost(int src, int dst, uint64_t bytes) const override;
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return cost_.ByLinks(src, dst, bytes, Cost(src, dst, bytes));
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    cost_.Account(src, dst, bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const override { return cost_.Traffic(); }
  LinkUses Links(size_t most) const override;
  std::optional<ExchangeTime> TimeOfExchange(const std::vector<int>& devices,
                                             const std::vector<ExchangeMessage>& messages,
                                             std::vector<double>* peaks = nullptr) const override;

  // In apart.cc.
  std::unique_ptr<Fabric> MakeApart() const override;
  void Unite(const Hop& link, const Hop& like) override { link_of_[link.link] = LinkOf(like); }
  bool LinksBetween(int src, int dst, std::vector<Hop>* links) override;
  std::vector<double> Peaks() const override;
  void CountApart(int src, int dst, uint64_t bytes, uint64_t wire_bytes, uint64_t times, int like_src,
                  int like_dst, const std::vector<double>& peaks) override;

  const FluidNetwork& network() const { return network_; }
  // Null while `network_` computes the rates.
  const FluidClocks* clocks() const { return clocks_.get(); }
  // For tests: clocks are used after `solutions` consecutive solutions that each changed at least `rates`
  // rates.
  void ClockFrom(size_t rates, uint32_t solutions) {
    clock_from_ = rates;
    clock_after_ = solutions;
  }

  // A background flow is simulated elsewhere but shares links with flows here. From the last
  // AdvanceTo() until its removal, it has its max-min share of `hops` (at least one link, each at most once).
  // Links() does not include background flows. `limit`: as Flow::limit.
  uint32_t AddBackground(const std::vector<RouteHop>& hops, int service_class, Bandwidth limit);
  void RemoveBackground(uint32_t background);
  // The share of a link's current bandwidth (times FlowOptions::efficiency) that flows leave, without
  // background flows; in [0, 1]. Call it after NextEvent().
  double Left(const Hop& hop);
  // Sets whether TakeChanged() reports the link.
  void Follow(const Hop& hop, bool follow) { links_[LinkOf(hop)].followed = follow; }
  // Appends the followed links whose Left() may have changed since the last call, by the topology's number.
  void TakeChanged(std::vector<uint32_t>* links);
  // The route of a flow that begins now; null if the topology has no network.
  const Route* RouteOf(const Flow& flow);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  // At one instant, links change first, then flows begin and end, then ends are reported.
  enum Kind : uint8_t { kBegin, kEnd, kIsolatedEnd, kTellSent, kTellReceived };
  static constexpr uint64_t kKinds = 8;  // at least the number of kinds
  // Members that a change of the rate needs; the others are in Transfer.
  struct Progress {
    double left = 0;  // bytes
    double rate = 0;  // bytes a picosecond
    Time since;       // time of `left` and `rate`
  };
  struct Transfer {
    Flow flow;
    uint64_t order = 0;
    uint32_t network_flow = kNone;
    uint32_t isolated_link = kNone;  // if isolated: the first of its links; see LinkRecord
    Time ready;                  // end of the start-up time
    Time begin;                  // when it took its links; Never() if it was ever slower than its path allows
    double most = 0;             // highest rate: capacity of its path, or its limit
    uint32_t own_link = kNone;   // in the solver: the link of its limit
    Time alone;                  // its transfer time if isolated
    Time latency;                // latency of its path
    bool counted = false;        // it is counted in Traffic()
    bool detoured = false;       // links were down when its path was chosen
    uint32_t next = kNone;       // the in-order transfer after this one
  };
  // One cache line, because an event reads links in random order.
  struct alignas(64) LinkRecord {
    Hop hop;
    bool followed = false, told = false;  // see TakeChanged()
    bool own = false;                     // the link of a flow's limit: not in the topology
    // If an isolated transfer uses this link: the transfer, its next link, and its share.
    uint32_t isolated = kNone;
    uint32_t next = kNone;
    double share = 0;
    double capacity = 0;  // before changes of links; bytes a picosecond
    uint64_t flows = 0;
    double bytes = 0;
    double taken = 0;  // rate of flows; bytes a picosecond
  };
  struct BackgroundShare {  // a background flow on a link
    uint32_t background;
    double share;
  };
  // The path of a flow, and its transfer time if isolated.
  struct Way {
    int src = -1, dst = -1;
    const Route* route = nullptr;
    Route own;  // the route if there is no router
    std::vector<FluidHop> links;
    double most = 0;  // highest rate
    uint64_t bytes = 0;
    Time alone;
  };
  static constexpr size_t kWays = 1024;
  // From this share of the highest rate on, a flow counts as not slowed by others.
  static constexpr double kWhole = 1 - 1e-12;

  double FlowsOn(uint32_t link) const override;
  uint32_t LinkOf(const Hop& hop);
  // The path of a flow. Valid until the next call.
  const Way& WayOf(const Flow& flow);
  void FindWay(const Flow& flow, Way* way);
  void Post(Time at, Kind kind, uint32_t transfer);
  void BeginWhenReady(uint32_t transfer, Time now);
  void Begin(uint32_t transfer, Time now);
  // Returns an unused link for a limit in bytes a picosecond.
  uint32_t TakeOwnLink(double limit);
  // Adds the link of the transfer's limit to path_links_, unless the transfer has no limit or its path is
  // slower.
  void AddOwnLink(uint32_t transfer, double path_most);
  // Puts the transfer with its remaining bytes on its route.
  void Enter(uint32_t transfer, Time now);
  void Leave(uint32_t transfer);
  // The links that the transfer used before it was rerouted; null: none.
  const std::vector<uint32_t>* Crossed(uint32_t transfer) const;
  // Makes the transfer isolated on the links of `way`. False: other flows use them.
  bool StandAlone(uint32_t transfer, const Way& way);
  // The transfer is no longer isolated: removes it from its links.
  void LeaveAlone(uint32_t transfer);
  // Makes the isolated transfer on `link` enter the solver.
  void Join(uint32_t link);
  void EnterNetwork(uint32_t transfer);
  void LeaveNetwork(uint32_t transfer);
  size_t InNetwork(uint32_t link) const {
    return clocks_ == nullptr ? network_.flows_on(link) : clocks_->levels().flows_on(link);
  }
  // Handles transfers that became isolated at this instant.
  void SettleIsolated();
  // From now on, flows have `rate` (bytes a picosecond) on a link.
  void SetTaken(uint32_t link, double rate) {
    LinkRecord& record = links_[link];
    if (record.own) return;
    log_.Set(link, rate, now_);
    record.taken = rate;
    if (!record.followed || record.told) return;
    record.told = true;
    told_links_.push_back(link);
  }
  // The rate of background flows on a link.
  double BackgroundOn(uint32_t link) const;
  void End(uint32_t transfer, Time now);
  Time EndOf(const Transfer& transfer, const Progress& progress, Time now) const;
  // Solves for the changes at the current instant.
  void Settle();
  void SettleNetwork();
  // In clocked.cc. Churns(): whether to switch to clocks now.
  bool Churns();
  void Clock();
  void Unclock();
  void SettleClocks();
  // The bytes that a transfer has left now, computed from `progress`.
  double LeftOf(const Progress& p) const {
    const double moved = p.rate * static_cast<double>((now_ - p.since).picos());
    return moved < p.left ? p.left - moved : 0;
  }
  void Change(const LinkChange& change);
  // Adds detoured transfers that would take another path now to waiting_.
  void CallBack();
  void ChangeLinks();
  Time NextAt() const;
  // As NextAt(), but from the rates of the last Settle(), even if flows were added since.
  Time NextKnown() const;
  // Handles all events of the current instant.
  void Step(std::vector<FlowEnd>* ended);
  void Handle(const EventQueue::Event& event);
  // Prefetches the data of a transfer for Handle(). FetchLinks() prefetches the transfer's links.
  void Fetch(uint32_t transfer) const {
    PrefetchToWrite(&transfers_[transfer]);
    PrefetchToWrite(reinterpret_cast<const char*>(&transfers_[transfer] + 1) - 1);
    PrefetchToWrite(&progress_[transfer]);
  }
  void FetchLinks(uint32_t transfer) const;

  mutable PathCost cost_;  // caches transfer times
  FabricOptions all_options_;
  FlowOptions options_;
  bool link_series_;
  FluidNetwork network_;
  std::unique_ptr<FluidClocks> clocks_;
  Time came_;      // last instant at which a flow was added
  Time solve_at_;  // until then clocks do not give away the bandwidth of ended flows: FlowOptions::tolerance
  size_t clock_from_ = 64;
  uint32_t clock_after_ = 16, churned_ = 0;  // churned_: number of consecutive solutions
  size_t came_or_gone_ = 0;            // flows added to or removed from network_ since its last solution
  std::vector<uint32_t> whole_;        // transfers on clocks that were never slower than their paths
  std::vector<uint32_t> link_of_;      // by the topology's number; the network's number
  std::vector<LinkRecord> links_;      // by the network's number
  std::vector<uint32_t> transfer_of_;  // by the flow's number in the network
  std::vector<Transfer> transfers_;
  std::vector<Progress> progress_;
  absl::flat_hash_map<double, std::vector<uint32_t>> own_links_;  // by limit: links that no flow uses
  absl::flat_hash_map<uint64_t, uint32_t> last_;                  // by tag: the last in-order transfer
  std::vector<uint32_t> unused_, waiting_;                        // waiting_: cut off by dead links
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> crossed_;  // by transfer under way
  EventQueue events_;                                             // begins, and ends of isolated transfers
  TellQueue tells_;
  EndQueue ends_;
  std::vector<LinkChange> changes_;  // by time
  size_t next_change_ = 0;
  int links_down_ = 0;
  std::vector<Way> ways_;          // by source; only one if there is a router
  std::vector<uint32_t> isolated_;  // transfers that became isolated at this instant
  std::vector<uint32_t> joined_;   // transfers that were isolated until this instant
  std::vector<double> change_of_;  // by the topology's number; empty if no link changes
  LinkLog log_;
  absl::flat_hash_map<uint32_t, std::vector<BackgroundShare>> background_on_;  // by link
  std::vector<uint32_t> told_links_;                                  // reported by the next TakeChanged()
  std::vector<uint32_t> changed_, taken_;
  std::vector<FluidHop> path_links_;
  std::vector<Hop> hops_, like_hops_;
  std::vector<EventQueue::Event> due_;
  std::vector<std::pair<uint64_t, FlowEnd>> told_;  // ends of one instant with their order
  std::vector<FlowEnd> early_;                      // ends before a Start() that are not yet reported
  Time now_;
  uint64_t orders_ = 0;
  uint64_t solved_ = 0;  // only in debug builds
};

}  // namespace chakra
