// The ports of all paths, one path after the other, and where packets may change from one to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace chakra::packet {

struct Way;

// A path is known by the number of its first port in the table; the others follow. While parts of a
// simulation run, only part 0 adds to the table; the others may read what was there when they began.
class PathTable {
 public:
  // Where a packet may go on, with `spread=adaptive`: over the path that begins at `ports` and has `hops`
  // hops, which is way `way` of its pair.
  struct Alternative {
    uint32_t ports, way, hops;
  };

  uint32_t operator[](uint32_t i) const { return ports_[i]; }
  uint32_t size() const { return static_cast<uint32_t>(ports_.size()); }
  void Add(uint32_t port) { ports_.push_back(port); }
  // Adds the ports of a path, where an equally long one was given back or at the end; where they begin.
  uint32_t AddPath(std::span<const uint32_t> path);
  // A path that nobody goes any more.
  void GiveBack(uint32_t first, uint32_t count);
  // Adds ports of another table, or of this one; where they begin.
  uint32_t AddCopy(const PathTable& from, uint32_t first, uint32_t count);

  // Is called before entries move: then nobody may read the table.
  void set_before_move(std::function<void()> before_move) { before_move_ = std::move(before_move); }
  // So many may be added before entries move.
  void MakeRoom(size_t entries);

  // Notes where the ways of a pair part. Before the first port of each way that is found there is an entry
  // for this (AddPlaceOfAlternatives()). Of ways that take the same ports up to a hop, each knows for that
  // hop the next one that goes on over another port; in a circle.
  void LinkAlternatives(std::span<const Way> ways);
  void AddPlaceOfAlternatives() { ports_.push_back(0); }
  // At hop `hop` of the path that begins at `ports`: the next in the circle, itself where it is alone.
  Alternative Next(uint32_t ports, uint32_t hop) const {
    const uint32_t* entry = &ports_[ports_[ports - 1] + kPerHop * hop];
    return {entry[0], entry[1], entry[2]};
  }

  uint64_t MemoryBytes() const { return ports_.capacity() * sizeof(uint32_t); }

 private:
  static constexpr uint32_t kPerHop = 3;  // entries of an Alternative

  std::vector<uint32_t> ports_;  // and alternatives
  // By length: the first of the paths that were given back; each begins with the number of the next.
  std::vector<uint32_t> given_back_;
  std::function<void()> before_move_;
};

}  // namespace chakra::packet
