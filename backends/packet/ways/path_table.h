// The ports of all paths, one path after the other, and the ports at which packets may change to another
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace chakra::packet {

struct Way;

// A path is identified by the index of its first port in the table; the other ports follow. While parts of a
// simulation run, only part 0 adds to the table; other parts may read entries that existed when they began to
// run.
class PathTable {
 public:
  // A path on which a packet may continue, with `spread=adaptive`. The path begins at `ports`, has `hops`
  // hops, and is number `way` of its pair.
  struct Alternative {
    uint32_t ports, way, hops;
  };

  uint32_t operator[](uint32_t i) const { return ports_[i]; }
  uint32_t size() const { return static_cast<uint32_t>(ports_.size()); }
  void Add(uint32_t port) { ports_.push_back(port); }
  // Adds the ports of a path, in place of an equally long path that was given back, or at the end. Returns
  // its begin.
  uint32_t AddPath(std::span<const uint32_t> path);
  // Gives back a path that is no longer used.
  void GiveBack(uint32_t first, uint32_t count);
  // Adds a copy of ports of another table, or of this one. Returns its begin.
  uint32_t AddCopy(const PathTable& from, uint32_t first, uint32_t count);

  // `before_move` is called before entries move in memory; afterwards nobody may be reading the table.
  void set_before_move(std::function<void()> before_move) { before_move_ = std::move(before_move); }
  // Makes room so that `entries` can be added without moving the existing entries.
  void MakeRoom(size_t entries);

  // Records where the paths of a pair branch. Before the first port of each found path there is an entry for
  // this (AddPlaceOfAlternatives()). Among paths with the same ports up to a hop, each path refers, for that
  // hop, to the next path that continues over another port; the references form a ring.
  void LinkAlternatives(std::span<const Way> ways);
  void AddPlaceOfAlternatives() { ports_.push_back(0); }
  // The next alternative in the ring at hop `hop` of the path that begins at `ports`; the path itself if
  // there is no other.
  Alternative Next(uint32_t ports, uint32_t hop) const {
    const uint32_t* entry = &ports_[ports_[ports - 1] + kPerHop * hop];
    return {entry[0], entry[1], entry[2]};
  }

  uint64_t MemoryBytes() const { return ports_.capacity() * sizeof(uint32_t); }

 private:
  static constexpr uint32_t kPerHop = 3;  // entries of an Alternative

  std::vector<uint32_t> ports_;  // ports of paths, and entries of alternatives
  // By length: the begin of the first path that was given back. The first entry of such a path is the begin
  // of the next.
  std::vector<uint32_t> given_back_;
  std::function<void()> before_move_;
};

}  // namespace chakra::packet
