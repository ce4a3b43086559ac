#include "trace/import/xplane/ranks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/recorded/device_rows.h"
#include "trace/import/xplane/host_threads.h"
#include "trace/import/xplane/programs.h"
#include "trace/import/xplane/timelines.h"

namespace chakra::xplane {
namespace {

using pytorch::DeviceExtra;
using pytorch::DeviceTrace;
using pytorch::EventKind;
using pytorch::kNone;

// The contents of one file.
struct Profile {
  const ProfileFile* file = nullptr;
  XSpace space;
  FileClock clock;
  std::vector<DeviceTimeline> devices;  // all of the host, by number
  HostThreads host;
  Programs programs;
  uint64_t skipped = 0, damaged = 0;  // of the host and of all devices
};

// Times of lines count from the begin of the profile, or from the epoch.
FileClock ClockOf(const XSpace& space) {
  constexpr int64_t kYear2001Ns = 978307200'000000000;
  FileClock clock;
  for (const Plane& plane : space.planes) {
    Stat start;
    if (plane.name != "Task Environment" || !FindStat(plane.own_stats, plane, "profile_start_time", &start))
      continue;
    if (start.number > kYear2001Ns && start.number < int64_t{1} << 61) clock.add_ns = start.number;
  }
  for (const Plane& plane : space.planes) {
    for (const Line& line : plane.lines) {
      if (line.timestamp_ns > kYear2001Ns) clock.add_ns = 0;
    }
  }
  return clock;
}

absl::Status ReadProfile(Profile* p) {
  ASSIGN_OR_RETURN(p->space, ReadXSpace(p->file->content.view(), p->file->path));
  p->clock = ClockOf(p->space);
  std::set<std::string> names;
  for (const Plane& plane : p->space.planes) {
    if (plane.name == "/host:metadata") p->programs.Add(plane, p->file->path);
    absl::Status s = absl::OkStatus();
    if (plane.name == "/host:CPU") s = ReadHostThreads(plane, p->clock, p->file->path, &p->host);
    if (IsDevice(plane.name)) {
      if (!names.insert(std::string(plane.name)).second)
        return absl::InvalidArgumentError(
            absl::StrCat(p->file->path, ": two planes ", plane.name, "; expected one plane for each device"));
      s = ReadTimeline(plane, p->clock, p->file->path, &p->devices.emplace_back());
      p->damaged += p->devices.back().damaged;
      p->skipped += p->devices.back().skipped;
    }
    if (!s.ok()) return s;
  }
  FinishHostThreads(&p->host);
  p->damaged += p->host.damaged;
  p->skipped += p->host.skipped;
  std::stable_sort(p->devices.begin(), p->devices.end(),
                   [](const DeviceTimeline& a, const DeviceTimeline& b) { return a.ordinal < b.ordinal; });
  return absl::OkStatus();
}

// Makes the trace of one device of a profile.
class DeviceBuilder {
 public:
  DeviceBuilder(Profile* profile, const DeviceTimeline& device, int rank, bool first, DeviceTrace* out)
      : p_(*profile), d_(device), rank_(rank), first_(first), out_(*out), rows_(out) {}

  void Build(int64_t base) {
    size_t calls = 0;
    for (const HostThreadCalls& thread : p_.host.threads) calls += first_ ? thread.calls.size() : 0;
    rows_.Reserve(calls + d_.ops.size(), d_.ops.size());
    AddHost();
    ops_.reserve(d_.ops.size());
    for (const DeviceOp& op : d_.ops) ops_.push_back({&op, RefOf(op), op.begin, op.end, op.stream});
    CountKernels();
    AddFlights();
    for (const PlacedOp& op : ops_) AddOp(op);
    for (const pytorch::DeviceStep& step : d_.steps) rows_.AddStep(step);
    rows_.Finish(base);
  }
  uint64_t without_program() const { return without_program_; }

 private:
  // An instruction of a program on this device.
  struct Ref {
    const KnownOp* known = nullptr;   // null: the instruction is not known
    std::vector<uint32_t> producers;  // rows of refs_
    absl::string_view kernel;         // name of the first kernel that it launches
    bool several = false;             // it launches different kernels
    bool in_flight = false;           // the profile has its transfer on a line of its own
    uint32_t event = kNoRow;          // the last event that ran it
    int64_t stream = 0, end = 0;      // of that event
    // Of a start that has not ended: 1 + its row in ops_; 0: none.
    size_t open = 0;
  };
  struct PlacedOp {
    const DeviceOp* op = nullptr;  // of a transfer: its start
    uint32_t ref = kNoRow;
    int64_t begin = 0, end = 0, stream = 0;
  };

