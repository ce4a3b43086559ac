#include "trace/import/host/pair.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_files.h"
#include "trace/import/host/host_trace.h"
#include "trace/import/kineto/kineto.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Both sides of a capture, built operator by operator.
class TwoTraces {
 public:
  TwoTraces() {
    host.file = "et.json";
    device.file = "kineto.json";
    device.threads.resize(4);
    Node("[pytorch|profiler|execution_trace|process]", 0, 0);
  }
  HostNode& Node(const std::string& name, uint64_t rf, uint32_t tid = 1) {
    HostNode n;
    n.id = host.nodes.size() + 1;
    n.parent = 1;
    n.rf_id = rf;
    n.tid = tid;
    n.name = host.strings.Intern(name);
    host.nodes.push_back(n);
    return host.nodes.back();
  }
  Event& Op(const std::string& name, int64_t rf, uint32_t lane = 0) {
    Event e;
    e.ts = static_cast<int64_t>(device.events.size()) * 1000;
    device.SetIds(device.events.size(), {kNone, rf});
    e.lane = lane;
    e.name = device.strings.Intern(name);
    device.events.push_back(e);
    return device.events.back();
  }
  // An operator that both have.
  void Both(const std::string& name, uint64_t host_rf, int64_t device_rf) {
    Node(name, host_rf);
    Op(name, device_rf);
  }
  Pairing Good() const {
    auto p = Pair(host, device);
    if (p.ok()) return *std::move(p);
    ADD_FAILURE() << p.status();
    return Pairing();
  }
  HostTrace host;
  DeviceTrace device;
};

std::vector<std::string> KindsOf(const Pairing& p) {
  std::vector<std::string> kinds;
  for (const Repair& r : p.repairs) kinds.push_back(r.kind);
  return kinds;
}

// Each pair is one of equal names, and the two columns are each other's inverse.
void CheckSound(const HostTrace& host, const DeviceTrace& device, const Pairing& p) {
  ASSERT_EQ(p.event_of_node.size(), host.nodes.size());
  ASSERT_EQ(p.node_of_event.size(), device.events.size());
  uint64_t matched = 0;
  for (uint32_t i = 0; i < host.nodes.size(); ++i) {
    const uint32_t e = p.event_of_node[i];
    if (e == kNoRow) continue;
    ++matched;
    ASSERT_EQ(p.node_of_event[e], i);
    ASSERT_EQ(host.name_of(host.nodes[i]), device.name_of(device.events[e]));
  }
  uint64_t back = 0;
  for (const uint32_t n : p.node_of_event) back += n != kNoRow ? 1 : 0;
  EXPECT_EQ(matched, p.matched);
  EXPECT_EQ(back, p.matched);
}

TEST(Pair, PairsByRecordFunctionId) {
  TwoTraces c;
  for (uint64_t i = 1; i <= 100; ++i) c.Both(absl::StrCat("op", i % 7), i, static_cast<int64_t>(i));
  c.Node("## process_group:init ##", 101);
  c.Op("late", 102);
  c.Op("ProfilerStep#3", 103);
  const Pairing p = c.Good();
  CheckSound(c.host, c.device, p);
  EXPECT_EQ(p.method, "record_function_id");
  EXPECT_EQ(p.rf_offset, 0);
  EXPECT_EQ(p.matched, 100u);
  EXPECT_EQ(p.nodes_unmatched, 0u) << "no event is expected of synthetic nodes";
  EXPECT_EQ(p.ops_unmatched, 1u);
  EXPECT_THAT(p.repairs, IsEmpty());
}

TEST(Pair, FindsNearAndFarOffsets) {
  for (const int64_t offset : {-1, 7, -64, 5000}) {
    TwoTraces c;
    for (int64_t i = 0; i < 200; ++i) {
      c.Both(absl::StrCat("op", i * i % 67), static_cast<uint64_t>(6000 + i), 6000 + i + offset);
    }
    const Pairing p = c.Good();
    CheckSound(c.host, c.device, p);
    EXPECT_EQ(p.rf_offset, offset);
    EXPECT_EQ(p.matched, 200u);
    ASSERT_THAT(KindsOf(p), ElementsAre("rf_offset"));
    EXPECT_EQ(p.repairs[0].count, 200u);
    EXPECT_THAT(p.repairs[0].detail, HasSubstr("200 of 200 names agree"));
  }
}

