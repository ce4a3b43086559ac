// The peak memory of PyTorch's allocator: the report of a capture, against a second count. That count adds up
// the bytes of each allocation and release; of the profiler's own totals, it reads only the first.
#include <gmock/gmock.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <vector>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "trace/io/file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

struct Allocation {
  double ts = 0;
  size_t place = 0;
  int64_t bytes = 0, total = 0;
};

// The peak of the device that held the most, by sums.
int64_t PeakBySums(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root, events;
  EXPECT_EQ(parser.parse(json).get(root), simdjson::SUCCESS);
  events = root.is_array() ? root : simdjson::dom::element(root["traceEvents"]);
  std::map<int64_t, std::vector<Allocation>> of_device;
  size_t place = 0;
  for (const simdjson::dom::element e : events.get_array()) {
    std::string_view name;
    if (e["name"].get(name) != simdjson::SUCCESS || name != "[memory]") continue;
    const simdjson::dom::element args = e["args"];
    if (int64_t{args["Device Type"]} == 0) continue;  // the host
    of_device[int64_t{args["Device Id"]}].push_back(
        {double{e["ts"]}, place++, int64_t{args["Bytes"]}, int64_t{args["Total Allocated"]}});
  }
  int64_t most = 0;
  for (auto& [device, all] : of_device) {
    std::sort(all.begin(), all.end(), [](const Allocation& a, const Allocation& b) {
      return std::pair(a.ts, a.place) < std::pair(b.ts, b.place);
    });
    int64_t held = all.front().total - all.front().bytes;  // before the recording
    for (const Allocation& a : all) most = std::max(most, held += a.bytes);
  }
  return most;
}

class CaptureMemory : public Bench {};

TEST_F(CaptureMemory, PeakEqualsSumOfAllocations) {
  const std::string data = std::string(CHAKRA_SHARED_DATA) + "/kineto";
  if (!fs::exists(data)) GTEST_SKIP() << "no captures";
  const struct {
    const char* file;
    uint64_t peak;  // by a script in Python, from the totals
  } kCaptures[] = {
      {"h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 2088508416},
      {"mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 2219047936},
      {"h100_gaunernst_bert-small-uncased__1016001.json.gz", 101305344},
      {"mi300_gaunernst_bert-small-uncased__1016001.json.gz", 146394112},
      {"inference_vllm_decode_full_capture_traces_graph_capture_rank_0.1773709742341309550.pt.trace.json.gz",
       191628704768},
  };
  for (const auto& c : kCaptures) {
    const std::string file = data + "/" + c.file;
    const auto content = ReadFile(file);
    ASSERT_TRUE(content.ok()) << content.status();
    const int64_t sums = PeakBySums(*content);
    EXPECT_EQ(static_cast<uint64_t>(sums), c.peak) << c.file;
    const proto::Report report = ReportOf(file);
    EXPECT_EQ(report.peak_memory_bytes(), static_cast<uint64_t>(sums)) << c.file;
    EXPECT_EQ(report.rank(0).peak_memory_bytes(), static_cast<uint64_t>(sums)) << c.file;
  }
  // Captures without such events report no peak.
  EXPECT_EQ(ReportOf(data + "/mi300_resnet_act_checkpoint.json.gz").peak_memory_bytes(), 0u);
}

constexpr char kTwoDevices[] = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"External id": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1,
   "args": {"External id": 1, "correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 7, "ts": 4, "dur": 5,
   "args": {"External id": 1, "correlation": 7, "stream": 7, "device": 0}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2, "args":
   {"Total Reserved": 900, "Total Allocated": 500, "Bytes": 500, "Addr": 1, "Device Id": 0, "Device Type": 1}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "args":
   {"Total Reserved": 900, "Total Allocated": 700, "Bytes": 200, "Addr": 2, "Device Id": 1, "Device Type": 1}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 4, "args":
   {"Total Reserved": 900, "Total Allocated": 9000, "Bytes": 9000, "Addr": 3, "Device Id": -1, "Device Type": 0}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args":
   {"Bytes": 7000, "Addr": 3, "Device Id": 0, "Device Type": 1}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 6, "args":
   {"Total Allocated": "much", "Bytes": 7000, "Addr": 3, "Device Id": 0, "Device Type": 1}},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[OutOfMemory]", "pid": 1, "tid": 1, "ts": 7, "args":
   {"Total Allocated": 800, "Device Id": 0, "Device Type": 1}}]})";

// The peak is that of the device that holds the most. The host's memory, events without totals and other
// instant events do not count.
TEST_F(CaptureMemory, PeakIsThatOfTheFullestDevice) {
  Write("k.json", kTwoDevices);
  EXPECT_EQ(ReportOf("k.json").peak_memory_bytes(), 700u);
  ASSERT_EQ(Run("convert k.json -o k.0.et").status, 0);
  EXPECT_EQ(ReportOf("k.0.et").peak_memory_bytes(), 700u);
  EXPECT_THAT(Run("replay k.json").out, ::testing::HasSubstr("peak memory"));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
