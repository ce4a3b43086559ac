#include "trace/import/rocprof/ranks.h"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "trace/base/units.h"
#include "trace/import/capture/rank_names.h"
#include "trace/import/comm/comm_kernels.h"
#include "trace/import/recorded/device_rows.h"
#include "trace/import/rocprof/rccl.h"

namespace chakra::rocprof {
namespace {

using pytorch::CommCall;
using pytorch::DeviceExtra;
using pytorch::DeviceTrace;
using pytorch::EventKind;

// One GPU of a process: it becomes a rank.
struct Unit {
  Recording* recording = nullptr;
  int64_t agent = 0;
  bool first = false;  // whether it is the first GPU of its process
};

// Counts of what the recordings have, to find what they lack.
struct Missing {
  uint64_t kernels = 0, launched = 0, comm_kernels = 0, rccl_calls = 0, rccl_args = 0;
  int64_t comm_ns = 0;
};

class DeviceBuilder {
 public:
  DeviceBuilder(const Unit& unit, int world, DeviceTrace* out, Missing* missing)
      : unit_(unit), world_(world), r_(*unit.recording), rows_(out), missing_(*missing) {}

  void Build(int64_t base) {
    rows_.Reserve(r_.calls.size() + r_.dispatches.size() + r_.copies.size(),
                  r_.dispatches.size() + r_.copies.size());
    FindThreads();
    for (const Call& call : r_.calls) {
      if (!r_.args.empty() && call.args != kNoRow)
        AddCommunicator(NameOf(call), r_.args[call.args], &communicators_);
    }
    for (const Call& call : r_.calls) {
      if (threads_.contains(call.thread)) AddCall(call);
    }
    for (const Dispatch& d : r_.dispatches) {
      if (d.agent == unit_.agent) AddDispatch(d);
    }
    for (const Copy& c : r_.copies) {
      if (AgentOf(c) == unit_.agent) AddCopy(c);
    }
    rows_.Finish(base);
  }

  // The GPU that a copy is assigned to: its target if that is a GPU, else its source.
  int64_t AgentOf(const Copy& c) const {
    const auto gpu = [&](int64_t handle) {
      const auto it = r_.agents.find(handle);
      return it != r_.agents.end() && it->second.gpu;
    };
    return gpu(c.to) ? c.to : c.from;
  }

 private:
  absl::string_view NameOf(const Call& call) const { return r_.strings.Get(call.name); }
  int DeviceIndex() const {
    const auto it = r_.agents.find(unit_.agent);
    return it == r_.agents.end() ? 0 : it->second.index;
  }
  struct Kernel {
    std::string name;
    bool communicates = false;
  };
  void FindThreads();
  const Kernel& KernelOf(int64_t id);
  void AddCall(const Call& call);
  void AddDispatch(const Dispatch& d);
  void AddCopy(const Copy& c);

