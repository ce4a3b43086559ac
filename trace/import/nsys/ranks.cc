#include "trace/import/nsys/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/import/nsys/finish.h"

namespace chakra::nsys {
namespace {

using pytorch::CommOp;
using pytorch::DeviceTrace;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;

std::string GroupName(uint64_t comm) { return absl::StrCat("nccl ", absl::Hex(comm)); }

// Divides a process by its devices.
class Divider {
 public:
  explicit Divider(const Process& process) : process_(process), trace_(process.trace) {
    for (const auto& [device, count] : process.devices) devices_.push_back(device);
    std::map<int64_t, uint32_t> thread_of;  // by correlation
    for (const Event& e : trace_.events) {
      if ((e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation != kNone)
        thread_of.emplace(e.correlation, e.lane);
    }
    drives_.resize(trace_.threads.size());
    for (const Event& e : trace_.events) {
      const auto thread = pytorch::OnDevice(e.kind) ? thread_of.find(e.correlation) : thread_of.end();
      if (thread != thread_of.end()) drives_[thread->second].insert(trace_.streams[e.lane].device);
    }
    ShareCalls();
  }

  const std::vector<int64_t>& devices() const { return devices_; }
  // Returns the part of one device. `comm_of`: that of the process; entries are added for calls that the part
  // adds.
  std::unique_ptr<DeviceTrace> PartOf(int64_t device, std::vector<uint64_t>* comm_of) const {
    auto part = std::make_unique<DeviceTrace>(trace_);
    std::vector<uint32_t> unknown(part->comms.size(), kNoRow);  // by call: its copy of unknown kind
    uint64_t shared = 0;
    part->events.clear();
    for (uint32_t row = 0; row < trace_.events.size(); ++row) {
      if (!BelongsTo(row, device)) continue;
      const Event& e = part->events.emplace_back(trace_.events[row]);
      if (!IsSharedCall(e) || device_of_.contains(row)) continue;
      uint32_t& comm = part->ops[e.extra].comm;
      if (unknown[comm] == kNoRow) {
        unknown[comm] = static_cast<uint32_t>(part->comms.size());
        pytorch::CommCall other = part->comms[comm];
        other.op = CommOp::kUnknown;
        part->comms.push_back(std::move(other));
        comm_of->push_back(uint64_t{(*comm_of)[comm]});
      }
      comm = unknown[comm];
      ++shared;
    }
    if (shared > 0) {
      part->repairs.push_back({"nsys_shared_thread", part->file, 0, shared, 0,
                               "calls of NCCL on a thread that drives several GPUs: the GPU and the size of "
                               "a call are not recorded"});
    }
    return part;
  }

 private:
  // Whether `e` is an NCCL call on a thread that drives several devices.
  bool IsSharedCall(const Event& e) const {
    return e.kind == EventKind::kAnnotation && e.extra != kNoRow && trace_.ops[e.extra].comm != kNoRow &&
           drives_[e.lane].size() > 1;
  }

  // Each device gets the steps of all threads. Threads that drive no device belong to the first device.
  bool BelongsTo(uint32_t row, int64_t device) const {
    const Event& e = trace_.events[row];
    if (!pytorch::OnHost(e.kind)) return trace_.streams[e.lane].device == device;
    if (e.kind == EventKind::kAnnotation && absl::StartsWith(trace_.name_of(e), "ProfilerStep#")) return true;
    const auto call = device_of_.find(row);
    if (call != device_of_.end()) return call->second == device;
    const std::set<int64_t>& driven = drives_[e.lane];
    return driven.empty() ? device == devices_.front() : driven.contains(device);
  }

  // Returns the devices that a call of a thread may be for: those of its communicator, sorted by rank there,
  // else all devices that the thread drives.
  std::vector<int64_t> DevicesOf(uint32_t call, uint32_t thread) const {
    std::map<int64_t, int64_t> places;  // by rank in the communicator
    for (const Membership& m : process_.members) {
      const bool here = m.comm != 0 && m.comm == process_.comm_of[call];
      if (here && drives_[thread].contains(m.device)) places.emplace(m.rank, m.device);
    }
    std::vector<int64_t> out;
    for (const auto& [rank, device] : places) out.push_back(device);
    if (out.empty()) out.assign(drives_[thread].begin(), drives_[thread].end());
    return out;
  }

  // A thread that drives several devices makes one call for each of them, one after the other, in a group.
  // Runs of equal calls whose number is a multiple of the number of devices are assigned to the devices in
  // turn.
  void ShareCalls() {
    std::map<uint32_t, std::vector<uint32_t>> calls;  // by thread: rows
    for (uint32_t row = 0; row < trace_.events.size(); ++row) {
      if (IsSharedCall(trace_.events[row])) calls[trace_.events[row].lane].push_back(row);
    }
    const auto call_of = [&](uint32_t row) { return trace_.ops[trace_.events[row].extra].comm; };
    for (const auto& [thread, rows] : calls) {
      for (size_t from = 0, to = 0; from < rows.size(); from = to) {
        const uint32_t call = call_of(rows[from]);
        while (to < rows.size() && call_of(rows[to]) == call) ++to;
        const std::vector<int64_t> devices = DevicesOf(call, thread);
        if (trace_.comms[call].p2p || (to - from) % devices.size() != 0) continue;
        for (size_t i = from; i < to; ++i) device_of_.emplace(rows[i], devices[(i - from) % devices.size()]);
      }
    }
  }

  const Process& process_;
  const DeviceTrace& trace_;
  std::vector<int64_t> devices_;
  std::vector<std::set<int64_t>> drives_;  // by thread: devices that it launches on
  std::map<uint32_t, int64_t> device_of_;  // by row; only calls of threads that drive several devices
};

DeviceRank DraftOf(size_t file, const Process& process, int64_t device, std::unique_ptr<DeviceTrace> trace,
                   std::vector<uint64_t> comm_of, const Session& session) {
  DeviceRank draft;
  draft.trace = std::move(trace);
  draft.file = file;
  draft.pid = PidOf(process.id);
  draft.device = device;
  draft.comm_of = std::move(comm_of);
  draft.trace->machine = absl::StrCat(file, " ", session.host);
  for (const Membership& m : process.members) {
    if (m.device < 0 || process.devices.size() < 2 || m.device == device) draft.members.push_back(m);
  }
  if (const auto rank = session.mpi_rank.find(process.id); rank != session.mpi_rank.end())
    draft.mpi_rank = rank->second;
  return draft;
}

// Sets the ranks if they are distinct, and none is -1. Returns false otherwise.
bool SetRanks(const std::vector<int>& ranks, std::vector<DeviceRank>* drafts) {
  const std::set<int> distinct(ranks.begin(), ranks.end());
  if (distinct.size() != drafts->size() || distinct.contains(-1)) return false;
  for (size_t i = 0; i < ranks.size(); ++i) (*drafts)[i].trace->rank = ranks[i];
  return true;
}

bool NumberByMpi(std::vector<DeviceRank>* drafts) {
  std::vector<int> ranks;
  for (const DeviceRank& draft : *drafts) ranks.push_back(draft.mpi_rank);
  return SetRanks(ranks, drafts);
}

bool NumberByNccl(std::vector<DeviceRank>* drafts) {
  // By size and communicator: the rank of each draft.
  std::map<std::pair<int64_t, uint64_t>, std::vector<int>> places;
  for (size_t i = 0; i < drafts->size(); ++i) {
    for (const Membership& m : (*drafts)[i].members) {
      std::vector<int>& ranks = places[{m.ranks, m.comm}];
      ranks.resize(drafts->size(), -1);
      ranks[i] = static_cast<int>(m.rank);
    }
  }
  return std::any_of(places.rbegin(), places.rend(),
                     [&](const auto& place) { return SetRanks(place.second, drafts); });
}

// A communicator, as far as it is known.
struct Comm {
  int64_t size = -1;
  std::map<int64_t, int> global;  // global rank, by rank in the communicator
  std::set<int> users;
};

// Returns the members in order; empty: not known.
std::vector<int> MembersOf(const Comm& comm, int world) {
  std::vector<int> members;
  if (comm.size > 0 && static_cast<int64_t>(comm.global.size()) == comm.size) {
    for (const auto& [place, rank] : comm.global) members.push_back(rank);
    return members;
  }
  // The ranks in the communicator are not known. Global ranks in ascending order are the usual order of a
  // group.
  if (static_cast<int64_t>(comm.users.size()) == comm.size || (comm.size < 0 && comm.users.size() > 1))
    return {comm.users.begin(), comm.users.end()};
  for (int rank = 0; comm.size == world && rank < world; ++rank) members.push_back(rank);
  return members;
}

}  // namespace

namespace {

// Makes one rank of the process. Its rows are unpacked when `fill` is called.
DeviceRank WholeProcess(size_t f, const std::shared_ptr<ExportFile>& file, std::shared_ptr<Process> process) {
  auto trace = std::make_unique<DeviceTrace>(std::move(process->trace));
  DeviceRank draft = DraftOf(f, *process, process->devices.begin()->first, std::move(trace), process->comm_of,
                             file->session);
  draft.fill = [file, process = std::move(process)](DeviceTrace* out) {
    process->trace = std::move(*out);
    FinishRows(process.get());
    *out = std::move(process->trace);
    out->repairs = process->notes.Take(file->session.file, out->rank);
  };
  return draft;
}

}  // namespace

std::vector<DeviceRank> DraftRanks(std::vector<std::unique_ptr<ExportFile>>* files) {
  std::vector<DeviceRank> drafts;
  for (size_t f = 0; f < files->size(); ++f) {
    const std::shared_ptr<ExportFile> file = std::move((*files)[f]);
    for (std::unique_ptr<Process>& process : std::exchange(file->processes, {})) {
      const auto talking = std::count_if(process->devices.begin(), process->devices.end(),
                                         [](const auto& d) { return d.second.second > 0; });
      if (talking < 2) {
        drafts.push_back(WholeProcess(f, file, std::move(process)));
        continue;
      }
      FinishRows(process.get());
      process->trace.repairs = process->notes.Take(file->session.file, 0);
      const Divider divider(*process);
      for (const int64_t device : divider.devices()) {
        std::vector<uint64_t> comm_of = process->comm_of;
        std::unique_ptr<DeviceTrace> part = divider.PartOf(device, &comm_of);
        drafts.push_back(DraftOf(f, *process, device, std::move(part), std::move(comm_of), file->session));
      }
    }
  }
  std::stable_sort(drafts.begin(), drafts.end(), [](const DeviceRank& a, const DeviceRank& b) {
    return std::tie(a.file, a.device, a.pid) < std::tie(b.file, b.device, b.pid);
  });
  return drafts;
}

RankSource NumberRanks(std::vector<DeviceRank>* drafts) {
  RankSource source = RankSource::kMpi;
  if (!NumberByMpi(drafts)) {
    source = RankSource::kNccl;
    if (!NumberByNccl(drafts)) {
      source = RankSource::kOrder;
      for (size_t i = 0; i < drafts->size(); ++i) (*drafts)[i].trace->rank = static_cast<int>(i);
    }
  }
  std::sort(drafts->begin(), drafts->end(),
            [](const DeviceRank& a, const DeviceRank& b) { return a.trace->rank < b.trace->rank; });
  for (DeviceRank& draft : *drafts) {
    for (Repair& repair : draft.trace->repairs) repair.rank = draft.trace->rank;
  }
  return source;
}

void ListGroups(std::vector<DeviceRank>* drafts) {
  std::map<uint64_t, Comm> comms;
  int world = 0;
  for (const DeviceRank& draft : *drafts) {
    world = std::max(world, draft.trace->rank + 1);
    for (const Membership& m : draft.members) {
      Comm& comm = comms[m.comm];
      comm.size = std::max(comm.size, m.ranks);
      comm.global.emplace(m.rank, draft.trace->rank);
      world = std::max(world, static_cast<int>(m.ranks));
    }
    for (const uint64_t comm : draft.comm_of) {
      if (comm != 0) comms[comm].users.insert(draft.trace->rank);
    }
  }
  Groups groups;
  for (const auto& [id, comm] : comms) {
    if (std::vector<int> members = MembersOf(comm, world); !members.empty())
      groups.emplace(GroupName(id), std::move(members));
  }
  for (DeviceRank& draft : *drafts) {
    DeviceTrace& trace = *draft.trace;
    trace.world_size = world;
    trace.groups = groups;
    for (size_t i = 0; i < trace.comms.size() && i < draft.comm_of.size(); ++i) {
      const auto comm = comms.find(draft.comm_of[i]);
      if (comm == comms.end()) continue;
      pytorch::CommCall& call = trace.comms[i];
      const auto members = groups.find(call.group);
      const int64_t size =
          members != groups.end() ? static_cast<int64_t>(members->second.size()) : comm->second.size;
      call.group_size = size > 0 ? size : kNone;
      if (call.op != CommOp::kAllToAll || call.in_bytes < 0) continue;
      call.in_bytes = size > 0 ? call.in_bytes * size : kNone;
      call.out_bytes = call.in_bytes;
    }
  }
}

}  // namespace chakra::nsys
