// Ranks and nodes of different speed, and their effect on replays.
#include "replay/cluster/variation.h"

#include <cmath>

#include "proto/cluster.pb.h"
#include "replay/engine/options.h"
#include "test/replay/engine_testing.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

proto::Variation Parsed(const char* text) {
  proto::Variation v;
  EXPECT_TRUE(ParseTextMessage(text, "test", &v).ok()) << text;
  return v;
}

Variation Made(const char* text, int ranks) {
  absl::StatusOr<Variation> v = Variation::Make(Parsed(text), ranks);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *std::move(v) : Variation();
}

std::string Refusal(const char* text, int ranks = 4) {
  const absl::StatusOr<Variation> v = Variation::Make(Parsed(text), ranks);
  EXPECT_FALSE(v.ok()) << text;
  return std::string(v.status().message());
}

EngineOptions Varied(const Variation& variation) {
  EngineOptions options;
  options.variation = &variation;
  options.start = variation.starts();
  return options;
}

TEST(Ranks, ParseListsAndRanges) {
  EXPECT_EQ(*ParseRanks("3,0-1", 4), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(*ParseRanks("all", 3), (std::vector<int>{0, 1, 2}));
  for (const char* bad : {"", "x", "1-", "-1", "2-1", "0,", "4", "2-4", "1,1", "0-2,2"}) {
    EXPECT_FALSE(ParseRanks(bad, 4).ok()) << bad;
  }
  EXPECT_NE(ParseRanks("2-9", 4).status().message().find("rank 4"), absl::string_view::npos);
  EXPECT_NE(ParseRanks("2-9", 4).status().message().find("expected 0 to 3"), absl::string_view::npos);
}

// The slow rank sets the makespan.
TEST(Variation, SlowRankSetsTheMakespan) {
  TraceBuilder b(2);
  b.Comp(0, 10);
  b.Comp(1, 10);
  EXPECT_EQ(Makespan(b), 10 * kUs);
  const Variation slow = Made("speed { ranks: '1' factor: 2.5 }", 2);
  EXPECT_EQ(Makespan(b, Varied(slow)), 25 * kUs);
  const auto metrics = Replayed(b, Varied(slow));
  EXPECT_EQ(metrics->ranks[0].end, Time::Micros(10));
  EXPECT_EQ(metrics->ranks[1].compute_busy, Time::Micros(25));
}

TEST(Variation, FactorsMultiply) {
  const Variation v = Made("speed { ranks: 'all' factor: 2 } speed { ranks: '1' factor: 0.25 }", 2);
  EXPECT_EQ(v.Compute(0, 7, Processor::kDevice, Time::Nanos(10)), Time::Nanos(20));
  EXPECT_EQ(v.Compute(1, 7, Processor::kDevice, Time::Nanos(10)), Time::Nanos(5));
}

// A rank whose host thread calls twice, 5 us apart, and launches 20 us of device work; the gap before the
// second call is the host's, the delay before the device's work is not.
TraceBuilder HostAndDevice(bool device = true) {
  TraceBuilder b(1);
  const auto on = [&](et::Node* node, bool host, int64_t lane) {
    et::AttributeProto* attr = node->add_attr();
    attr->set_name("is_cpu_op");
    attr->set_bool_val(host);
    TraceBuilder::Int(node, "tid", lane);
  };
  et::Node& first = b.Comp(0, 10);
  on(&first, true, 1);
  et::Node& second = b.Comp(0, 10, {0});
  on(&second, true, 1);
  TraceBuilder::Delays(&second, {5000});
  if (!device) return b;
  et::Node& kernel = b.Comp(0, 20, {1});
  on(&kernel, false, 7);
  TraceBuilder::Delays(&kernel, {3000});
  return b;
}

int64_t SlowedBy(const TraceBuilder& b, const std::string& straggler) {
  proto::Variation v;
  EXPECT_TRUE(AddStraggler(straggler, &v).ok()) << straggler;
  const absl::StatusOr<Variation> made = Variation::Make(v, 1);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? Makespan(b, Varied(*made)) / kUs : -1;
}

TEST(Straggler, SlowsOnlyTheNamedPart) {
  const TraceBuilder b = HostAndDevice();
  EXPECT_EQ(Makespan(b), 48 * kUs);
  EXPECT_EQ(SlowedBy(b, "device:0=2"), 48 + 20);
  EXPECT_EQ(SlowedBy(b, "host:0=2"), 48 + 25);
  EXPECT_EQ(SlowedBy(b, "rank:0=2"), 48 + 45);
  EXPECT_EQ(SlowedBy(b, "0=2"), 48 + 20);  // the device, where there is one
}

TEST(Straggler, SlowsHostWithoutDevice) {
  const TraceBuilder b = HostAndDevice(false);
  EXPECT_EQ(Makespan(b), 25 * kUs);
  EXPECT_EQ(SlowedBy(b, "0=2"), 50);
  EXPECT_EQ(SlowedBy(b, "host:0=2"), 50);
  EXPECT_EQ(SlowedBy(b, "rank:0=2"), 50);
  EXPECT_EQ(SlowedBy(b, "device:0=2"), 25);
}

TEST(Straggler, NamesFactorsWithoutEffect) {
  proto::Variation v;
  for (const char* s : {"device:0-2=2", "host:all=2", "rank:1=2", "2=3"})
    ASSERT_TRUE(AddStraggler(s, &v).ok()) << s;
  v.add_speed()->set_ranks("2");
  v.mutable_speed(4)->set_part(proto::Variation::HOST);
  const Computes both{true, true}, host{false, true}, none;
  EXPECT_EQ(
      FactorsWithoutEffect(v, {both, host, none}),
      (std::vector<std::string>{
          "--straggler \"device:0-2=2\": part: changes nothing on ranks 1, 2, whose trace has no "
          "computation on the device",
          "--straggler \"host:all=2\": part: changes nothing on rank 2, whose trace has no computation on "
          "the host",
          "--straggler \"2=3\": part: changes nothing on rank 2, whose trace has no computation at all",
          "cluster: variation.speed[4].part: changes nothing on rank 2, whose trace has no computation on "
          "the host"}));
}

// Collectives wait for the slow rank. Closed forms agree with flows.
TEST(Variation, CollectivesBeginWithTheLastRank) {
  TraceBuilder b(4);
  for (int r = 0; r < 4; ++r) {
    const uint64_t comp = b.Comp(r, 10).id();
    const uint64_t reduced = b.Coll(r, CollectiveType::kAllReduce, 4000000, {comp}).id();
    b.Comp(r, 3, {reduced});
  }
  const int64_t even = Makespan(b);
  const Variation slow =
      Made("speed { ranks: '2' factor: 3 } jitter { kind: UNIFORM sigma: 0.2 } start_skew_ns: 9e3", 4);
  EngineOptions options = Varied(slow);
  const int64_t fast = Makespan(b, options);
  EXPECT_GT(fast, even + 10 * kUs);
  options.fast_paths = false;
  EXPECT_EQ(Makespan(b, options), fast);
  const Variation only = Made("speed { ranks: '0-3' factor: 3 }", 4);
  EXPECT_EQ(Makespan(b, Varied(only)), even + 26 * kUs);
}

TEST(Variation, SeedDrawsAShareOfStragglers) {
  const auto slow = [](const char* text) {
    const Variation v = Made(text, 200);
    std::vector<int> slow;
    for (int r = 0; r < 200; ++r) {
      if (v.Compute(r, 0, Processor::kDevice, Time::Nanos(10)) == Time::Nanos(15)) slow.push_back(r);
    }
    return slow;
  };
  const std::vector<int> drawn = slow("stragglers { share: 0.1 factor: 1.5 }");
  EXPECT_EQ(drawn.size(), 20u);
  EXPECT_EQ(slow("stragglers { share: 0.1 factor: 1.5 } seed: 1"), drawn);
  EXPECT_NE(slow("stragglers { share: 0.1 factor: 1.5 } seed: 2"), drawn);
  EXPECT_EQ(slow("stragglers { share: 1e-9 factor: 1.5 }").size(), 1u);
  EXPECT_EQ(slow("stragglers { share: 1 factor: 1.5 }").size(), 200u);
}

// Mean 1 and the given sigma, over 40,000 nodes, within three standard errors.
TEST(Variation, JitterHasItsMeanAndSigma) {
  for (const char* text : {"jitter { kind: LOGNORMAL sigma: 0.3 }", "jitter { kind: UNIFORM sigma: 0.3 }"}) {
    const Variation v = Made(text, 200);
    double sum = 0, squares = 0, least = 1e9;
    for (int r = 0; r < 200; ++r) {
      for (uint64_t id = 0; id < 200; ++id) {
        const double f =
            static_cast<double>(v.Compute(r, id, Processor::kDevice, Time::Micros(1)).picos()) / 1e6;
        sum += f;
        squares += f * f;
        least = std::min(least, f);
      }
    }
    const double mean = sum / 40000, sigma = std::sqrt(squares / 40000 - mean * mean);
    EXPECT_NEAR(mean, 1, 3 * 0.3 / 200) << text;
    EXPECT_NEAR(sigma, 0.3, 0.01) << text;
    EXPECT_GT(least, 0) << text;
  }
}

TEST(Variation, IsEqualForEqualSeedsOnly) {
  const Variation a = Made("jitter { kind: LOGNORMAL sigma: 0.1 } start_skew_ns: 1000 seed: 5", 8);
  const Variation b = Made("jitter { kind: LOGNORMAL sigma: 0.1 } start_skew_ns: 1000 seed: 5", 8);
  const Variation c = Made("jitter { kind: LOGNORMAL sigma: 0.1 } start_skew_ns: 1000 seed: 6", 8);
  EXPECT_EQ(a.starts(), b.starts());
  EXPECT_NE(a.starts(), c.starts());
  int differ = 0;
  for (uint64_t id = 0; id < 64; ++id) {
    EXPECT_EQ(a.Compute(3, id, Processor::kDevice, Time::Micros(1)),
              b.Compute(3, id, Processor::kDevice, Time::Micros(1)));
    differ += a.Compute(3, id, Processor::kDevice, Time::Micros(1)) !=
                      c.Compute(3, id, Processor::kDevice, Time::Micros(1))
                  ? 1
                  : 0;
    differ += a.Compute(3, id, Processor::kDevice, Time::Micros(1)) !=
                      a.Compute(4, id, Processor::kDevice, Time::Micros(1))
                  ? 1
                  : 0;
  }
  EXPECT_GT(differ, 120);
  EXPECT_EQ(a.Compute(0, 0, Processor::kDevice, Time::Zero()), Time::Zero());
}

TEST(Variation, SkewDelaysTheFirstNodes) {
  TraceBuilder b(3);
  for (int r = 0; r < 3; ++r) b.Comp(r, 10);
  const Variation v = Made("start_skew_ns: 5000", 3);
  ASSERT_EQ(v.starts().size(), 3u);
  const auto metrics = Replayed(b, Varied(v));
  ASSERT_TRUE(metrics.ok());
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_LT(v.starts()[r], Time::Micros(5));
    EXPECT_GE(v.starts()[r], Time::Zero());
    EXPECT_EQ(metrics->ranks[r].end, v.starts()[r] + Time::Micros(10));
    EXPECT_EQ(metrics->ranks[r].idle, v.starts()[r]);
  }
}

