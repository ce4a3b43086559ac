#include "replay/compute/compute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/cluster/devices.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/model/kernel_model.h"
#include "test/trace/graph_of.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct NodeSpec {
  NodeType type = NodeType::kComp;
  const char* name = "gemm";
  int64_t ops = -1;    // -1: absent
  int64_t bytes = -1;  // -1: absent
  int64_t recorded_us = 0;
  bool cpu = false;
  const char* types = "";
  const char* shapes = "";
};

Graph MakeGraph(const std::vector<NodeSpec>& nodes) {
  GraphDraft g;
  for (const NodeSpec& n : nodes) {
    g.id.push_back(100 + g.id.size());
    g.name.push_back(g.strings.Intern(n.name));
    g.type.push_back(n.type);
    g.flags.push_back(n.cpu ? kIsCpuOp | kHasCpuAttr : 0);
    g.duration.push_back(Time::Micros(n.recorded_us));
    g.shapes.push_back(g.strings.Intern(n.shapes));
    g.types.push_back(g.strings.Intern(n.types));
    if (n.ops < 0 && n.bytes < 0) {
      g.payload.push_back(kNoRow);
      continue;
    }
    g.payload.push_back(static_cast<uint32_t>(g.work.size()));
    Work w;
    w.has_num_ops = n.ops >= 0;
    w.has_tensor_bytes = n.bytes >= 0;
    w.num_ops = std::max<int64_t>(0, n.ops);
    w.tensor_bytes = static_cast<uint64_t>(std::max<int64_t>(0, n.bytes));
    g.work.push_back(w);
  }
  return *GraphOf(std::move(g));
}

proto::Device TestDevice() {
  proto::Device d;
  (*d.mutable_peak_tflops())["bf16"] = 100;
  (*d.mutable_peak_tflops())["fp32"] = 10;
  d.set_memory_gbytes_per_s(1000);
  return d;
}

ComputeTimes Price(const Graph& g, const ComputeModel& m, ComputeNotes* notes = nullptr) {
  absl::StatusOr<ComputeTimes> t = PriceGraph(g, m, notes);
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? *t : ComputeTimes();
}

TEST(TimeSources, ParsesLists) {
  EXPECT_THAT(
      *ParseTimeSources(kDefaultTimeSources),
      ElementsAre(TimeSource::kTable, TimeSource::kModel, TimeSource::kRoofline, TimeSource::kRecorded));
  EXPECT_THAT(*ParseTimeSources("recorded, table"), ElementsAre(TimeSource::kRecorded, TimeSource::kTable));
  const auto error = [](const char* text) { return std::string(ParseTimeSources(text).status().message()); };
  EXPECT_THAT(
      error("rooflin"),
      HasSubstr("did you mean \"roofline\"? Known: table, interpolate, repriced, model, roofline, recorded"));
  EXPECT_THAT(*ParseTimeSources("table,interpolate"),
              ElementsAre(TimeSource::kTable, TimeSource::kInterpolate));
  EXPECT_THAT(error("table,table"), HasSubstr("\"table\" is given twice"));
  EXPECT_THAT(error(""), HasSubstr("unknown time source \"\""));
  EXPECT_THAT(error("none"), HasSubstr("unknown time source \"none\""));
}

TEST(Roofline, TakesTheLongerOfComputeAndMemory) {
  const proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  const Graph g = MakeGraph({
      {NodeType::kComp, "compute bound", 1000000, 1000},  // 1e6 / 100e12 = 10 ns
      {NodeType::kComp, "memory bound", 1000, 1000000},   // 1e6 / 1e12 = 1 us
      {NodeType::kComp, "no bytes", 1000000},
      {NodeType::kComp, "zero bytes", 1000000, 0},
      {NodeType::kComp, "no ops", -1, 1000},
      {NodeType::kComp, "nearest", 151, 0},  // 1.51 ps
      {NodeType::kComp, "nothing"},
      {NodeType::kComp, "zeros", 0, 0},
  });
  const ComputeTimes t = Price(g, model);
  const int64_t expected[] = {10000, 1000000, 10000, 10000, 1000, 2, 0, 0};
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(t.time[i].picos(), expected[i]) << i;
    EXPECT_EQ(t.time_source[i], i < 6 ? TimeSource::kRoofline : TimeSource::kNone) << i;
  }
}

