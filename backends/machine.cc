#include "backends/machine.h"

#include <algorithm>
#include <utility>

namespace chakra {
std::vector<DimensionTraffic> MachineView::Traffic() const {
  return report_ == nullptr ? std::vector<DimensionTraffic>() : report_->Traffic();
}

LinkUses MachineView::Links(size_t most) const {
  return report_ == nullptr ? LinkUses() : report_->Links(most);
}

PacketTotals MachineView::Packets() const { return report_ == nullptr ? PacketTotals() : report_->Packets(); }

std::string MachineView::WhyStuck() const { return report_ == nullptr ? "" : report_->WhyStuck(); }

std::vector<LinkCost> MachineView::CostByLinks(int src, int dst, uint64_t bytes, Bandwidth limit) const {
  std::vector<LinkCost> costs = prices_->CostByLinks(At(src), At(dst), bytes);
  const FlowCost alone = Cost(src, dst, bytes);
  const Time more = alone.Limited(bytes, limit).transfer - alone.transfer;
  if (costs.empty() || more == Time::Zero()) return costs;
  std::max_element(costs.begin(), costs.end(), [](const LinkCost& a, const LinkCost& b) {
    return a.transfer < b.transfer;
  })->transfer += more;
  return costs;
}

Machine::Machine(const Topology& topology, std::unique_ptr<Fabric> fabric, std::unique_ptr<PathPrices> prices)
    : fabric_(std::move(fabric)) {
  topology_ = std::make_shared<const Topology>(topology);
  Ask();
  if (prices_ != nullptr) return;
  own_prices_ = std::move(prices);
  prices_ = own_prices_.get();
}

Machine::Machine(const MachineView& like, std::unique_ptr<Fabric> fabric)
    : MachineView(&like), fabric_(std::move(fabric)) {
  Ask();
}

// Finds the optional interfaces of the fabric.
void Machine::Ask() {
  prices_ = dynamic_cast<const PathPrices*>(fabric_.get());
  report_ = dynamic_cast<FabricReport*>(fabric_.get());
  apart_ = dynamic_cast<ApartFabrics*>(fabric_.get());
  endpoint_prices_ = dynamic_cast<const EndpointPrices*>(fabric_.get());
}

std::unique_ptr<Machine> Machine::MakeApart() const {
  std::unique_ptr<Fabric> fabric = apart_ == nullptr ? nullptr : apart_->MakeApart();
  return fabric == nullptr ? nullptr : std::make_unique<Machine>(*this, std::move(fabric));
}

std::optional<ExchangeTime> Machine::TimeOfExchange(const std::vector<int>& ranks,
                                                    const std::vector<ExchangeMessage>& messages,
                                                    std::vector<double>* peaks) const {
  const auto* prices = dynamic_cast<const ExchangePrices*>(fabric_.get());
  if (prices == nullptr) return std::nullopt;
  std::vector<int> devices;
  for (const int rank : ranks) devices.push_back(At(rank));
  return prices->TimeOfExchange(devices, messages, peaks);
}

void Machine::Place(const std::vector<int>& device_of) {
  device_of_ = device_of;
  if (device_of_.empty()) return;
  std::vector<bool> taken(static_cast<size_t>(devices()));
  for (const int device : device_of_) taken[static_cast<size_t>(device)] = true;
  for (size_t device = 0; device < taken.size(); ++device) {
    if (!taken[device]) device_of_.push_back(static_cast<int>(device));
  }
}

void Machine::Wrap(const std::function<std::unique_ptr<Fabric>(std::unique_ptr<Fabric>)>& wrap) {
  fabric_ = wrap(std::move(fabric_));
  apart_ = nullptr;  // the wrapper must see each flow, and ApartFabrics would bypass it
}

}  // namespace chakra
