#include "trace/import/xplane/timelines.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/import/recorded/device_rows.h"

namespace chakra::xplane {
namespace {

using pytorch::EventKind;

constexpr int64_t kMostPs = int64_t{50} * 86400 * 1'000'000'000'000;  // twice as much still fits into 64 bits

// The stats that are read of an operation, in the order of kOpStats.
enum class OpStat : uint8_t {
  kCorrelation,
  kKernelDetails,
  kMemcpyDetails,
  kMemsetDetails,
  kHloOp,
  kHloModule,
  kProgram,
  kFlops,
  kTraffic,
  kOther,
};
constexpr absl::string_view kOpStats[] = {"correlation_id", "kernel_details", "memcpy_details",
                                          "memset_details", "hlo_op",         "hlo_module",
                                          "program_id",     "flops",          "bytes_accessed"};

// Reads "17" of "Stream #17(Kernel)".
bool StreamOf(absl::string_view line, int64_t* stream) {
  if (!absl::ConsumePrefix(&line, "Stream #")) return false;
  size_t digits = 0;
  while (digits < line.size() && absl::ascii_isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
  return absl::SimpleAtoi(line.substr(0, digits), stream);
}

// Reads "1280,1,1" behind "grid:".
void ExtentAfter(absl::string_view details, absl::string_view key, uint32_t out[3]) {
  const size_t at = details.find(key);
  if (at == details.npos) return;
  absl::string_view rest = details.substr(at + key.size());
  for (int axis = 0; axis < 3; ++axis) {
    size_t digits = 0;
    while (digits < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
    if (!absl::SimpleAtoi(rest.substr(0, digits), &out[axis])) return;
    rest.remove_prefix(std::min(rest.size(), digits + 1));
  }
}

int64_t NumberAfter(absl::string_view details, absl::string_view key) {
  const size_t at = details.find(key);
  if (at == details.npos) return -1;
  const absl::string_view rest = details.substr(at + key.size());
  int64_t n = -1;
  return absl::SimpleAtoi(rest.substr(0, rest.find_first_not_of("0123456789")), &n) ? n : -1;
}

// From CUPTI's names of copies to those of Kineto, which the kernel model knows.
absl::string_view CopyName(absl::string_view name) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {{"MemcpyH2D", "Memcpy HtoD"},
                                                                               {"MemcpyD2H", "Memcpy DtoH"},
                                                                               {"MemcpyD2D", "Memcpy DtoD"},
                                                                               {"MemcpyP2P", "Memcpy PtoP"},
                                                                               {"MemcpyH2H", "Memcpy HtoH"}};
  for (const auto& [from, to] : kNames) {
    if (absl::StartsWith(name, from)) return to;
  }
  return name;
}

// The instruction's name in a TPU event: "%fusion.3 = bf16[8]{0} fusion(...)", or "fusion.3".
absl::string_view InstructionName(absl::string_view text) {
  absl::ConsumePrefix(&text, "%");
  return text.substr(0, text.find(" = "));
}

// Whether all members are equal; texts are compared by their address in the file.
bool Alike(const OpFacts& a, const OpFacts& b) {
  const auto same = [](absl::string_view x, absl::string_view y) {
    return x.data() == y.data() && x.size() == y.size();
  };
  return same(a.name, b.name) && same(a.hlo, b.hlo) && same(a.module, b.module) && a.program == b.program &&
         a.bytes == b.bytes && a.flops == b.flops && a.traffic == b.traffic && a.kind == b.kind &&
         std::equal(std::begin(a.grid), std::end(a.grid), b.grid) &&
         std::equal(std::begin(a.block), std::end(a.block), b.block);
}

class TimelineReader {
 public:
  TimelineReader(const Plane& plane, const FileClock& clock, absl::string_view file, DeviceTimeline* out)
      : plane_(plane), clock_(clock), file_(file), out_(*out) {
    for (const auto& [id, name] : plane.stats) {
      for (size_t i = 0; i < std::size(kOpStats); ++i) {
        if (name != kOpStats[i]) continue;
        if (id >= 0 && id < kFewStats) {
          few_stats_.resize(std::max(few_stats_.size(), static_cast<size_t>(id) + 1), OpStat::kOther);
          few_stats_[static_cast<size_t>(id)] = static_cast<OpStat>(i);
        } else {
          stats_[id] = static_cast<OpStat>(i);
        }
      }
    }
  }

  absl::Status Read();

 private:
  absl::Status ReadOps(const Line& line, int64_t stream);
  absl::Status ReadSteps(const Line& line);
  // The facts that all events of a name share, and the launch of its last event: most launches are equal.
  struct OfName {
    OpFacts facts;
    const OpFacts* last = nullptr;  // facts of the last event
    absl::string_view details;
    uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  };
  OpStat StatOf(int64_t id) const {
    if (static_cast<uint64_t>(id) < few_stats_.size()) return few_stats_[static_cast<size_t>(id)];
    const auto it = stats_.find(id);
    return it == stats_.end() ? OpStat::kOther : it->second;
  }
  void Apply(wire::Cursor stat, OfName* name, OpFacts* op, int64_t* correlation) const;
  void AddOp(const Line& line, const EventTimes& times, const std::vector<wire::Cursor>& stats);
  OfName& OfMetadata(int64_t id);
  void KeepLeaves(size_t from);
  std::string NameDevice() const;
  absl::Status Damaged(const Line& line) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": plane ", plane_.name, ", line \"", line.name,
                                                   "\": a damaged event; expected a whole XSpace"));
  }