// ASTRA-sim: perf = min(bandwidth * ops / bytes, peak), time = ops / perf.
TEST(Roofline, EqualsAstraSimsFormula) {
  const proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  for (int64_t ops : {1, 77, 12345, 99999999}) {
    for (int64_t bytes : {1, 500, 123456, 77777777}) {
      const double o = static_cast<double>(ops);
      const double perf = std::min(1000e9 * o / static_cast<double>(bytes), 100e12);
      const ComputeTimes t = Price(MakeGraph({{NodeType::kComp, "x", ops, bytes}}), model);
      EXPECT_NEAR(static_cast<double>(t.time[0].picos()), o / perf * 1e12, 0.5001);
    }
  }
}

TEST(Roofline, AnswersOnlyForDeviceComputation) {
  const proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  Graph g =
      MakeGraph({{NodeType::kComp, "host", 1000, 1000, 0, true}, {NodeType::kMemLoad, "load", 1000, 1000}});
  const ComputeTimes t = Price(g, model);
  EXPECT_THAT(t.time_source, ElementsAre(TimeSource::kNone, TimeSource::kNone));
  EXPECT_THAT(t.time, ElementsAre(Time::Zero(), Time::Zero()));
}

TEST(Roofline, UsesThePeakOfTheDtype) {
  proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  const Graph g = MakeGraph({
      {NodeType::kComp, "a", 1000000, -1, 0, false, "['Tensor(float)']"},
      {NodeType::kComp, "a", 1000000, -1, 0, false, "['Tensor(c10::BFloat16)']"},
      {NodeType::kComp, "a", 1000000, -1, 0, false, "['Tensor(c10::Half)']"},
      {NodeType::kComp, "b", 1000000, -1, 0, false, "['Tensor(c10::Half)']"},
      {NodeType::kComp, "a", 1000000, -1, 0, false, "['Int']"},
  });
  ComputeNotes notes;
  const ComputeTimes t = Price(g, model, &notes);
  EXPECT_THAT(t.time, ElementsAre(Time::Nanos(100), Time::Nanos(10), Time::Nanos(10), Time::Nanos(10),
                                  Time::Nanos(10)));
  EXPECT_THAT(notes.unknown_peak, ElementsAre(testing::Pair("fp16", 2)));
  device.set_default_dtype("fp32");
  EXPECT_EQ(Price(g, model).time[4], Time::Nanos(100));
}

TEST(Roofline, UnknownRatesGiveNoAnswer) {
  proto::Device device;
  const ComputeModel model{{TimeSource::kRoofline, TimeSource::kRecorded}, &device};
  const Graph g = MakeGraph({{NodeType::kComp, "x", 1000, -1, 5}, {NodeType::kComp, "y", -1, 1000, 6}});
  EXPECT_THAT(Price(g, model).time_source, ElementsAre(TimeSource::kRecorded, TimeSource::kRecorded));
  const ComputeModel none{{TimeSource::kTable, TimeSource::kRoofline}};
  EXPECT_THAT(Price(g, none).time_source, ElementsAre(TimeSource::kNone, TimeSource::kNone));
}

TEST(Roofline, RefusesImpossibleWork) {
  proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  Graph g = MakeGraph({{NodeType::kComp, "odd", 1000}});
  std::vector<Work> work = g.work;
  work[0].num_ops = -3;
  g.work = work;
  EXPECT_THAT(std::string(PriceGraph(g, model, nullptr).status().message()),
              HasSubstr("node 100 (\"odd\"): num_ops is -3"));
  work[0].num_ops = INT64_MAX;
  g.work = work;
  (*device.mutable_peak_tflops())["bf16"] = 1e-3;
  EXPECT_THAT(std::string(PriceGraph(g, model, nullptr).status().message()), HasSubstr("node 100"));
}

