#include "replay/calibrate/nccl_tests_rows.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra::nccl_tests {
namespace {

constexpr size_t kMaxWarnings = 200;
constexpr double kMaxMicros = 1e12;
constexpr uint64_t kMaxBytes = uint64_t{1} << 50;

struct TestName {
  absl::string_view plain;  // lower case, letters only
  Test test;
};
// A name comes before the names that are parts of it.
constexpr TestName kNames[] = {
    {"reducescatter", Test::kReduceScatter},
    {"allreduce", Test::kAllReduce},
    {"allgather", Test::kAllGather},
    {"alltoallv", Test::kAllToAllV},
    {"alltoall", Test::kAllToAll},
    {"broadcast", Test::kBroadcast},
    {"hypercube", Test::kHypercube},
    {"sendrecv", Test::kSendRecv},
    {"bcast", Test::kBroadcast},
    {"scatter", Test::kScatter},
    {"gather", Test::kGather},
    {"reduce", Test::kReduce},
};

std::string Plain(absl::string_view s) {
  std::string out;
  for (const char c : s) {
    if (c != '_' && c != '-' && c != ' ') out.push_back(absl::ascii_tolower(c));
  }
  return out;
}

CollectiveType TypeOf(Test test) {
  switch (test) {
    case Test::kReduce:
      return CollectiveType::kReduce;
    case Test::kBroadcast:
      return CollectiveType::kBroadcast;
    case Test::kAllGather:
      return CollectiveType::kAllGather;
    case Test::kReduceScatter:
      return CollectiveType::kReduceScatter;
    case Test::kAllToAll:
      return CollectiveType::kAllToAll;
    case Test::kGather:
      return CollectiveType::kGather;
    case Test::kScatter:
      return CollectiveType::kScatter;
    default:
      return CollectiveType::kAllReduce;
  }
}

}  // namespace

absl::string_view Name(Test test) {
  static constexpr absl::string_view kText[kTests] = {
      "all_reduce", "reduce", "broadcast", "sendrecv",  "all_gather", "reduce_scatter",
      "all_to_all", "gather", "scatter",   "hypercube", "alltoallv"};
  return kText[static_cast<int>(test)];
}

std::optional<Test> TestNamed(absl::string_view name) {
  name = absl::StripAsciiWhitespace(name);
  const size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
  const std::string plain = Plain(absl::StripSuffix(name, "_perf"));
  for (const TestName& n : kNames) {
    if (plain == n.plain) return n.test;
  }
  return std::nullopt;
}

std::optional<Test> TestIn(absl::string_view text) {
  const std::string plain = Plain(text);
  for (const TestName& n : kNames) {
    if (absl::StrContains(plain, n.plain)) return n.test;
  }
  return std::nullopt;
}

int ElementBytes(absl::string_view dtype) {
  struct Type {
    absl::string_view name;
    int bytes;
  };
  static constexpr Type kTypes[] = {
      {"int8", 1},    {"uint8", 1},    {"char", 1},     {"int32", 4},  {"int", 4},
      {"uint32", 4},  {"int64", 8},    {"uint64", 8},   {"half", 2},   {"float", 4},
      {"double", 8},  {"bfloat16", 2}, {"f8e4m3", 1},   {"f8e5m2", 1}, {"float16", 2},
      {"float32", 4}, {"float64", 8},  {"fp8_e4m3", 1}, {"bf16", 2},   {"fp8_e5m2", 1},
  };
  for (const Type& t : kTypes) {
    if (t.name == dtype) return t.bytes;
  }
  return 0;
}

std::string VersionText(int64_t code) {
  const int64_t major = code < 10000 ? 1000 : 10000;
  return absl::StrCat(code / major, ".", code % major / 100, ".", code % 100);
}

bool ParseFigure(absl::string_view token, Figure* out) {
  *out = Figure();
  if (token == "N/A" || token == "n/a") return true;
  double value = 0;
  if (!absl::SimpleAtod(token, &value)) return false;
  if (!std::isfinite(value)) return true;
  const size_t e = std::min(token.find_first_of("eE"), token.size());
  int exponent = 0;
  if (e < token.size() && !absl::SimpleAtoi(absl::StripPrefix(token.substr(e + 1), "+"), &exponent))
    return false;
  const size_t dot = token.substr(0, e).find('.');
  const int decimals = dot == absl::string_view::npos ? 0 : static_cast<int>(e - dot - 1);
  *out = {value, 0.5 * std::pow(10.0, exponent - decimals), true};
  return true;
}

std::string Output::Where(int line) const { return absl::StrCat(path_, ":", line); }

absl::Status Output::Error(int line, absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(Where(line), ": ", what));
}

void Output::Warn(int line, absl::string_view what) {
  if (result_.warnings.size() < kMaxWarnings) {
    result_.warnings.push_back(absl::StrCat(Where(line), ": ", what));
  } else {
    ++unsaid_;
  }
}

absl::StatusOr<MeasuredRun> Output::Take(absl::string_view sought) {
  if (result_.rows.empty()) {
    std::string message = absl::StrCat(path_, ": no measurement found; looked for ", sought);
    for (size_t i = 0; i < result_.warnings.size() && i < 3; ++i) {
      absl::StrAppend(&message, i == 0 ? ". Left out: " : "; ", result_.warnings[i]);
    }
    return absl::InvalidArgumentError(message);
  }
  if (unsaid_ > 0) result_.warnings.push_back(absl::StrCat(path_, ": and ", unsaid_, " more like these"));
  if (result_.device_name.empty()) result_.device_name = result_.rows[0].device;
  return std::move(result_);
}