  const Plane& plane_;
  const FileClock& clock_;
  absl::string_view file_;
  DeviceTimeline& out_;
  static constexpr int64_t kFewStats = 4096;
  std::vector<OpStat> few_stats_;               // by id, below kFewStats
  absl::flat_hash_map<int64_t, OpStat> stats_;  // by id, the others
  absl::flat_hash_map<int64_t, std::unique_ptr<OfName>> of_metadata_;
};

void TimelineReader::Apply(wire::Cursor bytes, OfName* name, OpFacts* op, int64_t* correlation) const {
  // The number of the stat comes first; most stats are not needed.
  wire::Cursor head = bytes;
  wire::Field f;
  if (!head.done() && wire::ReadField(&head, &f) == nullptr && f.number == 1 &&
      StatOf(static_cast<int64_t>(f.bits)) == OpStat::kOther)
    return;
  Stat stat;
  switch (StatOf(ReadStat(bytes, plane_, &stat))) {
    case OpStat::kCorrelation:
      *correlation = stat.number;
      break;
    case OpStat::kKernelDetails:
      if (stat.text != name->details) {
        name->details = stat.text;
        std::copy(std::begin(name->facts.grid), std::end(name->facts.grid), name->grid);
        std::copy(std::begin(name->facts.block), std::end(name->facts.block), name->block);
        ExtentAfter(stat.text, "grid:", name->grid);
        ExtentAfter(stat.text, "block:", name->block);
      }
      std::copy(std::begin(name->grid), std::end(name->grid), op->grid);
      std::copy(std::begin(name->block), std::end(name->block), op->block);
      break;
    case OpStat::kMemcpyDetails:
      op->kind = EventKind::kMemcpy;
      op->bytes = NumberAfter(stat.text, "size:");
      break;
    case OpStat::kMemsetDetails:
      op->kind = EventKind::kMemset;
      op->bytes = NumberAfter(stat.text, "size:");
      if (op->bytes < 0) op->bytes = NumberAfter(stat.text, "num_bytes:");
      break;
    case OpStat::kHloOp:
      op->hlo = stat.text;
      break;
    case OpStat::kHloModule:
      op->module = stat.text;
      break;
    case OpStat::kProgram:
      op->program = stat.number;
      break;
    case OpStat::kFlops:
      op->flops = stat.number;
      break;
    case OpStat::kTraffic:
      op->traffic = stat.number;
      break;
    case OpStat::kOther:
      break;
  }
}