TEST(Pair, AllowsAFewDifferentNames) {
  TwoTraces c;
  for (uint64_t i = 1; i <= 200; ++i) c.Both(absl::StrCat("op", i), i, static_cast<int64_t>(i));
  c.Node("here", 300);
  c.Op("there", 300);
  const Pairing p = c.Good();
  EXPECT_EQ(p.matched, 200u);
  EXPECT_EQ(p.nodes_unmatched, 1u);
  EXPECT_EQ(p.ops_unmatched, 1u);
  ASSERT_THAT(KindsOf(p), ElementsAre("name_mismatch"));
  EXPECT_THAT(p.repairs[0].detail,
              HasSubstr("record function 300 is \"here\" on the host, \"there\" in Kineto"));
}

TEST(Pair, PairsEachEventWithOneNode) {
  TwoTraces c;
  for (uint64_t i = 1; i <= 20; ++i) c.Both("op", i, static_cast<int64_t>(i));
  c.Node("op", 20);
  const Pairing p = c.Good();
  CheckSound(c.host, c.device, p);
  EXPECT_EQ(p.matched, 20u);
  EXPECT_EQ(p.nodes_unmatched, 1u);
  ASSERT_THAT(KindsOf(p), ElementsAre("repeated_record_function"));
  EXPECT_EQ(p.repairs[0].first_node, 22u);
}

TEST(Pair, PairsByThreadWithoutIds) {
  TwoTraces c;
  // The numbers of the threads do not correspond, and neither does their order.
  for (int i = 0; i < 30; ++i) c.Op(absl::StrCat("back", i), kNone, 0);
  for (int i = 0; i < 40; ++i) c.Op(absl::StrCat("main", i), kNone, 2);
  c.Op("ProfilerStep#1", kNone, 2);
  for (uint64_t i = 0; i < 40; ++i) c.Node(absl::StrCat("main", i), i + 1, 1);
  for (uint64_t i = 0; i < 30; ++i) c.Node(absl::StrCat("back", i), i + 50, 2);
  const Pairing p = c.Good();
  CheckSound(c.host, c.device, p);
  EXPECT_EQ(p.method, "thread_order");
  EXPECT_EQ(p.matched, 70u);
  EXPECT_EQ(p.nodes_unmatched, 0u);
  EXPECT_EQ(p.ops_unmatched, 0u);
}

TEST(Pair, ExternalIdsOrderSimultaneousEvents) {
  TwoTraces c;
  for (uint64_t i = 0; i < 20; ++i) c.Node(absl::StrCat("op", i % 4), i + 1);
  // In the file's order inner operators come first.
  for (int i = 0; i < 20; ++i) {
    c.Op(absl::StrCat("op", (i ^ 1) % 4), kNone);
    c.device.ids.back().external = 500 + (i ^ 1);
  }
  const Pairing p = c.Good();
  CheckSound(c.host, c.device, p);
  EXPECT_EQ(p.matched, 20u);
  EXPECT_EQ(p.event_of_node[1], 1u);
}

TEST(Pair, FallsBackToThreadsIfIdsDrift) {
  // Two threads whose ids drift: no offset fits both.
  TwoTraces c;
  for (uint64_t i = 0; i < 100; ++i) c.Node(absl::StrCat("main", i * i % 31), i + 1, 1);
  for (uint64_t i = 0; i < 100; ++i) c.Node(absl::StrCat("back", i * i % 31), i + 101, 2);
  for (int i = 0; i < 100; ++i) c.Op(absl::StrCat("main", i * i % 31), i + 4000, 1);
  for (int i = 0; i < 100; ++i) c.Op(absl::StrCat("back", i * i % 31), i + 9000, 3);
  const Pairing p = c.Good();
  EXPECT_EQ(p.method, "thread_order");
  EXPECT_EQ(p.matched, 200u);
}

