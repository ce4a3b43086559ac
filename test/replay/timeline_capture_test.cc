// The timeline of a capture's replay, against the capture.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "simdjson.h"
#include "test/folders.h"
#include "test/replay/switch_bench.h"
#include "test/replay/timeline_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

const std::string kDlrm = std::string(CHAKRA_SHARED_DATA) + "/param/dlrm/kineto";

// An operation: stream, begin after the rank's first operation, duration (ns), name.
using Operation = std::tuple<std::string, int64_t, int64_t, std::string>;

class TimelineOfCapture : public SwitchBench {
 protected:
  // The device operations in the Kineto file, read without the project's readers.
  std::vector<Operation> Recorded(const std::string& file) const {
    std::vector<Operation> out;
    simdjson::dom::parser parser;
    const simdjson::padded_string text(Unpacked(file));
    for (const simdjson::dom::element event : parser.parse(text)["traceEvents"]) {
      std::string_view category;
      if (event["cat"].get(category) != simdjson::SUCCESS ||
          (category != "kernel" && category != "gpu_memcpy" && category != "gpu_memset")) {
        continue;
      }
      out.emplace_back(absl::StrCat("stream ", int64_t(event["tid"])), 1000 * int64_t(event["ts"]),
                       1000 * int64_t(event["dur"]), std::string(std::string_view(event["name"])));
    }
    return Since(std::move(out));
  }
  static std::vector<Operation> Since(std::vector<Operation> out) {
    int64_t first = INT64_MAX;
    for (const Operation& o : out) first = std::min(first, std::get<1>(o));
    for (Operation& o : out) std::get<1>(o) -= first;
    std::sort(out.begin(), out.end());
    return out;
  }
};

TEST_F(TimelineOfCapture, HasEachKernelAtItsRecordedTime) {
  if (!fs::is_directory(kDlrm)) GTEST_SKIP() << "NO REAL DATA: " << kDlrm << " is absent";
  Runs("replay -q --report r.json --timeline t.json " + kDlrm);
  std::map<int, std::vector<Operation>> shown;
  const SeenTimeline seen = JsonReader(Content(folder_ / "t.json")).seen();
  EXPECT_TRUE(seen.faults.empty()) << seen.faults[0];
  for (const SeenSlice& s : seen.slices) {
    if (s.category != "wait" && s.track.rfind("stream ", 0) == 0)
      shown[s.pid].emplace_back(s.track, s.begin, s.end - s.begin, s.name);
  }
  int ranks = 0;
  for (const auto& entry : fs::directory_iterator(kDlrm)) {
    const int rank = entry.path().filename().string()[std::string("worker").size()] - '0';
    const std::vector<Operation> recorded = Recorded(entry.path().string());
    EXPECT_GT(recorded.size(), 250u) << rank;
    EXPECT_EQ(Since(shown[rank]), recorded) << rank;
    ++ranks;
  }
  EXPECT_EQ(ranks, 8);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