namespace {

// Whether most rows have a bus bandwidth that is neither 0 nor the algorithm bandwidth. A run of one rank
// never prints this.
bool ShowsTraffic(const Run& run) {
  size_t halves = 0, shown = 0;
  for (const Row& row : run.rows) {
    for (const Half& half : row.halves) {
      if (!half.alg.present || !half.bus.present || half.alg.value <= half.alg.half) continue;
      ++halves;
      const double apart = std::abs(half.bus.value - half.alg.value);
      shown += half.bus.value > half.bus.half && apart > half.bus.half + half.alg.half ? 1 : 0;
    }
  }
  return 2 * shown > halves;
}

}  // namespace

absl::Status Output::Add(const Run& run) {
  if (run.rows.empty()) return absl::OkStatus();
  const int line = run.rows[0].line;
  if (run.ranks == 1 && ShowsTraffic(run)) {
    Run cut = run;
    cut.ranks = cut.nodes = 0;
    return Add(cut);
  }
  if (run.ranks == 1) {
    Warn(line, "a run of one rank, without communication: left out");
    return absl::OkStatus();
  }
  Test test = Test::kAllReduce;
  std::string doubt;
  RETURN_IF_ERROR(FindTest(run, *this, &test, &doubt));
  if (!doubt.empty()) Warn(line, doubt);
  if (test == Test::kSendRecv || test == Test::kHypercube || test == Test::kAllToAllV) {
    Warn(line, absl::StrCat("rows of ", Name(test), ", which is not a known collective: left out"));
    return absl::OkStatus();
  }
  doubt.clear();
  int ranks = 0;
  RETURN_IF_ERROR(FindRanks(run, test, *this, &ranks, &doubt));
  if (!doubt.empty()) Warn(line, doubt);

  size_t plain = 0;
  size_t scaled = 0;
  for (const Row& row : run.rows) {
    for (const Half& half : row.halves) {
      plain += Fits(half, row.size, test, ranks, 1);
      scaled += Fits(half, row.size, test, ranks, ranks);
    }
  }
  const bool received = run.received_size && (test == Test::kReduceScatter || test == Test::kScatter);
  const bool scale = MovesBlocks(test) && (scaled > plain || (scaled == plain && received));
  for (const Row& row : run.rows) {
    for (const Half& half : row.halves) Emit(run, row, half, test, ranks, scale ? ranks : 1);
  }
  return absl::OkStatus();
}

absl::Status StartRcclRun(const RcclShape& shape, int line, Output* out, Run* run) {
  // The program assumes that all processes of a group are on one node, so its one node may be several.
  constexpr int kLargestNode = 16;
  const bool one = shape.nodes == 1 && shape.ranks > kLargestNode;
  const int nodes = one ? 0 : shape.nodes;
  if (!run->rows.empty() && run->test == shape.test && run->ranks == shape.ranks && run->nodes == nodes) {
    return absl::OkStatus();
  }
  const Run done = std::exchange(*run, Run());
  RETURN_IF_ERROR(out->Add(done));
  run->test = shape.test;
  run->ranks = shape.ranks;
  run->nodes = nodes;
  run->received_size = true;
  if (one) {
    out->Warn(line,
              absl::StrCat(
                  "one node of ", shape.ranks,
                  " GPUs, as rccl-tests writes for any number of nodes: the number of nodes is not known"));
  }
  return absl::OkStatus();
}

void Output::Emit(const Run& run, const Row& row, const Half& half, Test test, int ranks, uint64_t scale) {
  const absl::string_view side = half.in_place ? "in-place" : "out-of-place";
  if (row.size == 0) {
    if (&half == &row.halves[0]) Warn(row.line, "size 0, nothing was moved: row left out");
    return;
  }
  if (row.size > kMaxBytes / scale) {
    Warn(row.line, absl::StrCat("size ", row.size, ", expected at most ", kMaxBytes, " bytes: row left out"));
    return;
  }
  const uint64_t bytes = row.size * scale;
  double time = half.time.value;
  if (half.cpu_time) {
    // The printed bandwidth was computed from the exact time.
    if (!half.alg.present || half.alg.value < 200 * half.alg.half) {
      Warn(row.line,
           absl::StrCat(side, ": the time is of a launching thread, and algbw has too few digits: left out"));
      return;
    }
    time = static_cast<double>(bytes) / half.alg.value / 1000;
  } else if (!half.time.present || !(time > 0) || time > kMaxMicros) {
    Warn(row.line, absl::StrCat(side, ": time ", half.time.present ? absl::StrCat(time) : "absent",
                                ", expected above 0 and at most 1e12 us: left out"));
    return;
  } else if (!Fits(half, row.size, test, ranks, scale)) {
    Warn(row.line, absl::StrCat(side, ": time ", time, " us, algbw ", half.alg.value, " and busbw ",
                                half.bus.value, " GB/s are not those of a ", Name(test), " of ", bytes,
                                " bytes on ", ranks, " ranks (algbw ", bytes / time / 1000, "): left out"));
    return;
  }
  if (half.wrong > 0) Warn(row.line, absl::StrCat(side, ": ", half.wrong, " wrong elements, time kept"));
  MeasuredRow m;
  m.type = TypeOf(test);
  m.ranks = ranks;
  m.nodes = std::min(run.nodes, ranks);
  m.bytes = bytes;
  m.time_us = time;
  m.in_place = half.in_place;
  m.dtype = row.dtype;
  m.redop = row.redop.value_or("");
  m.algorithm = half.algorithm;
  m.protocol = half.protocol;
  m.channels = half.channels;
  m.device = run.device;
  m.file = path_;
  m.line = row.line;
  result_.rows.push_back(std::move(m));
}

}  // namespace chakra::nccl_tests
