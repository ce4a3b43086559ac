// A number for every vertex towards one destination at a time, within bounds.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// Remembers a field (a number of each vertex that messages pass through) for
// each destination. Devices that hang on the same vertices share one; half of
// the fields are dropped, the longest unused first, when they take more than
// `budget` bytes. Not thread-safe.
class DestinationFields {
 public:
  // `graph` must outlive it.
  DestinationFields(const NetworkGraph& graph, uint64_t budget);

  // Which arcs messages may use; null: all. Kept by reference. Fields are found
  // anew when they are next needed, so many calls in a row cost little.
  void SetAlive(const std::vector<bool>* alive) {
    alive_ = alive;
    stale_ = true;
  }
  bool Alive(uint32_t arc) const { return alive_ == nullptr || (*alive_)[arc]; }

  // Where a field holds the number of `v`, a vertex that messages pass through.
  size_t Index(uint32_t v) const { return graph_->devices_forward() ? v : v - graph_->devices(); }
  size_t size() const { return graph_->vertices() - (graph_->devices_forward() ? 0 : graph_->devices()); }

  // The field towards `to`; where it is not known, search(home, &field) fills it
  // in for the first device that hangs where `to` hangs, or for `to` itself.
  // Valid until the next call for another destination.
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
  std::vector<uint32_t> home_;        // by device: the first device that hangs on the same vertices
  std::map<uint32_t, Field> fields_;  // by destination, devices by their home
  uint32_t last_to_ = NetworkGraph::kNone;
  const Field* last_ = nullptr;
  uint64_t clock_ = 0;
};

}  // namespace chakra