  void AddHost();
  void CountKernels();
  void AddFlights();
  void AddOp(const PlacedOp& placed);
  uint32_t RefOf(const DeviceOp& op);
  uint32_t RefByName(int64_t program, absl::string_view module, absl::string_view name);
  void SetFacts(const Ref& ref, DeviceExtra* extra);
  void SetCalls(const KnownOp& known, DeviceExtra* extra);

  Profile& p_;
  const DeviceTimeline& d_;
  const int rank_;
  const bool first_;
  DeviceTrace& out_;
  pytorch::DeviceRows rows_;
  std::vector<PlacedOp> ops_;  // operations of the device, and transfers of its collectives
  std::vector<Ref> refs_;
  // A cache of ref_of_ by the address of the name: a name is in few places of the file, so most searches end
  // here.
  absl::flat_hash_map<std::pair<int64_t, const char*>, uint32_t> ref_at_;
  absl::flat_hash_map<std::pair<int64_t, std::string>, uint32_t> ref_of_;
  uint64_t without_program_ = 0;
};

uint32_t DeviceBuilder::RefByName(int64_t program, absl::string_view module, absl::string_view name) {
  const auto [it, fresh] =
      ref_of_.try_emplace({program, std::string(name)}, static_cast<uint32_t>(refs_.size()));
  const uint32_t row = it->second;
  if (!fresh) return row;
  refs_.emplace_back();
  Program* of = p_.programs.Find(program, module);
  const KnownOp* known = of == nullptr ? p_.programs.ByName(name) : of->Find(name);
  refs_[row].known = known;
  if (known == nullptr) return row;
  std::vector<uint32_t> producers;
  for (const std::string& producer : known->producers)
    producers.push_back(RefByName(program, module, producer));
  refs_[row].producers = std::move(producers);
  return row;
}

uint32_t DeviceBuilder::RefOf(const DeviceOp& op) {
  const OpFacts& facts = *op.facts;
  if (facts.hlo.empty()) return kNoRow;
  const auto [it, fresh] = ref_at_.try_emplace({facts.program, facts.hlo.data()}, kNoRow);
  if (fresh) {
    const uint32_t row = RefByName(facts.program, facts.module, facts.hlo);
    ref_at_[{facts.program, facts.hlo.data()}] = row;
    return row;
  }
  return it->second;
}

void DeviceBuilder::AddHost() {
  absl::flat_hash_set<int64_t> launched, elsewhere;
  const bool alone =
      first_ && std::all_of(p_.devices.begin(), p_.devices.end(), [&](const DeviceTimeline& device) {
        return &device == &d_ || device.ops.empty();
      });
  for (const DeviceTimeline& device : p_.devices) {
    if (alone) break;
    for (const DeviceOp& op : device.ops) {
      if (op.correlation >= 0) (&device == &d_ ? launched : elsewhere).insert(op.correlation);
    }
  }
  int64_t number = 0;
  for (const HostThreadCalls& thread : p_.host.threads) {
    ++number;
    const auto has = [&](const absl::flat_hash_set<int64_t>& set) {
      return std::any_of(thread.calls.begin(), thread.calls.end(), [&](const HostCall& c) {
        return c.correlation >= 0 && set.contains(c.correlation);
      });
    };
    const bool ours = alone || has(launched) || (first_ && !has(elsewhere));
    uint32_t row = kNoRow;
    for (const HostCall& call : thread.calls) {
      if (!ours && call.step < 0) continue;  // every device has the host's steps
      if (row == kNoRow) row = rows_.Thread(0, number, thread.name);
      if (call.step >= 0)
        rows_.AddHost(absl::StrCat("ProfilerStep#", call.step), row,
                      {EventKind::kAnnotation, call.begin, call.end, kNone});
      if (!ours) continue;
      const bool runtime = call.correlation >= 0 || call.waits;
      const EventKind kind = runtime ? EventKind::kRuntime : EventKind::kCpuOp;
      rows_.AddHost(call.name, row, {kind, call.begin, call.end, call.correlation});
    }
  }
}

// Finds instructions that launch several kernels: their work is not known for each kernel.
void DeviceBuilder::CountKernels() {
  for (const PlacedOp& placed : ops_) {
    if (placed.ref == kNoRow) continue;
    Ref& ref = refs_[placed.ref];
    if (ref.kernel.empty()) ref.kernel = placed.op->facts->name;
    ref.several = ref.several || ref.kernel != placed.op->facts->name;
    ref.in_flight = ref.in_flight || (d_.tpu && placed.stream == 1);
  }
}

// Adds transfers of asynchronous collectives on a TPU. Such a collective has a start and an end on the core's
// line. The transfer between them is on a line of its own, or on none: then it is added here. The transfer
// counts as the collective; the end only waits for it.
void DeviceBuilder::AddFlights() {
  if (!d_.tpu) return;
  const size_t n = ops_.size();
  for (size_t i = 0; i < n; ++i) {
    if (ops_[i].ref == kNoRow || ops_[i].stream != 0) continue;
    const KnownOp* known = refs_[ops_[i].ref].known;
    if (known == nullptr || known->collective.kind == hlo::CollectiveKind::kNone) continue;
    if (known->collective.phase == hlo::CollectivePhase::kStart) refs_[ops_[i].ref].open = i + 1;
    if (known->collective.phase != hlo::CollectivePhase::kDone) continue;
    for (const uint32_t producer : refs_[ops_[i].ref].producers) {
      Ref& start = refs_[producer];
      if (start.open == 0) continue;
      if (!start.in_flight) {
        PlacedOp flight = ops_[start.open - 1];
        flight.end = ops_[i].end;
        flight.stream = 1;
        ops_.push_back(flight);
      }
      start.open = 0;
      break;
    }
  }
  std::stable_sort(ops_.begin(), ops_.end(),
                   [](const PlacedOp& a, const PlacedOp& b) { return a.begin < b.begin; });
}

void DeviceBuilder::SetFacts(const Ref& ref, DeviceExtra* extra) {
  const hlo::Facts& facts = ref.known->facts;
  if (facts.op.empty()) return;
  extra->op = out_.strings.Intern(facts.op);
  extra->shapes = out_.strings.Intern(facts.shapes);
  extra->types = out_.strings.Intern(facts.types);
  if (ref.several) return;
  extra->operations = facts.operations;
  extra->traffic = facts.bytes;
}

void DeviceBuilder::SetCalls(const KnownOp& known, DeviceExtra* extra) {
  std::vector<pytorch::CommCall> calls = CallsOf(known, rank_);
  extra->comms = static_cast<uint32_t>(calls.size());
  for (pytorch::CommCall& call : calls) {
    const uint32_t row = rows_.AddComm(std::move(call));
    if (extra->comm == kNoRow) extra->comm = row;
  }
}

void DeviceBuilder::AddOp(const PlacedOp& placed) {
  const OpFacts& op = *placed.op->facts;
  DeviceExtra extra;
  extra.bytes = op.bytes;
  for (int axis = 0; axis < 3; ++axis) {
    extra.grid[axis] = op.grid[axis];
    extra.block[axis] = op.block[axis];
  }
  const KnownOp* known = placed.ref == kNoRow ? nullptr : refs_[placed.ref].known;
  pytorch::EventSpan span{op.kind, placed.begin, placed.end, placed.op->correlation};
  const bool collective = known != nullptr && known->collective.kind != hlo::CollectiveKind::kNone;
  const auto phase = known == nullptr ? hlo::CollectivePhase::kWhole : known->collective.phase;
  absl::InlinedVector<uint32_t, 4> waits;  // events
  if (known == nullptr || known->instruction == nullptr) without_program_ += op.hlo.empty() ? 0 : 1;
  if (known != nullptr) {
    if (!collective) SetFacts(refs_[placed.ref], &extra);
    // On a TPU, the start on the core's line does not count as the transfer.
    const bool carries = collective && phase != hlo::CollectivePhase::kDone &&
                         (!d_.tpu || placed.stream == 1 || phase == hlo::CollectivePhase::kWhole);
    if (carries && op.kind == EventKind::kKernel) SetCalls(*known, &extra);
    for (const uint32_t producer : refs_[placed.ref].producers) {
      const Ref& source = refs_[producer];
      if (source.event == kNoRow || source.stream == placed.stream) continue;
      waits.push_back(source.event);
      // The end's time before the transfer ended is a wait: it is cut off.
      if (collective && phase == hlo::CollectivePhase::kDone)
        span.begin = std::clamp(source.end, span.begin, span.end);
    }
  }
  if (op.flops >= 0 && extra.operations < 0 && !collective) extra.operations = op.flops;
  if (op.traffic >= 0 && extra.traffic < 0 && !collective) extra.traffic = op.traffic;
  const uint32_t event = rows_.AddDevice(op.name, rows_.Stream(d_.ordinal, placed.stream), span, extra);
  for (const uint32_t source : waits) rows_.AddWait(event, source);
  if (placed.ref == kNoRow) return;
  Ref& ref = refs_[placed.ref];
  // While the transfer runs, it remains the instruction's event, not an operation on the core's line.
  if (ref.event != kNoRow && d_.tpu && placed.stream == 0 && ref.end > placed.begin) return;
  ref.event = event;
  ref.stream = placed.stream;
  ref.end = span.end;
}

int64_t EarliestOf(const Profile& p) {
  int64_t least = INT64_MAX;
  for (const DeviceTimeline& d : p.devices) {
    for (const DeviceOp& op : d.ops) least = std::min(least, op.begin);
  }
  for (const HostThreadCalls& thread : p.host.threads) {
    for (const HostCall& call : thread.calls) least = std::min(least, call.begin);
  }
  return least;
}

std::string HostOf(const Profile& p) {
  if (!p.space.hostnames.empty()) return p.space.hostnames[0];
  std::string name = p.file->path.substr(p.file->path.rfind('/') + 1);
  return name.substr(0, name.find(".xplane.pb"));
}

void Warn(const Profile& p, uint64_t empty, uint64_t without_program, pytorch::RecordedRanks* out) {
  const std::string& file = p.file->path;
  if (empty > 0)
    out->warnings.push_back(absl::StrCat(file, ": ", empty, " of ", p.devices.size(),
                                         " devices have no recorded operations and get no trace"));
  if (p.programs.unread() > 0)
    out->warnings.push_back(
        absl::StrCat(file, ": ", p.programs.unread(), " programs cannot be read: ", p.programs.why()));
  if (without_program > 0)
    out->warnings.push_back(absl::StrCat(
        file, ": the programs of ", without_program,
        " operations are not in the profile, so their shapes and groups are unknown; record with the option "
        "enable_hlo_proto (ProfileOptions), which is on by default"));
}

}  // namespace

absl::StatusOr<pytorch::RecordedRanks> RanksOf(const std::vector<ProfileFile>& files) {
  pytorch::RecordedRanks out;
  int rank = 0;
  uint64_t ran = 0;
  std::vector<std::unique_ptr<Profile>> profiles;
  for (const ProfileFile& file : files) {
    Profile& p = *profiles.emplace_back(std::make_unique<Profile>());
    p.file = &file;
    RETURN_IF_ERROR(ReadProfile(&p));
    const int64_t base = EarliestOf(p);
    bool first = true;
    uint64_t empty = 0, without_program = 0;
    for (const DeviceTimeline& device : p.devices) {
      const int own = rank++;
      if (device.ops.empty()) {
        ++empty;
        continue;
      }
      pytorch::CaptureRank& to = out.ranks.emplace_back();
      to.rank = own;
      to.device_file = file.path;
      to.device = std::make_unique<DeviceTrace>();
      to.device->file = file.path;
      to.device->rank = own;
      to.device->schema = "xplane";
      to.device->machine = HostOf(p);
      if (!device.device.empty()) to.device->devices.push_back(device.device);
      DeviceBuilder builder(&p, device, own, first, to.device.get());
      builder.Build(base);
      without_program += builder.without_program();
      if (first) {
        to.device->skipped = p.skipped;
        if (p.damaged > 0)
          to.device->repairs.push_back({"xplane_bad_times", file.path, own, p.damaged, 0,
                                        "events whose times are negative or longer than 50 days; left out"});
        if (p.host.before_start > 0)
          to.device->repairs.push_back({"xplane_profiler_start", file.path, own, p.host.before_start, 0,
                                        "host events before the profiler had started; left out"});
      }
      first = false;
      ++ran;
    }
    Warn(p, empty, without_program, &out);
  }
  for (pytorch::CaptureRank& r : out.ranks) r.device->world_size = rank;
  if (files.size() > 1) {
    out.warnings.push_back(absl::StrCat("ranks count the devices of ", files.size(),
                                        " hosts in the order of their files' names; groups that number "
                                        "devices differently are joined incorrectly"));
  }
  if (ran > 0) return out;
  return absl::InvalidArgumentError(absl::StrCat(files.empty() ? "no file" : files[0].path,
                                                 ": no operation of a GPU or a TPU; expected a profile "
                                                 "of jax.profiler with planes /device:GPU:N or "
                                                 "/device:TPU:N"));
}

}  // namespace chakra::xplane