TEST(Pair, PairsAWindowOfTheHostTrace) {
  for (const bool ids : {true, false}) {
    TwoTraces c;
    for (uint64_t i = 1; i <= 500; ++i) c.Node(absl::StrCat("op", i * i % 997), i);
    for (int i = 300; i < 400; ++i) c.Op(absl::StrCat("op", i * i % 997), ids ? i : kNone);
    const Pairing p = c.Good();
    CheckSound(c.host, c.device, p);
    EXPECT_EQ(p.matched, 100u);
    EXPECT_EQ(p.nodes_unmatched, 400u);
    EXPECT_EQ(p.ops_unmatched, 0u);
    EXPECT_EQ(p.event_of_node[300], 0u) << ids;
  }
}

TEST(Pair, RefusesDifferentRuns) {
  TwoTraces c;
  for (uint64_t i = 1; i <= 50; ++i) c.Node(absl::StrCat("resnet", i), i);
  for (int i = 1; i <= 50; ++i) c.Op(absl::StrCat("dlrm", i), i);
  for (int i = 1; i <= 10; ++i) c.Op("resnet1", 50 + i);
  const auto p = Pair(c.host, c.device);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(p.status().message()),
              AllOf(HasSubstr("et.json"), HasSubstr("kineto.json"),
                    HasSubstr("host and device traces are from different runs"),
                    HasSubstr("of 50 operators of the host"),
                    HasSubstr("\"resnet1\" on the host, \"dlrm1\" in Kineto")));
}

TEST(Pair, HandlesFewOrNoOperators) {
  TwoTraces c;
  EXPECT_FALSE(Pair(c.host, c.device).ok());
  c.Node("a", 1);
  EXPECT_FALSE(Pair(c.host, c.device).ok());
  c.Node("b", ~uint64_t{0});  // an id at the edge
  c.Op("b", INT64_MAX);
  c.Op("a", INT64_MAX - 1);
  EXPECT_TRUE(Pair(c.host, c.device).ok());
}

// ------------------------------------------------------------ public captures

struct Both {
  HostTrace host;
  DeviceTrace device;
};

Both ReadBoth(const std::string& host, const std::string& device) {
  Both out;
  auto h = ReadHostTrace(Unpacked(host), host);
  const std::string text = Unpacked(device);
  MemorySource source(text);
  auto d = ReadKineto(&source, device);
  EXPECT_TRUE(h.ok()) << h.status();
  EXPECT_TRUE(d.ok()) << d.status();
  if (h.ok()) out.host = *std::move(h);
  if (d.ok()) out.device = *std::move(d);
  return out;
}

constexpr char kResNetKineto[] = "hta/a100_resnet50_ddp_rank-0_of_2.json.gz";

TEST(PublicCaptures, PairsDlrmOnEightRanks) {
  SKIP_WITHOUT_SHARED_DATA();
  for (int rank = 0; rank < 8; ++rank) {
    const Both b = ReadBoth(Shared(absl::StrCat("param/dlrm/et/dlrm_eg_", rank, ".json.gz")),
                            SharedWithPrefix("param/dlrm/kineto", absl::StrCat("worker", rank, "_")));
    const auto p = Pair(b.host, b.device);
    ASSERT_TRUE(p.ok()) << p.status();
    CheckSound(b.host, b.device, *p);
    EXPECT_EQ(p->method, "thread_order");
    EXPECT_EQ(p->matched, 1672u);
    EXPECT_EQ(p->nodes_unmatched, 0u);
    EXPECT_EQ(p->ops_unmatched, 0u);
    EXPECT_THAT(p->repairs, IsEmpty());
  }
}

