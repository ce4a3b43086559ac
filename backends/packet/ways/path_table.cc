#include "backends/packet/ways/path_table.h"

#include <algorithm>
#include <map>

#include "backends/packet/network/packet.h"
#include "backends/packet/ways/connection.h"

namespace chakra::packet {

uint32_t PathTable::AddCopy(const PathTable& from, uint32_t first, uint32_t count) {
  const uint32_t begin = size();
  for (uint32_t i = 0; i < count; ++i) ports_.push_back(from.ports_[first + i]);
  return begin;
}

uint32_t PathTable::AddPath(std::span<const uint32_t> path) {
  if (path.size() < given_back_.size() && given_back_[path.size()] != kNoIndex) {
    const uint32_t first = given_back_[path.size()];
    given_back_[path.size()] = ports_[first];
    std::copy(path.begin(), path.end(), ports_.begin() + first);
    return first;
  }
  const uint32_t first = size();
  ports_.insert(ports_.end(), path.begin(), path.end());
  return first;
}

void PathTable::GiveBack(uint32_t first, uint32_t count) {
  if (count == 0) return;
  if (given_back_.size() <= count) given_back_.resize(count + 1, kNoIndex);
  ports_[first] = std::exchange(given_back_[count], first);
}

void PathTable::MakeRoom(size_t entries) {
  constexpr size_t kLeast = 4096;
  if (ports_.capacity() - ports_.size() >= entries) return;
  if (before_move_) before_move_();
  ports_.reserve(std::max({2 * ports_.capacity(), kLeast, ports_.size() + entries}));
}

void PathTable::LinkAlternatives(std::span<const Way> ways) {
  const auto count = static_cast<uint32_t>(ways.size());
  size_t room = 0;
  uint32_t longest = 0;
  for (const Way& way : ways) {
    if (!way.found) continue;
    room += kPerHop * way.hops;
    longest = std::max<uint32_t>(longest, way.hops);
  }
  MakeRoom(room);
  for (const Way& way : ways) {
    if (!way.found) continue;
    ports_[way.ports - 1] = size();
    ports_.resize(ports_.size() + kPerHop * way.hops);
  }
  std::vector<uint32_t> group(count, 0);  // group of paths that are the same so far
  for (uint32_t hop = 0; hop < longest; ++hop) {
    // By group and port: the first path there, numbered in the order of the paths.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> number;
    std::map<uint32_t, std::vector<uint32_t>> ports;  // by group: numbers, one for each port
    std::vector<uint32_t> first, place(count, kNoIndex);
    for (uint32_t w = 0; w < count; ++w) {
      const Way& way = ways[w];
      if (!way.found || hop >= way.hops) continue;
      const auto [it, is_new] =
          number.try_emplace({group[w], ports_[way.ports + hop]}, static_cast<uint32_t>(first.size()));
      if (is_new) {
        ports[group[w]].push_back(it->second);
        first.push_back(w);
      }
      place[w] = it->second;
    }
    for (uint32_t w = 0; w < count; ++w) {
      if (place[w] == kNoIndex) continue;
      const std::vector<uint32_t>& circle = ports[group[w]];
      const auto at = std::find(circle.begin(), circle.end(), place[w]);
      const uint32_t next = first[at + 1 == circle.end() ? circle.front() : *(at + 1)];
      uint32_t* entry = &ports_[ports_[ways[w].ports - 1] + kPerHop * hop];
      entry[0] = ways[next].ports;
      entry[1] = next;
      entry[2] = ways[next].hops;
    }
    for (uint32_t w = 0; w < count; ++w) group[w] = place[w];
  }
}

}  // namespace chakra::packet