TimelineReader::OfName& TimelineReader::OfMetadata(int64_t id) {
  std::unique_ptr<OfName>& known = of_metadata_[id];
  if (known != nullptr) return *known;
  known = std::make_unique<OfName>();
  OpFacts& op = known->facts;
  int64_t correlation = -1;  // events have it, not names
  const auto metadata = plane_.events.find(id);
  if (metadata == plane_.events.end()) {
    op.name = "(event without a name)";
    return *known;
  }
  op.name = metadata->second.name;
  if (out_.tpu) {
    op.name =
        InstructionName(metadata->second.display_name.empty() ? op.name : metadata->second.display_name);
    op.hlo = InstructionName(metadata->second.name);
  }
  for (const wire::Cursor& stat : metadata->second.stats) Apply(stat, known.get(), &op, &correlation);
  return *known;
}

void TimelineReader::AddOp(const Line& line, const EventTimes& times,
                           const std::vector<wire::Cursor>& stats) {
  OfName& name = OfMetadata(times.metadata);
  OpFacts facts = name.facts;
  DeviceOp& op = out_.ops.emplace_back();
  for (const wire::Cursor& stat : stats) Apply(stat, &name, &facts, &op.correlation);
  op.begin = clock_.Begin(line, times);
  op.end = clock_.End(line, times);
  if (facts.kind == EventKind::kMemcpy) facts.name = CopyName(facts.name);
  if (name.last == nullptr || !Alike(*name.last, facts)) {
    out_.facts.push_back(std::make_unique<const OpFacts>(facts));
    name.last = out_.facts.back().get();
  }
  op.facts = name.last;
}

absl::Status TimelineReader::ReadOps(const Line& line, int64_t stream) {
  out_.ops.reserve(out_.ops.size() + line.events);
  const bool whole = ForEvents(line, [&](const EventTimes& times, const std::vector<wire::Cursor>& stats) {
    if (!times.timed) {
      ++out_.skipped;
      return;
    }
    if (!Sane(times)) {
      ++out_.damaged;
      return;
    }
    AddOp(line, times, stats);
    out_.ops.back().stream = stream;
  });
  return whole ? absl::OkStatus() : Damaged(line);
}

absl::Status TimelineReader::ReadSteps(const Line& line) {
  const bool whole = ForEvents(line, [&](const EventTimes& times, const std::vector<wire::Cursor>& stats) {
    Stat number;
    int64_t step = -1;
    const auto metadata = plane_.events.find(times.metadata);
    if (FindStat(stats, plane_, "step_num", &number)) {
      step = number.number;
    } else if (metadata != plane_.events.end() && !absl::SimpleAtoi(metadata->second.name, &step)) {
      step = pytorch::StepNumber(metadata->second.name);
    }
    if (step < 0 && FindStat(stats, plane_, "group_id", &number)) step = number.number;
    if (step < 0) step = static_cast<int64_t>(out_.steps.size());
    if (Sane(times)) out_.steps.push_back({step, clock_.Begin(line, times), clock_.End(line, times)});
  });
  return whole ? absl::OkStatus() : Damaged(line);
}

