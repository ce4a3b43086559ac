#include "replay/compute/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "proto/et_def.pb.h"
#include "test/trace/graph_of.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

struct Kernel {
  const char* name;
  int64_t us;
  const char* shapes = "";
  const char* op = "";
  int64_t ops = 0;
  bool cpu = false;
};

RankTrace Trace(const std::vector<Kernel>& kernels) {
  GraphDraft g;
  auto raw = std::make_shared<RawFrames>();
  raw->begin = {0, 0};
  for (const Kernel& k : kernels) {
    g.id.push_back(g.id.size() + 1);
    g.name.push_back(g.strings.Intern(k.name));
    g.type.push_back(NodeType::kComp);
    g.flags.push_back(k.cpu ? kIsCpuOp | kHasCpuAttr : 0);
    g.duration.push_back(Time::Micros(k.us));
    g.shapes.push_back(g.strings.Intern(k.shapes));
    g.types.push_back(0);
    g.payload.push_back(k.ops > 0 ? static_cast<uint32_t>(g.work.size()) : kNoRow);
    if (k.ops > 0) g.work.push_back({k.ops, 0, true, false});
    ChakraProtoMsg::Node node;
    if (k.op[0] != '\0') {
      auto* a = node.add_attr();
      a->set_name("op");
      a->set_string_val(k.op);
    }
    raw->bytes += node.SerializeAsString();
    raw->begin.push_back(raw->bytes.size());
  }
  RankTrace trace;
  trace.graph = GraphOf(std::move(g));
  trace.raw = raw;
  return trace;
}

proto::KernelTable Collect(const std::vector<RankTrace>& ranks, CollectNotes* notes, bool host = false) {
  TraceSet traces;
  traces.ranks = ranks;
  CollectOptions options;
  options.host = host;
  options.device = "D";
  const auto table = CollectKernels(traces, options, notes);
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? *table : proto::KernelTable();
}

TEST(Collect, RowsHaveMedianAndSpread) {
  const RankTrace trace = Trace({{"k", 5, "[[2, 2]]"},
                                 {"k", 1, "[[2,2]]"},
                                 {"k", 9, "[[2, 2]]"},
                                 {"k", 7, "[[3, 2]]"},
                                 {"k", 0, "[[2, 2]]"},
                                 {"k", 4},
                                 {"h", 3, "", "", 0, true}});
  CollectNotes notes;
  const proto::KernelTable t = Collect({trace, trace}, &notes);  // a shared graph counts once
  ASSERT_EQ(t.row_size(), 2);
  EXPECT_EQ(t.device(), "D");
  EXPECT_EQ(t.row(0).shapes(), "[[2, 2]]");
  EXPECT_EQ(t.row(0).duration_us(), 5);
  EXPECT_EQ(t.row(0).count(), 3u);
  EXPECT_EQ(t.row(0).min_us(), 1);
  EXPECT_EQ(t.row(0).max_us(), 9);
  EXPECT_EQ(notes.nodes, 4u);
  EXPECT_EQ(notes.host, 1u);
  EXPECT_EQ(notes.no_duration, 1u);
  EXPECT_EQ(notes.no_shapes, 1u);  // its row would answer for any shapes
  EXPECT_EQ(Collect({trace}, &notes, true).row_size(), 3);
}

TEST(Collect, WorkComesFromNodeOrOperatorOnce) {
  const char* shapes = "[[4, 8], [8, 2]]";
  CollectNotes notes;
  const proto::KernelTable t = Collect({Trace({{"gemm_main", 9, shapes, "aten::mm"},
                                               {"reduce", 1, shapes, "aten::mm"},
                                               {"stage", 3, "", "", 1000},
                                               {"stage", 6, "", "", 2000}})},
                                       &notes);
  ASSERT_EQ(t.row_size(), 4);
  EXPECT_EQ(t.row(0).op(), "aten::mm");
  EXPECT_EQ(t.row(0).operations(), 2u * 4 * 8 * 2);
  EXPECT_EQ(t.row(1).name(), "reduce");
  EXPECT_EQ(t.row(1).operations(), 0u);  // only the longer of the two has the operations
  EXPECT_EQ(t.row(2).operations(), 1000u);
  EXPECT_EQ(t.row(3).operations(), 2000u);
}

TEST(Collect, RefusesTracesWithoutMeasuredKernels) {
  TraceSet traces;
  traces.ranks.push_back(Trace({{"h", 3, "", "", 0, true}}));
  CollectNotes notes;
  EXPECT_THAT(std::string(CollectKernels(traces, {}, &notes).status().message()),
              HasSubstr("no measured kernel: 1 host operations were skipped"));
}

proto::KernelTable Table(const char* device, const char* name, double us, uint64_t count) {
  proto::KernelTable t;
  t.set_device(device);
  proto::KernelRow* row = t.add_row();
  row->set_name(name);
  row->set_duration_us(us);
  row->set_count(count);
  row->set_min_us(us - 1);
  row->set_max_us(us + 1);
  return t;
}

TEST(Merge, WeightsMeansByCount) {
  const proto::KernelTable a = Table("D", "k", 10, 3), b = Table("D", "k", 20, 1), c = Table("", "a", 5, 1);
  const auto merged = MergeKernels({a, b, c}, {"a", "b", "c"}, false);
  ASSERT_TRUE(merged.ok()) << merged.status();
  ASSERT_EQ(merged->row_size(), 2);
  EXPECT_EQ(merged->row(0).name(), "a");
  EXPECT_EQ(merged->row(1).duration_us(), 12.5);
  EXPECT_EQ(merged->row(1).count(), 4u);
  EXPECT_EQ(merged->row(1).min_us(), 9);
  EXPECT_EQ(merged->row(1).max_us(), 21);
  const auto turned = MergeKernels({b, c, a}, {"b", "c", "a"}, false);
  EXPECT_EQ(turned->SerializeAsString(), merged->SerializeAsString());
}

TEST(Merge, MixesDevicesOnlyWhenAsked) {
  const proto::KernelTable a = Table("D", "k", 10, 1), b = Table("E", "k", 20, 1);
  EXPECT_THAT(std::string(MergeKernels({a, b}, {"a", "b"}, false).status().message()),
              HasSubstr("b: device is \"E\", expected \"D\""));
  EXPECT_EQ(MergeKernels({a, b}, {"a", "b"}, true)->device(), "D + E");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
