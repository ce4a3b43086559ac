// A fabric around another one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/fabric.h"

namespace chakra {

// Passes all on to its inner fabric; what wraps one overrides what it changes.
class WrappedFabric : public Fabric {
 public:
  FlowId Start(const Flow& flow, Time now) override { return inner_->Start(flow, now); }
  Time NextEvent() override { return inner_->NextEvent(); }
  Time NextEvent(Time limit) override { return inner_->NextEvent(limit); }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override { inner_->AdvanceTo(t, ended); }

  bool contention_free() const override { return inner_->contention_free(); }
  FlowCost Cost(int src, int dst, uint64_t bytes) const override { return inner_->Cost(src, dst, bytes); }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return inner_->CostByLinks(src, dst, bytes);
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    inner_->Account(src, dst, bytes, times);
  }
  int Level(int a, int b) const override { return inner_->Level(a, b); }
  int Coordinate(int device, int level) const override { return inner_->Coordinate(device, level); }
  int SwitchBetween(int a, int b) const override { return inner_->SwitchBetween(a, b); }

  std::vector<DimensionTraffic> Traffic() const override { return inner_->Traffic(); }
  LinkUses Links(size_t most) const override { return inner_->Links(most); }
  PacketTotals Packets() const override { return inner_->Packets(); }
  std::string WhyStuck() const override { return inner_->WhyStuck(); }
  int devices() const override { return inner_->devices(); }

 protected:
  explicit WrappedFabric(std::unique_ptr<Fabric> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Fabric> inner_;
};

}  // namespace chakra
