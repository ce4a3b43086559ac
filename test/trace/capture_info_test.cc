#include "trace/model/capture_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

et::AttributeProto* Attr(et::GlobalMetadata* m, const std::string& name) {
  et::AttributeProto* a = m->add_attr();
  a->set_name(name);
  return a;
}

// Nodes 0 to 4, 10 us each, one after the other, and two steps.
TraceBuilder Capture() {
  TraceBuilder b(1);
  for (int i = 0; i < 5; ++i) b.Comp(0, 10).set_start_time_micros(static_cast<uint64_t>(10 * i));
  et::GlobalMetadata* m = &b.Metadata(0);
  Attr(m, "schema")->set_string_val("kineto");
  Attr(m, "capture")->set_string_val("pytorch");
  Attr(m, "rank")->set_int64_val(5);
  Attr(m, "window_end_ns")->set_int64_val(51234);
  auto* names = Attr(m, "step_names")->mutable_string_list();
  names->add_values("ProfilerStep#3");
  names->add_values("ProfilerStep#4");
  auto* first = Attr(m, "step_first_nodes")->mutable_uint64_list();
  auto* last = Attr(m, "step_last_nodes")->mutable_uint64_list();
  for (const uint64_t id : {1, 3}) first->add_values(id);
  for (const uint64_t id : {2, 4}) last->add_values(id);
  return b;
}

absl::StatusOr<std::optional<CaptureInfo>> Read(const TraceBuilder& b) {
  const auto traces = b.Build();
  EXPECT_TRUE(traces.ok()) << traces.status();
  return ReadCaptureInfo(traces->ranks[0]);
}

et::AttributeProto* Field(et::GlobalMetadata* m, const std::string& name) {
  for (et::AttributeProto& a : *m->mutable_attr()) {
    if (a.name() == name) return &a;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

void Drop(et::GlobalMetadata* m, const std::string& name) {
  for (int i = m->attr_size() - 1; i >= 0; --i) {
    if (m->attr(i).name() == name) m->mutable_attr()->DeleteSubrange(i, 1);
  }
}

TEST(CaptureInfo, ReadsRankWindowAndSteps) {
  const auto info = Read(Capture());
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_TRUE(info->has_value());
  EXPECT_EQ((*info)->rank, 5);
  EXPECT_EQ((*info)->window_end, Time::Nanos(51234));
  ASSERT_EQ((*info)->steps.size(), 2u);
  EXPECT_EQ((*info)->steps[1].name, "ProfilerStep#4");
  EXPECT_EQ((*info)->steps[1].first, 3u);
  EXPECT_EQ((*info)->steps[1].last, 4u);
}

TEST(CaptureInfo, MapsNodeIdsToRows) {
  TraceBuilder b = Capture();
  std::swap(b.Nodes(0)[1], b.Nodes(0)[4]);
  b.Nodes(0)[0].set_id(1000000);
  const auto info = Read(b);
  ASSERT_TRUE(info.ok() && info->has_value()) << info.status();
  EXPECT_EQ((*info)->steps[0].first, 4u);
  EXPECT_EQ((*info)->steps[1].last, 1u);
}

TEST(CaptureInfo, ReadsTheWindowWithoutSteps) {
  TraceBuilder b = Capture();
  for (const char* field : {"step_names", "step_first_nodes", "step_last_nodes"}) Drop(&b.Metadata(0), field);
  const auto info = Read(b);
  ASSERT_TRUE(info.ok() && info->has_value()) << info.status();
  EXPECT_TRUE((*info)->steps.empty());
}

TEST(CaptureInfo, OtherTracesAreNoCaptures) {
  TraceBuilder none = Capture(), other = Capture(), number = Capture();
  Drop(&none.Metadata(0), "capture");
  Field(&other.Metadata(0), "capture")->set_string_val("something else");
  Field(&number.Metadata(0), "capture")->set_int64_val(1);
  for (const TraceBuilder* b : {&none, &other, &number}) {
    const auto info = Read(*b);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_FALSE(info->has_value());
  }
  RankTrace bare;
  bare.graph = std::make_shared<Graph>();
  EXPECT_FALSE(ReadCaptureInfo(bare)->has_value());
}

TEST(CaptureInfo, ErrorsNameFileAndField) {
  struct Case {
    const char* field;
    const char* what;
    std::function<void(et::GlobalMetadata*)> spoil;
  };
  const auto drop = [](const char* f) { return [f](et::GlobalMetadata* m) { Drop(m, f); }; };
  const auto text = [](const char* f) {
    return [f](et::GlobalMetadata* m) { Field(m, f)->set_string_val("x"); };
  };
  const auto number = [](const char* f, int64_t v) {
    return [f, v](et::GlobalMetadata* m) { Field(m, f)->set_int64_val(v); };
  };
  const std::vector<Case> cases = {
      {"rank", "missing", drop("rank")},
      {"rank", "string_val, expected an integer", text("rank")},
      {"rank", "out of range", number("rank", -1)},
      {"rank", "out of range", number("rank", int64_t{1} << 31)},
      {"rank", "given twice", [](et::GlobalMetadata* m) { Attr(m, "rank")->set_int64_val(1); }},
      {"window_end_ns", "missing", drop("window_end_ns")},
      {"window_end_ns", "out of range", number("window_end_ns", -1)},
      {"window_end_ns", "out of range", number("window_end_ns", INT64_MAX)},
      {"step_names", "expected a list of strings", text("step_names")},
      {"step_first_nodes", "2 nodes, expected one for each of the 0 step_names", drop("step_names")},
      {"step_first_nodes", "0 nodes, expected one for each of the 2", drop("step_first_nodes")},
      {"step_last_nodes", "int64_val, expected a list of node ids", number("step_last_nodes", 2)},
      {"step_last_nodes", "node 77, which is not in the file",
       [](et::GlobalMetadata* m) { Field(m, "step_last_nodes")->mutable_uint64_list()->set_values(1, 77); }},
      {"step_last_nodes", "step \"ProfilerStep#4\" ends with node 1, before its first node, 3, starts",
       [](et::GlobalMetadata* m) { Field(m, "step_last_nodes")->mutable_uint64_list()->set_values(1, 1); }},
  };
  for (const Case& c : cases) {
    TraceBuilder b = Capture();
    c.spoil(&b.Metadata(0));
    const auto info = Read(b);
    ASSERT_FALSE(info.ok()) << c.field << ": " << c.what;
    const std::string message(info.status().message());
    EXPECT_THAT(message, HasSubstr(std::string("test.0.et: metadata attribute ") + c.field + ": "));
    EXPECT_THAT(message, HasSubstr(c.what));
  }
}

TEST(CaptureInfo, ErrorsGiveTheKindOfCapture) {
  TraceBuilder b = Capture();
  Field(&b.Metadata(0), "capture")->set_string_val("collective_logs");
  Drop(&b.Metadata(0), "rank");
  const auto info = Read(b);
  ASSERT_FALSE(info.ok());
  EXPECT_THAT(std::string(info.status().message()), HasSubstr("(the trace says capture: collective_logs)"));
}

TEST(CaptureInfo, RefusesMetadataThatDoesNotParse) {
  RankTrace trace;
  trace.file = "w.0.et";
  trace.graph = std::make_shared<Graph>();
  trace.metadata = Capture().Metadata(0).SerializeAsString() + "\x12\x7f";
  const auto info = ReadCaptureInfo(trace);
  ASSERT_FALSE(info.ok());
  EXPECT_THAT(std::string(info.status().message()), HasSubstr("w.0.et: metadata: expected a GlobalMetadata"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
