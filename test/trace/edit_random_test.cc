// Edits of collectives and storage on random graphs: the output is valid, bytes add up, and the calls of each
// group keep their order, whatever other nodes a rank has.
#include <gtest/gtest.h>

#include <random>

#include "test/trace/edit_testing.h"
#include "trace/et/read_options.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

struct Shape {
  bool starts = false, streams = false;
};

std::string RandomTrace(uint32_t seed, const Shape& shape) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return random() % n; };
  std::string out;
  for (uint32_t id = 1; id <= 30; ++id) {
    const bool collective = below(2) == 0;
    absl::StrAppend(&out, id, collective ? (below(3) == 0 ? " all_gather n" : " all_reduce n") : " comp n",
                    id);
    if (shape.starts) absl::StrAppend(&out, " start=", 1 + id / 2 + below(9));
    if (!collective) absl::StrAppend(&out, " us=", 1 + below(5));
    if (collective) absl::StrAppend(&out, " bytes=", 3 + below(100));
    if (shape.streams && below(2) == 0)
      absl::StrAppend(&out, " stream=", collective ? 7 + below(2) : below(2));
    if (collective) absl::StrAppend(&out, " group=", below(2) == 0 ? "dp" : "tp");
    absl::StrAppend(&out, " <-");
    std::set<uint32_t> on;
    while (id > 1 && below(3) != 0) on.insert(1 + below(id - 1));
    for (const uint32_t d : on) absl::StrAppend(&out, " ", d);
    absl::StrAppend(&out, "\n");
  }
  return out;
}

// The calls of each strict lane of communication in recorded order, by name; parts of one call count once.
std::map<std::string, std::vector<std::string>> Calls(const RankTrace& trace) {
  std::map<std::string, std::vector<std::string>> out;
  const Graph& g = *trace.graph;
  for (const uint32_t r : g.order) {
    if (g.type[r] != NodeType::kCollective) continue;
    const bool lane = !g.lane.empty() && g.lane[r] != kNoLane;
    auto& calls =
        out[lane ? absl::StrCat("stream ", g.lane[r]) : trace.group_names[trace.peers[g.payload[r]].group]];
    const std::string name(g.name_of(r));
    if (calls.empty() || calls.back() != name) calls.push_back(name);
  }
  return out;
}

uint64_t BytesOf(const std::vector<et::Node>& nodes) {
  uint64_t sum = 0;
  for (const et::Node& n : nodes) {
    for (const et::AttributeProto& a : n.attr()) {
      if (a.name() == "comm_size") sum += static_cast<uint64_t>(a.int64_val());
    }
  }
  return sum;
}

TEST(RandomEdits, StayValidAndKeepTheOrderOfCalls) {
  struct Case {
    const char* operation;
    bool bytes, order;  // whether the edit keeps the bytes, and the order of calls
  };
  const Case cases[] = {
      {"split_collectives { parts: 3 }", true, true},
      {"split_collectives { parts: 2 parallel: true }", true, true},
      {"split_collectives { most_bytes: 40 }", true, true},
      {"merge_collectives {}", true, false},
      {"merge_collectives { count: 2 }", true, false},
      {"compress { ratio: 0.5 encode_us_per_mb: 1e5 decode_us_per_mb: 2e5 }", false, true},
      {"storage { bytes: 9 blocking: true every: 2 }", true, true},
      {"storage { bytes: 9 kind: LOAD blocking: true }", true, true},
      {"storage { bytes: 9 kind: LOAD }", true, true},
  };
  const Groups groups = {{"dp", {0, 1}}, {"tp", {0, 1}}};
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const TraceSet set = MakeSet({RandomTrace(seed, {(seed & 1) != 0, (seed & 2) != 0})}, groups);
    const uint64_t bytes =
        BytesOf(ParseFrames(Frames(RandomTrace(seed, {(seed & 1) != 0, (seed & 2) != 0}))));
    for (const Case& c : cases) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", c.operation));
      const auto out =
          EditSet(set, absl::StrCat("edit { select { type: \"collective\" } ", c.operation, " }"));
      ASSERT_TRUE(out.ok()) << out.status();
      if (c.bytes) {
        EXPECT_EQ(BytesOf(out->nodes[0]), bytes);
      }
      if (!c.order) continue;
      const auto trace = DecodeTrace(out->frames[0], "edited.et", 0, ReadOptions());
      ASSERT_TRUE(trace.ok()) << trace.status();
      EXPECT_EQ(Calls(*trace), Calls(set.ranks[0]));
    }
  }
}

