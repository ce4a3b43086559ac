// The processes of an export, each with the rows of a DeviceTrace, as tables are read.
//
// Rows are kept packed until the whole export is read: a rank's are unpacked when it is linked (finish.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_notes.h"
#include "trace/import/nsys/nccl_payload.h"
#include "trace/import/nsys/packed_rows.h"
#include "trace/import/nsys/session.h"

namespace chakra::nsys {

// Times of the file: what is outside is not read. Operations of the device count where they were launched.
struct Window {
  int64_t begin = INT64_MIN, end = INT64_MAX;
  bool whole() const { return begin == INT64_MIN && end == INT64_MAX; }
};

// A rank's place in a communicator, as NCCL tells when one is made or destroyed.
struct Membership {
  uint64_t comm = 0;
  int64_t ranks = -1, rank = -1, device = -1;
};

// A wait for an event that was recorded on another stream, or by another call.
struct EventUse {
  uint32_t sync = 0;  // row of DeviceTrace::syncs
  int64_t correlation = 0, event = 0, event_sync = 0;
  uint32_t lane = kNoRow;  // the stream that waits; kNoRow: the host does
};
struct EventRecord {
  int64_t event = 0, correlation = 0, event_sync = 0;
  uint32_t lane = 0;
};

// A kernel that a graph launched: its row of DeviceTrace::device, its node of the graph, and what put it
// there: rows of DeviceTrace::graph_ops and ::comms.
struct GraphKernel {
  uint32_t extra = 0, op = kNoRow, comm = kNoRow;
  int64_t node = 0;
};

// A range that is a step: its row among the process's, and its name as such.
struct StepMark {
  uint32_t row = 0, name = 0;
};

class Process {
 public:
  Process(int64_t id, const Session& session, const Strings& strings);

  uint32_t Thread(int64_t global_tid);
  bool FindThread(int64_t global_tid, uint32_t* thread) const;  // false: it has no rows
  uint32_t Stream(int64_t device, int64_t context, int64_t stream);
  // The stream of a context whose device is not told.
  uint32_t StreamOf(int64_t context, int64_t stream, int64_t device_if_new);
  // The text of StringIds, interned; what the file lacks is "[KIND ID]", and is counted.
  uint32_t Name(int64_t id, absl::string_view kind);
  // An API call's, without the version behind it: "cudaLaunchKernel_v7000" as "cudaLaunchKernel".
  uint32_t CallName(int64_t id);
  // A kernel's, as PyTorch's profiler writes it: demangled by the compiler's rules where the mangled name is
  // there.
  uint32_t KernelName(int64_t mangled, int64_t demangled, int64_t brief);
  // Fills times. False: they are absurd; the row is left out, and counted.
  bool Times(int64_t start, int64_t end, pytorch::Event* out);
  // Adds a row, with its extra. Event::extra does not count.
  void Add(const pytorch::Event& event) { Rows().Add(event); }
  template <typename Extra>
  void Add(const pytorch::Event& event, const Extra& extra) {
    Rows().Add(event, extra);
  }
  // How many rows it has, and extras of operations of devices, and of waits.
  uint32_t rows() const { return static_cast<uint32_t>(Sum(&PackedRows::size)); }
  uint32_t devices_rows() const { return static_cast<uint32_t>(Sum(&PackedRows::devices)); }
  uint32_t sync_rows() const { return static_cast<uint32_t>(Sum(&PackedRows::syncs)); }
  // The row of trace.comms of a call, of a communicator (0: not told). Equal calls are one.
  uint32_t Call(pytorch::CommCall call, uint64_t comm);
  // Adds the rows of `part`, of the same process, behind its own, as if they had been read here.
  // Precondition: one of the two has no streams.
  void Absorb(Process* part);
  // Moves all rows to the trace, in the order in which they were added.
  void Unpack();

  const int64_t id;
  pytorch::DeviceTrace trace;  // without events and their extras until Unpack(); times are those of the file
  pytorch::kineto::Notes notes;
  std::vector<Membership> members;
  std::vector<uint64_t> comm_of;  // by row of trace.comms: the communicator's hash; 0: not told
  std::vector<EventUse> uses;
  std::vector<EventRecord> records;
  std::vector<GraphKernel> graph_kernels;
  std::vector<StepMark> step_marks;
  bool steps_by_pattern = false;          // steps are to be found as the pattern of kernels that repeats
  absl::flat_hash_set<int64_t> launched;  // correlations of calls in the window, if there is one
  std::map<int64_t, std::pair<int64_t, uint64_t>> devices;  // by ordinal: operations; and those of NCCL
  uint64_t graph_launches = 0, graph_joined = 0, payloads = 0, unknown_payloads = 0, nccl_ranges = 0,
           operators = 0, shaped = 0;
  uint64_t open_ranges = 0, free_ranges = 0;

 private:
  const Session& session_;
  const Strings& strings_;
  // Names of a trace by numbers of the file, which are small and dense, but for files that are damaged.
  class NamesByNumber {
   public:
    // The name of a number, and whether the number is new: then the caller sets the name.
    std::pair<uint32_t*, bool> At(int64_t number);

   private:
    std::vector<uint32_t> dense_;  // kNoRow: new
    absl::flat_hash_map<int64_t, uint32_t> others_;
  };
  absl::flat_hash_map<int64_t, uint32_t> threads_;
  NamesByNumber names_, calls_, kernels_[3];                 // kernels_: by which of their names is told
  absl::flat_hash_map<int64_t, int64_t> device_of_;          // by context
  std::map<std::pair<int64_t, int64_t>, uint32_t> streams_;  // by context and stream
  std::pair<int64_t, int64_t> last_place_ = {INT64_MIN, INT64_MIN};  // context and stream
  uint32_t last_stream_ = 0;
  int64_t last_tid_ = -1;
  uint32_t last_thread_ = 0;
  // Rows that were read one after the other.
  struct Part {
    PackedRows rows;
    RowNames names;
    bool whole = false;  // others follow
  };
  PackedRows& Rows() {
    if (parts_.empty() || parts_.back().whole) parts_.emplace_back();
    return parts_.back().rows;
  }
  size_t Sum(size_t (PackedRows::*of)() const) const {
    size_t sum = 0;
    for (const Part& part : parts_) sum += (part.rows.*of)();
    return sum;
  }
  std::vector<Part> parts_;
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> calls_by_hash_;  // rows of trace.comms
};

class Processes {
 public:
  // `finds_all`: Find() makes what is not there, as Of() does.
  Processes(const Session& session, const Strings& strings, bool finds_all = false)
      : session_(session), strings_(strings), finds_all_(finds_all) {}
  Process& Of(int64_t id);    // makes one that is new
  Process* Find(int64_t id);  // null: there is none
  std::map<int64_t, std::unique_ptr<Process>>& all() { return all_; }
  std::map<int64_t, std::unique_ptr<Process>>::iterator Erase(
      std::map<int64_t, std::unique_ptr<Process>>::iterator it) {
    recent_ = {};
    return all_.erase(it);
  }

 private:
  const Session& session_;
  const Strings& strings_;
  const bool finds_all_;
  std::map<int64_t, std::unique_ptr<Process>> all_;
  // Processes that were asked for before, by some bits of their ids: rows of a host's processes alternate.
  std::array<Process*, 64> recent_ = {};
  Process*& Recent(int64_t id) { return recent_[(static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15) >> 58]; }
};

}  // namespace chakra::nsys
