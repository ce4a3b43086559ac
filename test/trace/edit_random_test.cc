// Edits of collectives and storage on random graphs: the output is valid, bytes add up, and every group is
// called in the order in which it was, whatever else a rank does.
#include <gtest/gtest.h>

#include <random>

#include "test/trace/edit_testing.h"

namespace chakra::edit {
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

// The calls of each strict lane of communication in recorded order, by name; parts of one are one.
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
    bool bytes, order;  // which stay
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

}  // namespace
}  // namespace chakra::edit
