#include "backends/placed_fabric.h"

#include <utility>

namespace chakra {

PlacedFabric::PlacedFabric(std::unique_ptr<Fabric> inner, std::vector<int> device_of)
    : WrappedFabric(std::move(inner)), device_of_(std::move(device_of)) {
  std::vector<bool> taken(static_cast<size_t>(inner_->devices()));
  for (const int device : device_of_) taken[static_cast<size_t>(device)] = true;
  for (size_t device = 0; device < taken.size(); ++device) {
    if (!taken[device]) device_of_.push_back(static_cast<int>(device));
  }
}

std::unique_ptr<Fabric> Place(std::unique_ptr<Fabric> fabric, const std::vector<int>& device_of) {
  if (device_of.empty()) return fabric;
  return std::make_unique<PlacedFabric>(std::move(fabric), device_of);
}

}  // namespace chakra