TEST(Variation, DescribesTheVariation) {
  EXPECT_EQ(Made("", 4).text(), "");
  EXPECT_FALSE(Made("", 4).varies_compute());
  EXPECT_EQ(
      Made("speed { ranks: '3' factor: 2 } jitter { kind: UNIFORM sigma: 0.05 } start_skew_ns: 1e4 seed: 9",
           4)
          .text(),
      "seed 9: compute x 2 on ranks 3; uniform jitter of sigma 0.05; ranks start within 10 us");
  EXPECT_EQ(Made("speed { ranks: '0' factor: 2 part: HOST } speed { ranks: '1' factor: 3 part: RANK } "
                 "speed { ranks: '2' factor: 4 part: DEVICE }",
                 4)
                .text(),
            "seed 1: host x 2 on ranks 0; device and host x 3 on ranks 1; device x 4 on ranks 2");
  const std::string drawn = Made("stragglers { share: 0.5 factor: 2 }", 40).text();
  EXPECT_EQ(drawn.rfind("seed 1: compute x 2 on 20 stragglers (ranks ", 0), 0u) << drawn;
}

TEST(Variation, RefusesBadFields) {
  EXPECT_EQ(Refusal("speed { ranks: '4' factor: 2 }"),
            "cluster: variation.speed[0].ranks: rank 4 of \"4\" is not in the run; expected 0 to 3");
  EXPECT_NE(Refusal("speed { ranks: '1' }").find("speed[0].factor is 0; expected a number > 0"),
            std::string::npos);
  EXPECT_NE(Refusal("speed { ranks: '1' factor: inf }").find("speed[0].factor"), std::string::npos);
  EXPECT_NE(Refusal("stragglers { share: 1.1 factor: 2 }").find("<= 1"), std::string::npos);
  EXPECT_NE(Refusal("stragglers { share: 0.1 factor: -2 }").find("stragglers.factor"), std::string::npos);
  EXPECT_NE(Refusal("jitter { sigma: 0.1 }").find("LOGNORMAL or UNIFORM"), std::string::npos);
  EXPECT_NE(Refusal("jitter { kind: UNIFORM sigma: 0.6 }").find("jitter.sigma is 0.6"), std::string::npos);
  EXPECT_NE(Refusal("start_skew_ns: -1").find("start_skew_ns is -1"), std::string::npos);
}

