// A machine: a topology, the ranks on its devices, and the fabric that simulates its links.
//
// The functions here take ranks; topologies and fabrics take devices. An end point that is a switch (>=
// devices()) has the same number in both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/apart.h"
#include "backends/endpoint_prices.h"
#include "backends/exchange_prices.h"
#include "backends/fabric.h"
#include "backends/fabric_report.h"
#include "backends/path_prices.h"
#include "backends/topology/topology.h"

namespace chakra {

// The parts of a machine that do not simulate: its topology, its prices and its reports.
class MachineView {
 public:
  int devices() const { return topology_->devices(); }
  const Topology& topology() const { return *topology_; }
  // The hierarchy of the machine, nearest level first. Level() is the highest level that a path between two
  // ranks crosses; Coordinate() is a rank's number within its block at that level.
  int Level(int a, int b) const { return topology_->Level(At(a), At(b)); }
  int Coordinate(int rank, int level) const { return topology_->Coordinate(At(rank), level); }
  // The one switch between two ranks, as an end point of flows to and from its devices (>= devices()); -1 if
  // there is no such switch.
  int SwitchBetween(int a, int b) const { return topology_->SwitchBetween(At(a), At(b)); }

  // See PathPrices. The prices are the fabric's own, or those of `analytical`.
  bool contention_free() const { return prices_->contention_free(); }
  FlowCost Cost(int src, int dst, uint64_t bytes) const { return prices_->Cost(At(src), At(dst), bytes); }
  // The cost of a message whose sender produces at most `limit` (0: no limit). CostByLinks() adds the
  // additional time to the link with the longest transfer.
  FlowCost Cost(int src, int dst, uint64_t bytes, Bandwidth limit) const {
    return Cost(src, dst, bytes).Limited(bytes, limit);
  }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes, Bandwidth limit = Bandwidth()) const;
  // The same prices by device.
  const PathPrices& prices() const { return *prices_; }
  // Null if the fabric has none.
  const EndpointPrices* endpoint_prices() const { return endpoint_prices_; }

  // See FabricReport; without effect, or empty, if the fabric has no report.
  void Account(int src, int dst, uint64_t bytes, uint64_t times) {
    if (report_ != nullptr) report_->Account(At(src), At(dst), bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const;
  LinkUses Links(size_t most) const;
  PacketTotals Packets() const;
  std::string WhyStuck() const;

 protected:
  MachineView() = default;
  // Copies the topology and the placement of `like`.
  explicit MachineView(const MachineView* like) : topology_(like->topology_), device_of_(like->device_of_) {}
  int At(int endpoint) const {
    const auto i = static_cast<size_t>(endpoint);
    return i < device_of_.size() ? device_of_[i] : endpoint;
  }

  std::shared_ptr<const Topology> topology_;
  std::vector<int> device_of_;  // for all ranks below devices(); empty: rank r is device r
  std::unique_ptr<PathPrices> own_prices_;

  const PathPrices* prices_ = nullptr;               // the fabric, or own_prices_
  FabricReport* report_ = nullptr;                   // the fabric; may be null
  const EndpointPrices* endpoint_prices_ = nullptr;  // the fabric; may be null
};

class Machine final : public MachineView, public Fabric {
 public:
  // `fabric` simulates `topology`. `prices`: for a fabric without its own; may be null for other fabrics.
  Machine(const Topology& topology, std::unique_ptr<Fabric> fabric, std::unique_ptr<PathPrices> prices);
  // A machine as `like`, with another fabric. `fabric` must have its own prices.
  Machine(const MachineView& like, std::unique_ptr<Fabric> fabric);

  // Puts rank r on device `device_of`[r]: at most devices() entries, all different. The remaining ranks get
  // the remaining devices in order. Empty: rank r is on device r.
  void Place(const std::vector<int>& device_of);
  // `wrap` receives the fabric and returns a fabric around it. Prices and reports stay those of the inner
  // fabric.
  void Wrap(const std::function<std::unique_ptr<Fabric>(std::unique_ptr<Fabric>)>& wrap);

  FlowId Start(const Flow& flow, Time now) override {
    if (device_of_.empty()) return fabric_->Start(flow, now);
    Flow placed = flow;
    placed.src = At(flow.src);
    placed.dst = At(flow.dst);
    return fabric_->Start(placed, now);
  }
  void StartAll(std::shared_ptr<const FlowList> flows, Time now) override {
    if (device_of_.empty()) return fabric_->StartAll(std::move(flows), now);
    Fabric::StartAll(std::move(flows), now);
  }
  uint64_t FlowMemory(uint64_t bytes) const override { return fabric_->FlowMemory(bytes); }
  Time NextEvent() override { return fabric_->NextEvent(); }
  Time NextEvent(Time limit) override { return fabric_->NextEvent(limit); }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override { fabric_->AdvanceTo(t, ended); }

  // The fabric itself, whose end points are devices.
  const Fabric& fabric() const { return *fabric_; }

  // See ApartFabrics. MakeApart() also returns null if the fabric is no ApartFabrics. The others may be
  // called only where MakeApart() is not null.
  std::unique_ptr<Machine> MakeApart() const;
  void Unite(const Hop& link, const Hop& like) { apart_->Unite(link, like); }
  bool LinksBetween(int src, int dst, std::vector<Hop>* links) {
    return apart_->LinksBetween(At(src), At(dst), links);
  }
  std::vector<double> Peaks() const { return apart_->Peaks(); }
  void CountApart(int src, int dst, uint64_t bytes, uint64_t wire_bytes, uint64_t times, int like_src,
                  int like_dst, const std::vector<double>& peaks) {
    apart_->CountApart(At(src), At(dst), bytes, wire_bytes, times, At(like_src), At(like_dst), peaks);
  }
  // See ExchangePrices; also nullopt if the fabric is no ExchangePrices.
  std::optional<ExchangeTime> TimeOfExchange(const std::vector<int>& ranks,
                                             const std::vector<ExchangeMessage>& messages,
                                             std::vector<double>* peaks = nullptr) const;

 private:
  void Ask();

  std::unique_ptr<Fabric> fabric_;
  ApartFabrics* apart_ = nullptr;  // the fabric; may be null
};

}  // namespace chakra