// A thread and a stream as in a capture: most nodes wait for the node before them; nodes x are removed.
std::string RandomCapture(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return random() % n; };
  const auto dep = [&](uint32_t on, const char* kind) {
    return absl::StrCat(" ", on, below(2) == 0 ? "" : absl::StrCat("+", below(4)), kind);
  };
  std::string out;
  uint32_t last[2] = {0, 0};
  for (uint32_t id = 1; id <= 40; ++id) {
    const uint32_t lane = below(2);
    absl::StrAppend(&out, id, " comp ", below(2) == 0 ? "x" : "n", id, " us=", below(4),
                    lane == 0 ? " tid=1 host" : " stream=7", " <-");
    std::set<uint32_t> on;
    while (id > 1 && below(3) != 0) on.insert(1 + below(id - 1));
    const bool chained = last[lane] > 0 && below(5) != 0;
    if (chained) absl::StrAppend(&out, dep(last[lane], lane == 0 ? ":thread" : ":stream"));
    for (const uint32_t d : on) {
      if (!chained || d != last[lane]) absl::StrAppend(&out, dep(d, lane == 1 ? ":launch" : ""));
    }
    absl::StrAppend(&out, "\n");
    last[lane] = id;
  }
  return out;
}

// For each node that waits for `from`: its earliest begin, in ns after the end of `from`. Nodes x take no
// time unless `keep_time`. Nodes come after their dependencies.
std::map<uint64_t, int64_t> Waits(const std::vector<et::Node>& nodes, uint64_t from, bool keep_time) {
  std::map<uint64_t, int64_t> begins, ends = {{from, 0}};
  for (const et::Node& n : nodes) {
    std::vector<int64_t> delays(static_cast<size_t>(n.data_deps_size()));
    for (const et::AttributeProto& a : n.attr()) {
      if (a.name() == "dep_delay_ns")
        delays.assign(a.int64_list().values().begin(), a.int64_list().values().end());
    }
    for (int i = 0; i < n.data_deps_size(); ++i) {
      const auto end = ends.find(n.data_deps(i));
      if (end == ends.end()) continue;
      int64_t& begin = begins.try_emplace(n.id(), 0).first->second;
      begin = std::max(begin, end->second + delays[static_cast<size_t>(i)]);
    }
    const bool takes = keep_time || n.name()[0] != 'x';
    if (begins.count(n.id()) > 0)
      ends[n.id()] = begins[n.id()] + (takes ? static_cast<int64_t>(n.duration_micros()) * 1000 : 0);
  }
  return begins;
}

TEST(RandomEdits, RemovalKeepsTheWaitsOfOtherNodes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const bool keep_time = seed % 2 == 1;
    SCOPED_TRACE(seed);
    const std::string text = RandomCapture(seed);
    const auto out = EditTexts({text}, absl::StrCat("edit { select { name: '^x' } remove { keep_time: ",
                                                    keep_time ? "true" : "false", " } }"));
    ASSERT_TRUE(out.ok()) << out.status();
    const std::vector<et::Node> before = ParseFrames(Frames(text)), &after = out->nodes[0];
    for (const et::Node& n : after) {
      std::map<uint64_t, int64_t> expected = Waits(before, n.id(), keep_time);
      for (const et::Node& b : before) {
        if (b.name()[0] == 'x') expected.erase(b.id());
      }
      EXPECT_EQ(Waits(after, n.id(), keep_time), expected) << "after node " << n.id();
    }
  }
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