TEST(PublicPairs, PairsSimpleAdd) {
  SKIP_WITHOUT_SHARED_DATA();
  const Both b = ReadBoth(Shared("hta/simple_add_et.json.gz"), Shared("hta/simple_add_kineto.json.gz"));
  const auto p = Pair(b.host, b.device);
  ASSERT_TRUE(p.ok()) << p.status();
  CheckSound(b.host, b.device, *p);
  EXPECT_EQ(p->matched, 36u);
  EXPECT_EQ(p->nodes_unmatched, 0u);
}

TEST(PublicPairs, PairsLinearWithOneIterationOfForty) {
  SKIP_WITHOUT_SHARED_DATA();
  const Both b = ReadBoth(Shared("param/linear_et.json.gz"), Shared("param/linear_kineto.json.gz"));
  const auto p = Pair(b.host, b.device);
  ASSERT_TRUE(p.ok()) << p.status();
  CheckSound(b.host, b.device, *p);
  EXPECT_EQ(p->matched, 928u);
  EXPECT_THAT(p->repairs, IsEmpty()) << "sequence numbers leave one place of 39";
  int numbered = 0;
  for (size_t i = 0; i < b.host.nodes.size(); ++i) {
    const uint32_t e = p->event_of_node[i];
    if (b.host.nodes[i].seq_id < 0 || e == kNoRow) continue;
    EXPECT_EQ(b.device.ops[b.device.events[e].extra].seq, b.host.nodes[i].seq_id);
    ++numbered;
  }
  EXPECT_EQ(numbered, 201);
}

TEST(PublicPairs, PairsResNetStandIns) {
  SKIP_WITHOUT_SHARED_DATA();
  const struct {
    const char* host;
    int64_t offset;
    uint64_t matched;
  } kCases[] = {{"param/resnet_1gpu_et.1.0.3.json.gz", 0, 14388},
                {"param/resnet_2gpu_et.1.1.0.json.gz", -1, 14387}};
  for (const auto& c : kCases) {
    const Both b = ReadBoth(Shared(c.host), Shared(kResNetKineto));
    const auto p = Pair(b.host, b.device);
    ASSERT_TRUE(p.ok()) << p.status();
    CheckSound(b.host, b.device, *p);
    EXPECT_EQ(p->method, "record_function_id");
    EXPECT_EQ(p->rf_offset, c.offset) << c.host;
    EXPECT_EQ(p->matched, c.matched) << c.host;
    EXPECT_EQ(p->nodes_unmatched, 0u);
    EXPECT_EQ(p->ops_unmatched, 0u);
    EXPECT_EQ(KindsOf(*p).size(), c.offset == 0 ? 0u : 1u);
  }
}

TEST(PublicPairs, RefusesTracesOfDifferentPrograms) {
  SKIP_WITHOUT_SHARED_DATA();
  const std::string dlrm_kineto = SharedWithPrefix("param/dlrm/kineto", "worker0_");
  const struct {
    std::string host, device;
  } kCases[] = {
      {Shared("param/dlrm/et/dlrm_eg_0.json.gz"), Shared(kResNetKineto)},
      {Shared("param/dlrm/et/dlrm_eg_0.json.gz"), Shared("param/linear_kineto.json.gz")},
      {Shared("param/linear_et.json.gz"), dlrm_kineto},
      {Shared("param/linear_et.json.gz"), Shared(kResNetKineto)},
      {Shared("param/resnet_1gpu_et.1.0.3.json.gz"), Shared("hta/v100_recommender_rank-1_of_2.json.gz")},
      {Shared("param/resnet_2gpu_et.1.1.0.json.gz"), dlrm_kineto}};
  for (const auto& c : kCases) {
    const Both b = ReadBoth(c.host, c.device);
    const auto p = Pair(b.host, b.device);
    ASSERT_FALSE(p.ok()) << c.host << " with " << c.device << ": " << p->matched;
    EXPECT_THAT(std::string(p.status().message()),
                AllOf(HasSubstr(c.host), HasSubstr(c.device), HasSubstr("from different runs"),
                      HasSubstr("on the host")));
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
