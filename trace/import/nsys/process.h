// The processes of an export, each with the rows of a DeviceTrace.
//
// Rows are kept packed until the whole export is read. The rows of a rank are unpacked when the rank is
// linked (finish.h).
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

// A range of file times; rows outside it are not read. A device operation is in the window if its launch is.
struct Window {
  int64_t begin = INT64_MIN, end = INT64_MAX;
  bool whole() const { return begin == INT64_MIN && end == INT64_MAX; }
};

// A rank's place in a communicator, as NCCL reports it when the communicator is made or destroyed.
struct Membership {
  uint64_t comm = 0;
  int64_t ranks = -1, rank = -1, device = -1;
};

// A wait for an event that was recorded on another stream, or by another call.
struct EventUse {
  uint32_t sync = 0;  // row of DeviceTrace::syncs
  int64_t correlation = 0, event = 0, event_sync = 0;
  uint32_t lane = kNoRow;  // the stream that waits
};
struct EventRecord {
  int64_t event = 0, correlation = 0, event_sync = 0;
  uint32_t lane = 0;
};

// A kernel that a graph launched. `extra`: its row in DeviceTrace::device; `op`, `comm`: rows in
// DeviceTrace::graph_ops and ::comms of the operator and the call that put it into the graph; `node`: its
// node of the graph.
struct GraphKernel {
  uint32_t extra = 0, op = kNoRow, comm = kNoRow;
  int64_t node = 0;
};

// A range that is a step: its row in the process, and the step's name.
struct StepMark {
  uint32_t row = 0, name = 0;
};

class Process {
 public:
  Process(int64_t id, const Session& session, const Strings& strings);

  uint32_t Thread(int64_t global_tid);
  bool FindThread(int64_t global_tid, uint32_t* thread) const;  // Returns false if the thread has no rows.
  uint32_t Stream(int64_t device, int64_t context, int64_t stream);
  // Returns the stream of a context. `device_if_new`: the device of a context that is not known yet.
  uint32_t StreamOf(int64_t context, int64_t stream, int64_t device_if_new);
  // Interns the text that StringIds has for `id`. If the file lacks the text, the name is "[KIND ID]", and a
  // note counts it.
  uint32_t Name(int64_t id, absl::string_view kind);
  // The name of an API call, without its version suffix: "cudaLaunchKernel_v7000" becomes "cudaLaunchKernel".
  uint32_t CallName(int64_t id);
  // The name of a kernel as PyTorch's profiler writes it: the mangled name, where the file has one, is
  // demangled by the compiler's rules.
  uint32_t KernelName(int64_t mangled, int64_t demangled, int64_t brief);
  // Sets the times of `out`. Returns false if they are absurd: the caller leaves the row out, and a note
  // counts it.
  bool Times(int64_t start, int64_t end, pytorch::Event* out);
  // Adds a row, with its extra. Event::extra is ignored.
  void Add(const pytorch::Event& event) { Rows().Add(event); }
  template <typename Extra>
  void Add(const pytorch::Event& event, const Extra& extra) {
    Rows().Add(event, extra);
  }
  // Number of rows, of extras of device operations, and of extras of waits.
  uint32_t rows() const { return static_cast<uint32_t>(Sum(&PackedRows::size)); }
  uint32_t devices_rows() const { return static_cast<uint32_t>(Sum(&PackedRows::devices)); }
  uint32_t sync_rows() const { return static_cast<uint32_t>(Sum(&PackedRows::syncs)); }
  // Returns the row of trace.comms of a call. `comm`: the communicator's hash; 0: not known. Equal calls
  // share a row.
  uint32_t Call(pytorch::CommCall call, uint64_t comm);
  // Adds the rows of `part`, another part of the same process, behind the rows of this process, as if they
  // had been read here. Precondition: one of the two has no streams.
  void Absorb(Process* part);
  // Moves all rows to the trace, in the order in which they were added.
  void Unpack();

  const int64_t id;
  pytorch::DeviceTrace trace;  // without events and their extras until Unpack(); times are those of the file
  pytorch::kineto::Notes notes;
  std::vector<Membership> members;
  std::vector<uint64_t> comm_of;  // by row of trace.comms: the communicator's hash; 0: not known
  std::vector<EventUse> uses;
  std::vector<EventRecord> records;
  std::vector<GraphKernel> graph_kernels;
  std::vector<StepMark> step_marks;
  bool steps_by_pattern = false;          // steps are found as the pattern of kernels that repeats
  absl::flat_hash_set<int64_t> launched;  // correlations of calls in the window, if there is one
  // By ordinal of the device: number of operations, and of NCCL kernels.
  std::map<int64_t, std::pair<int64_t, uint64_t>> devices;
  uint64_t graph_launches = 0, graph_joined = 0, payloads = 0, unknown_payloads = 0, nccl_ranges = 0,
           operators = 0, shaped = 0;
  uint64_t open_ranges = 0, free_ranges = 0;

 private:
  const Session& session_;
  const Strings& strings_;
  // Names of a trace, by their numbers in the file. The numbers are small and dense, except in damaged files.
  class NamesByNumber {
   public:
    // Returns the name of a number, and whether the number is new: then the caller sets the name.
    std::pair<uint32_t*, bool> At(int64_t number);

   private:
    std::vector<uint32_t> dense_;  // kNoRow: new
    absl::flat_hash_map<int64_t, uint32_t> others_;
  };
  absl::flat_hash_map<int64_t, uint32_t> threads_;
  NamesByNumber names_, calls_, kernels_[3];                 // kernels_: by mangled, demangled, short name
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
    bool whole = false;  // later rows go to another part
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
  // `finds_all`: Find() makes processes that do not exist, like Of().
  Processes(const Session& session, const Strings& strings, bool finds_all = false)
      : session_(session), strings_(strings), finds_all_(finds_all) {}
  Process& Of(int64_t id);    // makes the process if it is new
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
  // Processes that were found before, by some bits of their ids. This is a cache, because rows of a host's
  // processes alternate.
  std::array<Process*, 64> recent_ = {};
  Process*& Recent(int64_t id) { return recent_[(static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15) >> 58]; }
};

}  // namespace chakra::nsys