TEST(Variation, SaturatesInsteadOfWrapping) {
  const Variation v = Made("speed { ranks: 'all' factor: 1e6 }", 1);
  EXPECT_EQ(v.Compute(0, 0, Processor::kDevice, Time::Picos(int64_t{1} << 60)), Time::Never());
}

TEST(Straggler, ReadsShortForm) {
  proto::Variation v;
  ASSERT_TRUE(AddStraggler("2-3=1.5", &v).ok());
  EXPECT_EQ(v.speed(0).ranks(), "2-3");
  EXPECT_EQ(v.speed(0).factor(), 1.5);
  // Errors name the option.
  EXPECT_EQ(Variation::Make(v, 3).status().message(),
            "--straggler \"2-3=1.5\": ranks: rank 3 of \"2-3\" is not in the run; expected 0 to 2");
  v.mutable_speed(0)->set_factor(-1);
  EXPECT_EQ(Variation::Make(v, 4).status().message(),
            "--straggler \"2-3=1.5\": factor is -1; expected a number > 0 and <= 1e+06");
  for (const char* bad : {"3", "=2", "3=", "3=fast", "", "host:", "host:3", "device:=2"})
    EXPECT_FALSE(AddStraggler(bad, &v).ok()) << bad;
  EXPECT_EQ(AddStraggler("gpu:3=2", &v).message(),
            "\"gpu:3=2\": \"gpu\" is not a part of a rank; expected device, host or rank");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
