// Recordings of rocprofv3 and JAX. An unchanged recording replays in its measured time, and no operation is
// lost, by the count of a second reader.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "capture_testing.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/base/wire.h"
#include "trace/import/xplane/xspace.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

std::string SharedFile(const std::string& name) { return absl::StrCat(CHAKRA_SHARED_DATA, "/", name); }

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SKIPPED: there is no " << (path)

// Kernels, copies and sets of a trace: their number and their total time (ns).
struct Total {
  uint64_t count = 0;
  int64_t ns = 0, bytes = 0;
  bool operator==(const Total& o) const { return count == o.count && ns == o.ns && bytes == o.bytes; }
};
std::ostream& operator<<(std::ostream& out, const Total& t) {
  return out << t.count << " operations, " << t.ns << " ns, " << t.bytes << " bytes";
}

Total OfDevices(const TraceSet& traces) {
  Total total;
  for (const RankTrace& rank : traces.ranks) {
    const Graph& g = *rank.graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      if (g.is_cpu(row) || g.type[row] == NodeType::kMetadata) continue;
      ++total.count;
      total.ns += g.duration[row].picos() / 1000;
      if (g.payload[row] != kNoRow && absl::StrContains(g.name_of(row), "Copy"))
        total.bytes += static_cast<int64_t>(g.work[g.payload[row]].tensor_bytes);
    }
  }
  return total;
}

void ExpectIdentity(const std::string& path) {
  for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kUnlimited}) {
    const Replayed r = ReplayOf({path}, nullptr, lanes);
    ASSERT_FALSE(r.steps.empty()) << path;
    for (const StepMetrics& s : r.steps) {
      const auto measured = static_cast<double>(s.measured.picos());
      ASSERT_GT(measured, 0) << s.name;
      EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / measured, 1, 0.001) << path << " " << s.name;
      EXPECT_LE(static_cast<double>(s.kernel_start_error.picos()) / measured, 0.01) << path << " " << s.name;
    }
  }
}

TEST(Recordings, RocprofReplaysMeasuredTime) {
  const std::string path = SharedFile("rocprof/mi350x_training_rank_of_8.json.gz");
  SKIP_WITHOUT(path);
  ExpectIdentity(path);
}