// Removes operations that enclose others: loops, conditionals and calls. Their parts remain.
void TimelineReader::KeepLeaves(size_t from) {
  const auto begin = out_.ops.begin() + static_cast<ptrdiff_t>(from);
  std::stable_sort(begin, out_.ops.end(), [](const DeviceOp& a, const DeviceOp& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  const size_t n = out_.ops.size();
  std::vector<bool> holds(n);
  std::vector<size_t> open;
  for (size_t i = from; i < n; ++i) {
    while (!open.empty() && out_.ops[open.back()].end <= out_.ops[i].begin) open.pop_back();
    if (!open.empty() && out_.ops[i].end <= out_.ops[open.back()].end && out_.ops[i].end > out_.ops[i].begin)
      holds[open.back()] = true;
    open.push_back(i);
  }
  size_t to = from;
  for (size_t i = from; i < n; ++i) {
    if (holds[i]) {
      ++out_.skipped;
    } else {
      out_.ops[to++] = out_.ops[i];
    }
  }
  out_.ops.resize(to);
}

// A GPU's plane has its properties, but not its name: returns the device with these properties (data sheets
// of the vendors).
std::string TimelineReader::NameDevice() const {
  Stat stat;
  if (FindStat(plane_.own_stats, plane_, "device_type_string", &stat) && !stat.text.empty())
    return std::string(stat.text);
  FindStat(plane_.own_stats, plane_, "device_vendor", &stat);
  const absl::string_view vendor = stat.text;
  FindStat(plane_.own_stats, plane_, "core_count", &stat);
  const int64_t cores = stat.number;
  FindStat(plane_.own_stats, plane_, "memory_size", &stat);
  const int64_t gbytes = stat.number >> 30;
  FindStat(plane_.own_stats, plane_, "compute_cap_major", &stat);
  const int64_t major = stat.number;
  FindStat(plane_.own_stats, plane_, "clock_rate", &stat);
  const int64_t clock_mhz = stat.number / 1000;
  if (vendor == "AMD") {
    if (cores == 304 && gbytes > 150) return gbytes > 200 ? "AMD Instinct MI325X" : "AMD Instinct MI300X";
    if (cores == 256 && gbytes > 250)
      return clock_mhz >= 2400 ? "AMD Instinct MI355X" : "AMD Instinct MI350X";
    if (cores == 104 && gbytes > 50) return "AMD Instinct MI250X";
    return "";
  }
  if (major == 10 && cores == 148) return "NVIDIA B200";
  if (major == 9 && cores == 132) return gbytes > 100 ? "NVIDIA H200" : "NVIDIA H100 80GB HBM3";
  if (major == 9 && cores == 114) return "NVIDIA H100 PCIe";
  if (major == 8 && cores == 108) return gbytes > 60 ? "NVIDIA A100-SXM4-80GB" : "NVIDIA A100-SXM4-40GB";
  if (major == 7 && cores == 80) return gbytes > 20 ? "Tesla V100-SXM2-32GB" : "Tesla V100-SXM2-16GB";
  return "";
}

absl::Status TimelineReader::Read() {
  absl::string_view name = plane_.name;
  out_.tpu = absl::StartsWith(name, "/device:TPU:");
  if (!absl::SimpleAtoi(name.substr(name.rfind(':') + 1), &out_.ordinal) || out_.ordinal < 0 ||
      out_.ordinal >= (1 << 22))
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": plane ", name, "; expected a device number in the name"));
  out_.device = NameDevice();
  for (const Line& line : plane_.lines) {
    int64_t stream = 0;
    absl::Status s = absl::OkStatus();
    if (line.name == "Steps") {
      s = ReadSteps(line);
    } else if (!out_.tpu && StreamOf(line.name, &stream)) {
      s = ReadOps(line, stream);
    } else if (out_.tpu && line.name == "XLA Ops") {
      const size_t from = out_.ops.size();
      s = ReadOps(line, 0);
      KeepLeaves(from);
    } else if (out_.tpu && line.name == "Async XLA Ops") {
      s = ReadOps(line, 1);
    } else {
      out_.skipped += line.events;
    }
    if (!s.ok()) return s;
  }
  const auto before = [](const DeviceOp& a, const DeviceOp& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  if (!std::is_sorted(out_.ops.begin(), out_.ops.end(), before))
    std::stable_sort(out_.ops.begin(), out_.ops.end(), before);
  return absl::OkStatus();
}

}  // namespace

int64_t FileClock::Place(const Line& line, int64_t ps) const {
  constexpr int64_t kHalf = 500;
  return add_ns + line.timestamp_ns + (ps + kHalf) / 1000;
}

bool Sane(const EventTimes& t) {
  return t.offset_ps >= 0 && t.duration_ps >= 0 && t.offset_ps <= kMostPs && t.duration_ps <= kMostPs;
}

bool IsDevice(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "/device:GPU:") && !absl::ConsumePrefix(&name, "/device:TPU:"))
    return false;
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

absl::Status ReadTimeline(const Plane& plane, const FileClock& clock, absl::string_view file,
                          DeviceTimeline* out) {
  return TimelineReader(plane, clock, file, out).Read();
}

}  // namespace chakra::xplane
