// Rows as nccl-tests prints them, and their conversion to measurements. Internal to the readers of this
// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra::nccl_tests {

enum class Test : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kSendRecv,  // tests up to here move buffers of one size, the others n blocks
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kHypercube,
  kAllToAllV,
};
inline constexpr int kTests = 11;
inline bool MovesBlocks(Test test) { return test > Test::kSendRecv; }

absl::string_view Name(Test test);
// Parses "all_reduce_perf", "./build/all_reduce_perf", "AllReduce", "allreduce".
std::optional<Test> TestNamed(absl::string_view name);
// Finds the longest name of a test within `text`, such as "nccl_all-gather_8.log".
std::optional<Test> TestIn(absl::string_view text);
// The bytes of an element; 0 if the type is not known.
int ElementBytes(absl::string_view dtype);
// The text of NCCL's version code: 22809 is "2.28.9", 2402 is "2.4.2".
std::string VersionText(int64_t code);

// A printed number. The true number is within value +- half.
struct Figure {
  double value = 0;
  double half = 0;
  bool present = false;
};
// Parses a decimal number, also with an exponent as in 1e+06. Returns false if `token` is not a number.
// "N/A", nan and inf give a figure that is not present.
bool ParseFigure(absl::string_view token, Figure* out);

struct Half {
  Figure time;  // microseconds
  Figure alg;   // GB/s, 1e9 bytes
  Figure bus;
  double wrong = 0;
  bool in_place = false;
  bool cpu_time = false;  // `time` is the time of the launching thread
  std::string algorithm, protocol;
  int channels = 0;
};

struct Row {
  uint64_t size = 0;
  std::optional<uint64_t> count;
  std::string dtype;
  std::optional<std::string> redop;  // absent: no such column; "": printed empty
  std::optional<int> root;
  std::vector<Half> halves;
  int line = 0;
};

// Rows of one execution of a test.
struct Run {
  std::optional<Test> test;
  int ranks = 0;  // 0: not known
  int nodes = 0;
  std::string device;
  // True: sizes may be those of a received block (rccl-tests -x).
  bool received_size = false;
  std::vector<Row> rows;
};

// Collects measurements and warnings.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {}

  std::string Where(int line) const;
  absl::Status Error(int line, absl::string_view what) const;
  void Warn(int line, absl::string_view what);

  // Adds a run's rows as measurements. Errors: the collective or the number of ranks cannot be determined.
  absl::Status Add(const Run& run);

  const std::string& path() const { return path_; }
  MeasuredRun& result() { return result_; }
  // The result. Errors: no rows; `sought` describes the expected rows.
  absl::StatusOr<MeasuredRun> Take(absl::string_view sought);

 private:
  void Emit(const Run& run, const Row& row, const Half& half, Test test, int ranks, uint64_t scale);

  std::string path_;
  MeasuredRun result_;
  size_t unsaid_ = 0;  // number of warnings beyond the maximum
};

// The facts about its run that a row of rccl-tests -x contains.
struct RcclShape {
  Test test;
  int ranks;  // GPUs
  int nodes;
};
// Keeps `run` if it has `shape`; else adds it to `out` and starts another run.
absl::Status StartRcclRun(const RcclShape& shape, int line, Output* out, Run* run);

// Finds the test that printed the rows. Uses the number of ranks if it is known.
absl::Status FindTest(const Run& run, const Output& out, Test* test, std::string* doubt);
// Finds the number of ranks. Fills `doubt` if the lines contain another number.
absl::Status FindRanks(const Run& run, Test test, const Output& out, int* ranks, std::string* doubt);
// Whether the half's time and bandwidths agree with `test` on `n` ranks with `scale` (1 or n) times the
// printed size.
bool Fits(const Half& half, uint64_t size, Test test, int n, uint64_t scale);

absl::StatusOr<MeasuredRun> ReadText(absl::string_view text, const std::string& path);
absl::StatusOr<MeasuredRun> ReadJson(absl::string_view text, const std::string& path);
absl::StatusOr<MeasuredRun> ReadCsv(absl::string_view text, const std::string& path);

}  // namespace chakra::nccl_tests