TEST(Recordings, RocprofKeepsEveryKernel) {
  const std::string path = SharedFile("rocprof/mi350x_training_rank_of_8.json.gz");
  SKIP_WITHOUT(path);
  // simdjson's DOM is the second reader.
  const auto text = ReadFile(path);
  ASSERT_TRUE(text.ok()) << text.status();
  simdjson::dom::parser parser;
  simdjson::dom::array dispatches;
  ASSERT_EQ(parser.parse(*text)
                .at_pointer("/rocprofiler-sdk-tool/0/buffer_records/kernel_dispatch")
                .get_array()
                .get(dispatches),
            simdjson::SUCCESS);
  Total expected;
  for (const auto d : dispatches) {
    ++expected.count;
    expected.ns += d["end_timestamp"].get_int64().value() - d["start_timestamp"].get_int64().value();
  }
  const auto traces = ReadTraceSet({path}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(OfDevices(*traces), expected);
  EXPECT_EQ(expected.count, 43915u);
  EXPECT_EQ(expected.ns, 4441741378);
  // The warnings name the missing parts, and the switches that record them.
  std::string warnings;
  for (const std::string& w : traces->warnings) warnings += w + "\n";
  EXPECT_TRUE(absl::StrContains(warnings, "--rccl-trace")) << warnings;
  EXPECT_TRUE(absl::StrContains(warnings, "--hip-trace")) << warnings;
  EXPECT_TRUE(absl::StrContains(warnings, "1310 communication kernels")) << warnings;
}

// The second reader of XSpaces: protobuf's wire format field by field, without the code of the project's
// XSpace reader.
class PlainXSpace {
 public:
  explicit PlainXSpace(absl::string_view bytes) {
    Each(bytes, [&](const wire::Field& f) {
      if (f.number == 1) Plane(f.text());
    });
  }
  Total total;
  uint64_t planes = 0;

 private:
  template <typename F>
  static void Each(absl::string_view bytes, F f) {
    wire::Cursor c = wire::CursorOf(bytes);
    wire::Field field;
    while (!c.done()) {
      ASSERT_EQ(wire::ReadField(&c, &field), nullptr);
      f(field);
    }
  }
  void Plane(absl::string_view bytes) {
    std::string name;
    std::map<uint64_t, std::string> stats;
    Each(bytes, [&](const wire::Field& f) {
      if (f.number == 2) name = std::string(f.text());
      if (f.number != 5) return;
      Each(f.text(), [&](const wire::Field& entry) {
        if (entry.number != 2) return;
        uint64_t id = 0;
        Each(entry.text(), [&](const wire::Field& m) {
          if (m.number == 1) id = m.bits;
          if (m.number == 2) stats[id] = std::string(m.text());
        });
      });
    });
    if (!absl::StartsWith(name, "/device:GPU")) return;
    ++planes;
    Each(bytes, [&](const wire::Field& line) {
      if (line.number != 3) return;
      Each(line.text(), [&](const wire::Field& event) {
        if (event.number != 4) return;
        ++total.count;
        Each(event.text(), [&](const wire::Field& f) {
          if (f.number == 3) total.ns += static_cast<int64_t>(f.bits / 1000);
          if (f.number != 4) return;
          uint64_t id = 0;
          Each(f.text(), [&](const wire::Field& s) {
            if (s.number == 1) id = s.bits;
            if (s.number != 7 || stats[id] != "memcpy_details") return;
            const std::string& details = stats[s.bits];
            total.bytes += std::stoll(details.substr(details.find("size:") + 5));
          });
        });
      });
    });
  }
};

class JaxProfile : public testing::TestWithParam<const char*> {
 protected:
  std::string path() const { return SharedFile(absl::StrCat("xplane/", GetParam())); }
};

TEST_P(JaxProfile, ReplaysMeasuredTime) {
  SKIP_WITHOUT(path());
  ExpectIdentity(path());
}

TEST_P(JaxProfile, KeepsEveryOperationAndByte) {
  SKIP_WITHOUT(path());
  const auto bytes = ReadFile(path());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const PlainXSpace expected(*bytes);
  const auto traces = ReadTraceSet({path()}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_GT(expected.total.count, 0u);
  EXPECT_EQ(OfDevices(*traces), expected.total);
}

INSTANTIATE_TEST_SUITE_P(Real, JaxProfile,
                         testing::Values("jax_conv_minimal_mi300x.xplane.pb",
                                         "jax_te_fused_attention.xplane.pb"));

// The program in a profile, replayed without its timeline: the kernel model's step against the measured step.
// The convolution of 8 MI300X took 717.3 us on its device (sum of its five kernels, mean of five runs). The
// model may be off by a factor of two.
TEST(Recordings, PricesProgramWithoutTimeline) {
  const std::string path = SharedFile("xplane/jax_conv_minimal_mi300x.xplane.pb");
  SKIP_WITHOUT(path);
  const auto bytes = ReadFile(path);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto space = xplane::ReadXSpace(*bytes, path);
  ASSERT_TRUE(space.ok()) << space.status();
  const std::string module = testing::TempDir() + "/conv.hlo.pb";
  for (const xplane::Plane& plane : space->planes) {
    for (const auto& [id, metadata] : plane.events) {
      xplane::Stat proto;
      if (absl::StartsWith(metadata.name, "jit_forward_3d_conv") &&
          xplane::FindStat(metadata.stats, plane, "Hlo Proto", &proto)) {
        ASSERT_TRUE(WriteFile(module, proto.text).ok());
      }
    }
  }
  const CommandResult r = RunCommand("replay " + module + " --cluster mi300x --report - --format json");
  ASSERT_EQ(r.status, 0) << r.err;
  simdjson::dom::parser parser;
  simdjson::dom::element report;
  ASSERT_EQ(parser.parse(r.out).get(report), simdjson::SUCCESS);
  const std::string_view makespan = report["makespan_ps"].get_string().value();
  const double us = std::stod(std::string(makespan)) / 1e6;
  EXPECT_GT(us, 717.3 / 2);
  EXPECT_LT(us, 717.3 * 2);
}

TEST(Recordings, CommandsAcceptRecordings) {
  const std::string path = SharedFile("xplane/jax_te_fused_attention.xplane.pb");
  SKIP_WITHOUT(path);
  const std::string folder = testing::TempDir() + "/recordings_cli";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* command : {"inspect ", "replay "}) {
    const CommandResult r = RunCommand(command + path, folder);
    EXPECT_EQ(r.status, 0) << command << r.err;
  }
  ASSERT_EQ(RunCommand("convert " + path + " -o profile.et", folder).status, 0);
  const CommandResult table = RunCommand("kernels collect profile.et -o kernels.csv", folder);
  EXPECT_EQ(table.status, 0) << table.err;
  const auto rows = ReadFile(folder + "/kernels.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(absl::StrContains(*rows, "xla::dot")) << *rows;
  const CommandResult same = RunCommand("compare " + path + " profile.et", folder);
  EXPECT_EQ(same.status, 0) << same.err;
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
