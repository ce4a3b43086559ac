// Random traces that the engine can replay, and some that it cannot finish.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "test/replay/trace_builder.h"

namespace chakra {

inline TraceBuilder RandomTraces(std::mt19937& random, int ranks) {
  TraceBuilder b(ranks);
  b.groups["a"] = {0, 1};
  if (ranks > 2) b.groups["b"] = {ranks - 1, 0, 1};
  if (ranks > 3) b.groups["c"] = {1, 3};
  const auto deps = [&](int rank) {
    std::vector<uint64_t> list;
    const uint64_t n = b.NextId(rank);
    for (int i = static_cast<int>(random() % 3); i > 0 && n > 0; --i)
      list.push_back(n - 1 - random() % std::min<uint64_t>(n, 6));
    return list;
  };
  const auto maybe_lane = [&](et::Node& node, int one_in) {
    if (random() % one_in == 0) TraceBuilder::Int(&node, "stream", random() % 2);
  };
  const int ops = 5 + static_cast<int>(random() % 30);
  for (int i = 0; i < ops; ++i) {
    const int rank = static_cast<int>(random() % ranks);
    switch (random() % 6) {
      case 0:
      case 1: {
        et::Node& node = b.Comp(rank, random() % 4, deps(rank));
        maybe_lane(node, 3);
        if (random() % 4 == 0) TraceBuilder::Int(&node, "is_cpu_op", 1);
        break;
      }
      case 2: {
        const int to = static_cast<int>(random() % ranks);
        if (to == rank) break;
        const int tag = static_cast<int>(random() % 2);
        const int64_t bytes = static_cast<int64_t>(random() % 4) * 25000;  // half microseconds
        b.Send(rank, to, bytes, tag, deps(rank));
        b.Recv(to, rank, bytes, tag, deps(to));
        break;
      }
      case 3:
        TraceBuilder::Int(&b.Add(rank, random() % 2 ? et::MEM_LOAD_NODE : et::MEM_STORE_NODE, deps(rank)),
                          "tensor_size", 1000);
        break;
      case 4:
        b.Add(rank, random() % 2 ? et::METADATA_NODE : et::INVALID_NODE, deps(rank));
        break;
      default: {
        auto group = b.groups.begin();
        std::advance(group, random() % b.groups.size());
        const bool world = random() % 3 == 0;
        std::vector<int> members = group->second;
        if (world) {
          members.clear();
          for (int r = 0; r < ranks; ++r) members.push_back(r);
        }
        const auto type = static_cast<CollectiveType>(random() % kCollectiveTypes);
        const int64_t bytes = static_cast<int64_t>(random() % 50) * 5000;
        const bool lane = random() % 3 == 0;
        for (int r : members) {
          et::Node& node = b.Coll(r, type, bytes, deps(r), world ? "" : group->first);
          if (lane) TraceBuilder::Int(&node, "stream", 2);
        }
      }
    }
  }
  return b;
}

// Delays of dependencies, on half of the traces; quarters of a microsecond, often none.
inline void AddRandomDelays(std::mt19937& random, int ranks, TraceBuilder* b) {
  if (random() % 2) return;
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.data_deps_size() == 0 || random() % 2) continue;
      std::vector<int64_t> delays;
      for (int i = 0; i < node.data_deps_size(); ++i) {
        delays.push_back(random() % 3 ? static_cast<int64_t>(random() % 8) * 250 : 0);
      }
      TraceBuilder::Delays(&node, delays);
    }
  }
}

// Recorded times of communication: transfers, durations, or none.
inline void AddRandomTransfers(std::mt19937& random, int ranks, TraceBuilder* b) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.type() < et::COMM_SEND_NODE) continue;
      if (random() % 4) node.set_duration_micros(random() % 5);
      if (random() % 2) TraceBuilder::Int(&node, "transfer_ns", static_cast<int64_t>(random() % 8) * 250);
    }
  }
}

}  // namespace chakra