TEST(Chain, TheFirstTimeSourceThatAnswersWins) {
  const proto::Device device = TestDevice();
  proto::KernelTable table;
  table.add_row()->set_name("gemm");
  table.mutable_row(0)->set_duration_us(7);
  absl::StatusOr<KernelTableIndex> index = KernelTableIndex::Make(table, "t");
  ASSERT_TRUE(index.ok());
  const Graph g = MakeGraph({{NodeType::kComp, "gemm", 1000000, 0, 3},
                             {NodeType::kComp, "relu", 1000000, 0, 3},
                             {NodeType::kComp, "host", 1000000, 0, 3, true},
                             {NodeType::kComp, "gemm", 1000000, 0, 3, true},
                             {NodeType::kComp, "empty"},
                             {NodeType::kCollective, "gemm", -1, -1, 3}});
  using R = TimeSource;
  ComputeModel model{{R::kTable, R::kRoofline, R::kRecorded}, &device, &*index};
  ComputeTimes t = Price(g, model);
  EXPECT_THAT(t.time_source,
              ElementsAre(R::kTable, R::kRoofline, R::kRecorded, R::kTable, R::kNone, R::kNone));
  EXPECT_THAT(t.time, ElementsAre(Time::Micros(7), Time::Nanos(10), Time::Micros(3), Time::Micros(7),
                                  Time::Zero(), Time::Zero()));
  model.time_sources = {R::kRecorded, R::kTable};
  t = Price(g, model);
  EXPECT_EQ(t.time_source[0], R::kRecorded);
  EXPECT_EQ(t.time[0], Time::Micros(3));
}

TEST(Chain, TableMatchesShapesAndTypes) {
  proto::KernelTable table;
  for (int i = 0; i < 2; ++i) {
    table.add_row()->set_name("gemm");
    table.mutable_row(i)->set_shapes(i == 0 ? "[[1]]" : "[[2]]");
    table.mutable_row(i)->set_duration_us(i + 1);
  }
  absl::StatusOr<KernelTableIndex> index = KernelTableIndex::Make(table, "t");
  ASSERT_TRUE(index.ok());
  Graph g = MakeGraph({{NodeType::kComp, "gemm", -1, -1, 0, false, "", "[[2]]"},
                       {NodeType::kComp, "gemm", -1, -1, 0, false, "", "[[1]]"},
                       {NodeType::kComp, "gemm", -1, -1, 0, false, "", "[[3]]"}});
  const ComputeModel model{{TimeSource::kTable}, nullptr, &*index};
  EXPECT_THAT(Price(g, model).time, ElementsAre(Time::Micros(2), Time::Micros(1), Time::Zero()));
  g.shapes = {};  // as if no node had any
  g.types = {};
  EXPECT_EQ(Price(g, model).time_source[0], TimeSource::kNone);
}

TEST(Chain, InterpolationCountsItsRefusals) {
  proto::KernelTable table;
  for (int n : {1, 4}) {
    proto::KernelRow* row = table.add_row();
    row->set_name("k");
    row->set_shapes(n == 1 ? "[[100]]" : "[[400]]");
    row->set_duration_us(n);
    row->set_error(n == 1 ? 0.5 : 0);
  }
  absl::StatusOr<KernelTableIndex> index = KernelTableIndex::Make(table, "t");
  ASSERT_TRUE(index.ok());
  const KernelInterpolation between(table);
  const Graph g = MakeGraph({{NodeType::kComp, "k", -1, -1, 9, false, "", "[[100]]"},
                             {NodeType::kComp, "k", -1, -1, 9, false, "", "[[200]]"},
                             {NodeType::kComp, "k", -1, -1, 9, false, "", "[[500]]"},
                             {NodeType::kComp, "other", -1, -1, 9, false, "", "[[200]]"}});
  using R = TimeSource;
  const ComputeModel model{{R::kTable, R::kInterpolate, R::kRecorded}, nullptr, &*index, &between};
  const ComputeTimes t = Price(g, model);
  EXPECT_THAT(t.time_source, ElementsAre(R::kTable, R::kInterpolate, R::kRecorded, R::kRecorded));
  EXPECT_THAT(t.time, ElementsAre(Time::Micros(1), Time::Micros(2), Time::Micros(9), Time::Micros(9)));
  EXPECT_EQ(t.outside, 1u);
  EXPECT_EQ(t.error[static_cast<size_t>(R::kTable)], Time::Nanos(500));
  EXPECT_GE(t.error[static_cast<size_t>(R::kInterpolate)], Time::Micros(1));  // that of the row next to it
  EXPECT_EQ(t.error[static_cast<size_t>(R::kRecorded)], Time::Zero());
}