  const Unit& unit_;
  const int world_;
  const Recording& r_;
  pytorch::DeviceRows rows_;
  Missing& missing_;
  Communicators communicators_;
  absl::flat_hash_map<int64_t, Kernel> kernels_;
  absl::flat_hash_set<int64_t> threads_;   // threads whose calls belong to this rank
  absl::flat_hash_set<int64_t> launched_;  // correlations of the rank's device operations
  absl::flat_hash_set<int64_t> hip_;       // correlations of calls of HIP
};

void DeviceBuilder::FindThreads() {
  absl::flat_hash_set<int64_t> elsewhere, all;
  int64_t last = INT64_MIN;
  bool last_here = false;
  for (const Dispatch& d : r_.dispatches) {
    const bool here = d.agent == unit_.agent;
    if (d.thread != last || here != last_here) (here ? threads_ : elsewhere).insert(last = d.thread);
    last_here = here;
    if (here && !r_.calls.empty()) launched_.insert(d.correlation);
  }
  for (const Copy& c : r_.copies) {
    const bool here = AgentOf(c) == unit_.agent;
    (here ? threads_ : elsewhere).insert(c.thread);
    if (here) launched_.insert(c.correlation);
  }
  for (const Call& call : r_.calls) {
    all.insert(call.thread);
    if (call.domain == Domain::kHip) hip_.insert(call.correlation);
  }
  if (!unit_.first) return;
  for (const int64_t thread : all) {
    if (!elsewhere.contains(thread)) threads_.insert(thread);
  }
}

void DeviceBuilder::AddCall(const Call& call) {
  const uint32_t thread = rows_.Thread(r_.pid, call.thread, "");
  const absl::string_view name = NameOf(call);
  pytorch::EventSpan span{EventKind::kRuntime, call.begin, call.end, call.correlation};
  if (call.domain == Domain::kMarker) {
    span.kind = EventKind::kAnnotation;
    span.correlation = pytorch::kNone;
    const int64_t step = pytorch::StepNumber(name);
    rows_.AddHost(step >= 0 ? absl::StrCat("ProfilerStep#", step) : std::string(name), thread, span);
    return;
  }
  if (call.domain != Domain::kRccl) {
    if (call.domain != Domain::kHip) span.kind = EventKind::kDriver;
    rows_.AddHost(name, thread, span);
    return;
  }
  // A call of RCCL is an operator. If calls of HIP were not recorded, the call also launches its kernel.
  const bool launches = launched_.contains(call.correlation) && !hip_.contains(call.correlation);
  if (launches) rows_.AddHost(name, thread, span);
  span.kind = EventKind::kCpuOp;
  span.correlation = pytorch::kNone;
  const uint32_t event = rows_.AddHost(name, thread, span);
  if (!MovesData(name)) return;
  ++missing_.rccl_calls;
  if (call.args != kNoRow) ++missing_.rccl_args;
  const Arguments* args = call.args == kNoRow ? nullptr : &r_.args[call.args];
  CommCall read = ReadRcclCall(name, args, communicators_);
  // A communicator of the job's size has all ranks.
  for (int rank = 0; read.group_size == world_ && world_ > 1 && rank < world_; ++rank)
    read.ranks.push_back(rank);
  rows_.SetCall(event, rows_.AddComm(std::move(read)));
}

void DeviceBuilder::AddDispatch(const Dispatch& d) {
  DeviceExtra extra;
  for (int axis = 0; axis < 3; ++axis) {
    extra.block[axis] = d.block[axis];
    // The grid of an AMD kernel counts work items; in the trace, grids count blocks.
    extra.grid[axis] = d.block[axis] == 0 ? d.grid[axis] : (d.grid[axis] + d.block[axis] - 1) / d.block[axis];
  }
  const Kernel& kernel = KernelOf(d.kernel);
  const int64_t lane = d.stream != kUnknown ? d.stream : d.queue;
  rows_.AddDevice(kernel.name, rows_.Stream(DeviceIndex(), lane),
                  {EventKind::kKernel, d.begin, d.end, d.correlation}, extra);
  ++missing_.kernels;
  missing_.launched += hip_.contains(d.correlation) ? 1 : 0;
  if (kernel.communicates) {
    ++missing_.comm_kernels;
    missing_.comm_ns = std::min(missing_.comm_ns + (d.end - d.begin), int64_t{1} << 61);
  }
}

const DeviceBuilder::Kernel& DeviceBuilder::KernelOf(int64_t id) {
  const auto [it, fresh] = kernels_.try_emplace(id);
  if (fresh) {
    const auto known = r_.kernels.find(id);
    it->second.name =
        known == r_.kernels.end() ? absl::StrCat("kernel ", id) : std::string(r_.strings.Get(known->second));
    if (known == r_.kernels.end()) {
      unit_.recording->Note(
          "rocprof_dangling_kernel",
          absl::StrCat("kernel ", id, " is not among the kernel symbols; its number is used as its name"));
    }
    pytorch::CommKernel comm;
    it->second.communicates =
        pytorch::ReadCommKernel(it->second.name, &comm) == pytorch::KernelSays::kCommunicates;
  }
  return it->second;
}

void DeviceBuilder::AddCopy(const Copy& c) {
  const auto gpu = [&](int64_t handle) {
    const auto it = r_.agents.find(handle);
    return it != r_.agents.end() && it->second.gpu;
  };
  const bool from = gpu(c.from), to = gpu(c.to);
  const absl::string_view name = !from && to      ? "Memcpy HtoD"
                                 : from && !to    ? "Memcpy DtoH"
                                 : !from          ? "Memcpy HtoH"
                                 : c.from == c.to ? "Memcpy DtoD"
                                                  : "Memcpy PtoP";
  DeviceExtra extra;
  extra.bytes = c.bytes;
  rows_.AddDevice(name, rows_.Stream(DeviceIndex(), c.stream),
                  {EventKind::kMemcpy, c.begin, c.end, c.correlation}, extra);
}

// The rank in a file's name ("rank3" or "rank_3"); kNoRank: none.
int RankInName(const std::string& file) {
  const pytorch::NamedRank named = pytorch::RankFromName(file.substr(file.rfind('/') + 1));
  return named.sure ? named.rank : kNoRank;
}

std::set<int64_t> AgentsUsed(Recording* r) {
  std::set<int64_t> used;
  for (const Dispatch& d : r->dispatches) used.insert(d.agent);
  for (const Copy& c : r->copies) {
    for (const int64_t agent : {c.to, c.from}) {
      const auto it = r->agents.find(agent);
      if (it == r->agents.end() || !it->second.gpu) continue;
      used.insert(agent);
      break;
    }
  }
  for (const int64_t agent : used) {
    if (r->agents.contains(agent)) continue;
    r->Note("rocprof_dangling_agent",
            absl::StrCat("agent ", agent, " is not among the agents; it is treated as a GPU"));
  }
  return used;
}

std::vector<Unit> UnitsOf(std::vector<Recording>* recordings) {
  std::vector<Unit> units;
  for (Recording& r : *recordings) {
    bool first = true;
    std::set<int64_t> agents = AgentsUsed(&r);
    if (agents.empty() && !r.calls.empty()) agents.insert(kUnknown);  // only the host was recorded
    for (const int64_t agent : agents) {
      units.push_back({&r, agent, first});
      first = false;
    }
  }
  return units;
}

void Warn(const Missing& m, pytorch::RecordedRanks* out) {
  if (m.kernels > 0 && m.launched == 0) {
    out->warnings.push_back(absl::StrCat("rocprofv3 recorded no calls of HIP: the launches of ", m.kernels,
                                         " kernels and the waits of the host are unknown, so only the order "
                                         "on each stream is kept; record with "
                                         "--hip-trace (or --runtime-trace, which has RCCL too)"));
  }
  if (m.comm_kernels == 0) return;
  const std::string kernels =
      absl::StrCat(m.comm_kernels, " communication kernels (", FormatTime(Time::Nanos(m.comm_ns)), ")");
  if (m.rccl_calls == 0) {
    out->warnings.push_back(absl::StrCat(
        "rocprofv3 recorded no calls of RCCL: kind, size and group of ", kernels,
        " are unknown, and they keep their recorded time on any cluster; record with --rccl-trace (or "
        "--runtime-trace)"));
  } else if (m.rccl_args == 0) {
    out->warnings.push_back(absl::StrCat(
        "the recording has calls of RCCL without their arguments: sizes and groups of ", kernels,
        " are unknown; record rocpd, rocprofv3's default output since ROCm 7, which has the arguments"));
  }
}

}  // namespace

absl::StatusOr<pytorch::RecordedRanks> RanksOf(std::vector<Recording> recordings) {
  std::vector<Unit> units = UnitsOf(&recordings);
  if (units.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(recordings.empty() ? "no file" : recordings[0].file,
                                                   ": no kernel dispatch, no copy and no call was recorded; "
                                                   "record with --kernel-trace --memory-copy-trace "
                                                   "--hip-trace --rccl-trace, or --runtime-trace"));
  }
  const auto index = [](const Unit& u) {
    const auto it = u.recording->agents.find(u.agent);
    return it == u.recording->agents.end() ? 0 : it->second.index;
  };
  std::stable_sort(units.begin(), units.end(), [&](const Unit& a, const Unit& b) {
    return std::tuple(a.recording->machine, index(a), a.recording->pid, a.recording->file) <
           std::tuple(b.recording->machine, index(b), b.recording->pid, b.recording->file);
  });
  const auto told = [&](const Unit& u) {
    if (u.recording->rank != kNoRank) return u.recording->rank;
    return recordings.size() == units.size() ? RankInName(u.recording->file) : kNoRank;
  };
  const bool all_told =
      recordings.size() == units.size() &&
      std::all_of(units.begin(), units.end(), [&](const Unit& u) { return told(u) != kNoRank; });
  // Processes of one machine share its clock, so its ranks have one base.
  std::map<std::string, int64_t> base;
  for (const Recording& r : recordings) {
    int64_t& least = base.try_emplace(r.machine, INT64_MAX).first->second;
    for (const Call& c : r.calls) least = std::min(least, c.begin);
    for (const Dispatch& d : r.dispatches) least = std::min(least, d.begin);
    for (const Copy& c : r.copies) least = std::min(least, c.begin);
  }
  pytorch::RecordedRanks out;
  Missing missing;
  std::map<int, std::string> taken;
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    Recording& r = *unit.recording;
    const int rank = all_told ? told(unit) : static_cast<int>(i);
    if (const auto [it, fresh] = taken.try_emplace(rank, r.file); !fresh) {
      return absl::InvalidArgumentError(
          absl::StrCat("two processes of rank ", rank, ": ", it->second, " and ", r.file,
                       "; expected one recording of each rank: name the files to use"));
    }
    pytorch::CaptureRank& to = out.ranks.emplace_back();
    to.rank = rank;
    to.device_file = r.file;
    to.device = std::make_unique<DeviceTrace>();
    to.device->file = r.file;
    to.device->rank = rank;
    to.device->schema = "rocprofv3";
    to.device->machine = r.machine;
    to.device->world_size = r.world;
    if (const auto agent = r.agents.find(unit.agent); agent != r.agents.end() && !agent->second.name.empty())
      to.device->devices.push_back(agent->second.name);
    const int world = std::max(r.world, static_cast<int>(units.size()));
    DeviceBuilder(unit, world, to.device.get(), &missing).Build(base[r.machine]);
    if (unit.first) to.device->repairs = r.repairs;
    for (Repair& repair : to.device->repairs) repair.rank = rank;
  }
  if (units.size() == 1 && !all_told) out.warnings.push_back("the rank is not recorded; rank 0 is assumed");
  Warn(missing, &out);
  return out;
}

}  // namespace chakra::rocprof
