// A fabric on which rank r is another device than r.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/wrapped_fabric.h"

namespace chakra {

// Takes ranks where its inner fabric takes devices, and passes all else on, end
// points that are switches (>= devices()) included. Ranks that `device_of` does
// not place take the devices that are left, in order, so that every rank below
// devices() is one device.
class PlacedFabric final : public WrappedFabric {
 public:
  // `device_of`: by rank; at most devices() of them, all different.
  PlacedFabric(std::unique_ptr<Fabric> inner, std::vector<int> device_of);

  FlowId Start(const Flow& flow, Time now) override {
    Flow placed = flow;
    placed.src = At(flow.src);
    placed.dst = At(flow.dst);
    return inner_->Start(placed, now);
  }

  FlowCost Cost(int src, int dst, uint64_t bytes) const override {
    return inner_->Cost(At(src), At(dst), bytes);
  }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return inner_->CostByLinks(At(src), At(dst), bytes);
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    inner_->Account(At(src), At(dst), bytes, times);
  }
  int Level(int a, int b) const override { return inner_->Level(At(a), At(b)); }
  int Coordinate(int rank, int level) const override { return inner_->Coordinate(At(rank), level); }
  int SwitchBetween(int a, int b) const override { return inner_->SwitchBetween(At(a), At(b)); }

  int devices() const override { return static_cast<int>(device_of_.size()); }

 private:
  int At(int endpoint) const {
    const auto i = static_cast<size_t>(endpoint);
    return i < device_of_.size() ? device_of_[i] : endpoint;
  }

  std::vector<int> device_of_;  // of all ranks below devices()
};

// The fabric as it is where `device_of` is empty, else placed by it.
std::unique_ptr<Fabric> Place(std::unique_ptr<Fabric> fabric, const std::vector<int>& device_of);

}  // namespace chakra