TEST(Roofline, DerivesMissingWorkOfOperators) {
  const proto::Device device = TestDevice();
  const ComputeModel model{{TimeSource::kRoofline}, &device};
  const char* floats = "['Tensor(float)', 'Tensor(float)']";
  const Graph g = MakeGraph({
      {NodeType::kComp, "aten::mm", -1, -1, 7, false, floats, "[[100, 200], [200, 50]]"},  // 2e6 / 10e12
      {NodeType::kComp, "aten::mm", -1, -1, 0, false, "", "[[100, 200], [200, 50]]"},  // 2e6 / 100e12, 70 kB
      {NodeType::kComp, "aten::mm", 1000000, -1, 0, false, floats, "[[100, 200], [200, 50]]"},
      {NodeType::kComp, "aten::mm", -1, -1, 0, true, floats, "[[100, 200], [200, 50]]"},  // host
      {NodeType::kComp, "aten::view", -1, -1, 0, false, floats, "[[100, 200], [200, 50]]"},
      {NodeType::kComp, "aten::mm", -1, -1, 0, false, floats, "[[100, 200"},
  });
  ComputeTimes t = Price(g, model);
  EXPECT_EQ(t.time[0], Time::Nanos(200));
  EXPECT_EQ(t.time[1], Time::Nanos(70));
  EXPECT_EQ(t.time[2], Time::Nanos(100));
  for (int i : {3, 4, 5}) EXPECT_EQ(t.time_source[i], TimeSource::kNone) << i;
  EXPECT_EQ(t.derived, 2u);
  // A measured time comes before a derived one.
  t = Price(g, {{TimeSource::kRoofline, TimeSource::kRecorded}, &device});
  EXPECT_EQ(t.time_source[0], TimeSource::kRecorded);
  EXPECT_EQ(t.time[0], Time::Micros(7));
  EXPECT_EQ(t.derived, 1u);
}

TEST(Dtype, ComesFromTheTypesText) {
  EXPECT_EQ(DtypeOf("['Tensor(float)', 'Int']"), "fp32");
  EXPECT_EQ(DtypeOf("['Int', 'Tensor(double)']"), "fp64");
  EXPECT_EQ(DtypeOf("['GenericList[Tensor(c10::Half),Tensor(float)]']"), "fp16");
  EXPECT_EQ(DtypeOf("['Tensor(long int)', 'Tensor(c10::BFloat16)']"), "bf16");
  EXPECT_EQ(DtypeOf("['Tensor(signed char)']"), "int8");
  EXPECT_EQ(DtypeOf("['Tensor(bfloat16)']"), "bf16");
  EXPECT_EQ(DtypeOf("['Tensor(float8_e4m3fn)']"), "fp8");
  EXPECT_EQ(DtypeOf("['Int', 'Bool']"), "");
  EXPECT_EQ(DtypeOf(R"(["long int", "Scalar", "c10::BFloat16"])"), "bf16");  // Kineto
  EXPECT_EQ(DtypeOf("['Double']"), "");                                      // a scalar
  EXPECT_EQ(DtypeOf("Tensor("), "");
  EXPECT_EQ(DtypeOf(""), "");
  for (const char* t : {"float", "double", "half", "bfloat16", "int8", "float8_e5m2"}) {
    EXPECT_THAT(PeakDtypes(), testing::Contains(std::string(DtypeOf(std::string("Tensor(") + t + ")"))));
  }
}

