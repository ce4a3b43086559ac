// Caches, within a memory bound, a number for each vertex and destination.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// Caches a field for each destination: a number for each vertex that messages pass through. Devices with the
// same neighbours share a field. When the fields need more than `budget` bytes, half of them are dropped,
// those unused for the longest time first. Not thread-safe.
class DestinationFields {
 public:
  // `graph` must outlive the object.
  DestinationFields(const NetworkGraph& graph, uint64_t budget);

  // Sets the arcs that messages may use; null: all. The vector is kept by reference. Fields are computed
  // again only when they are needed, so many calls in a row cost little.
  void SetAlive(const std::vector<bool>* alive) {
    alive_ = alive;
    stale_ = true;
  }
  bool Alive(uint32_t arc) const { return alive_ == nullptr || (*alive_)[arc]; }

  // The index in a field of `v`, a vertex that messages pass through.
  size_t Index(uint32_t v) const { return graph_->devices_forward() ? v : v - graph_->devices(); }
  size_t size() const { return graph_->vertices() - (graph_->devices_forward() ? 0 : graph_->devices()); }

  // The field towards `to`. If it is not cached, search(home, &field) computes it; `home` is the first device
  // with the same neighbours as `to`, or `to` itself. Valid until the next call for another destination.
  template <typename Search>
  const std::vector<uint16_t>& Of(uint32_t to, const Search& search) {
    if (stale_) Renew();
    const uint32_t home = to < home_.size() ? home_[to] : to;
    if (home == last_to_) return last_->numbers;
    Field& field = fields_[home];
    if (field.numbers.empty()) search(home, &field.numbers);
    field.used = ++clock_;
    last_to_ = home;
    last_ = &field;
    Shrink();
    return field.numbers;
  }

  uint64_t MemoryBytes() const { return fields_.size() * FieldBytes() + home_.capacity() * sizeof(uint32_t); }

 private:
  struct Field {
    std::vector<uint16_t> numbers;
    uint64_t used = 0;
  };
  uint64_t FieldBytes() const { return size() * sizeof(uint16_t) + sizeof(Field); }
  void Renew();
  void FindHomes();
  void Shrink();

  const NetworkGraph* graph_;
  uint64_t budget_;
  const std::vector<bool>* alive_ = nullptr;
  bool stale_ = true;
  std::vector<uint32_t> home_;        // by device: the first device with the same neighbours
  std::map<uint32_t, Field> fields_;  // by destination; for a device, by its home
  uint32_t last_to_ = NetworkGraph::kNone;
  const Field* last_ = nullptr;
  uint64_t clock_ = 0;
};

}  // namespace chakra