TEST(Names, TimeSourcesHaveNames) {
  EXPECT_EQ(Name(TimeSource::kTable), "table");
  EXPECT_EQ(Name(TimeSource::kNone), "none");
}

TEST(TimeSources, ModelUsesNamesAndShapes) {
  const auto device = FindDevice("H100");
  ASSERT_TRUE(device.ok()) << device.status();
  const auto kernels = KernelModel::Create(*device);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  constexpr char kBf16[] = "['Tensor(c10::BFloat16)', 'Tensor(c10::BFloat16)']";
  const Graph g =
      MakeGraph({{NodeType::kComp, "aten::mm", -1, -1, 0, false, kBf16, "[[512, 256], [256, 128]]"},
                 {NodeType::kComp, "aten::mm", -1, -1, 7, false, kBf16, "[[512, 256], [256, 128]]"},
                 {NodeType::kComp, "aten::mm", -1, -1, 0, true, kBf16, "[[512, 256], [256, 128]]"},
                 {NodeType::kComp, "nobody_knows", 1000, 0, 0}});
  ComputeModel m;
  m.time_sources = *ParseTimeSources("model,roofline,recorded");
  m.device = &*device;
  m.kernels = &*kernels;
  const ComputeTimes t = Price(g, m);
  const auto mm = kernels->Gemm({KernelDtype::kBf16, 1, 512, 128, 256});
  ASSERT_TRUE(mm.ok()) << mm.status();
  EXPECT_EQ(t.time_source[0], TimeSource::kModel);
  EXPECT_NEAR(t.time[0].seconds() * 1e6, mm->us, 1e-5);
  EXPECT_NEAR(t.spread[0].high.seconds() * 1e6, mm->high_us, 1e-5);
  EXPECT_NEAR(t.error[static_cast<size_t>(TimeSource::kModel)].seconds() * 1e6,
              std::max(mm->high_us - mm->us, mm->us - mm->low_us), 1e-5);
  EXPECT_EQ(t.time_source[1], TimeSource::kRecorded);  // a measured time comes first
  EXPECT_EQ(t.time_source[2], TimeSource::kNone);      // of the host
  EXPECT_EQ(t.time_source[3], TimeSource::kRoofline);  // no family
}

TEST(TimeSources, RepricedScalesTheRecordedTime) {
  const auto h100 = FindDevice("H100"), a100 = FindDevice("A100");
  ASSERT_TRUE(h100.ok() && a100.ok());
  const auto here = KernelModel::Create(*a100), captured = KernelModel::Create(*h100);
  ASSERT_TRUE(here.ok() && captured.ok());
  constexpr char kBf16[] = "['Tensor(c10::BFloat16)', 'Tensor(c10::BFloat16)']";
  const Graph g =
      MakeGraph({{NodeType::kComp, "nvjet_tst", -1, -1, 300, false, kBf16, "[[4096, 8192], [8192, 4096]]"},
                 {NodeType::kComp, "Memcpy HtoD (Pinned -> Device)", 0, 4096, 5},
                 {NodeType::kComp, "nvjet_tst", -1, -1, 300, true, kBf16, "[[4096, 8192], [8192, 4096]]"}});
  ComputeModel m;
  m.time_sources = *ParseTimeSources("repriced,recorded");
  m.device = &*a100;
  m.kernels = &*here;
  EXPECT_EQ(Price(g, m).time_source[0], TimeSource::kRecorded);  // the device of the capture is not known
  m.captured_on = &*captured;
  const ComputeTimes t = Price(g, m);
  const GemmCall gemm = {KernelDtype::kBf16, 1, 4096, 4096, 8192};
  EXPECT_EQ(t.time_source[0], TimeSource::kRepriced);
  EXPECT_NEAR(t.time[0].seconds() * 1e6, 300 * here->Gemm(gemm)->us / captured->Gemm(gemm)->us, 1e-3);
  EXPECT_EQ(t.time[1], Time::Micros(5));
  EXPECT_EQ(t.time_source[2], TimeSource::kRecorded);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
