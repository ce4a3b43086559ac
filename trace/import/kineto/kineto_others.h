// Events whose category alone does not tell what they are: other profilers than Kineto's (torch_npu's,
// Habana's) write none, or their own. What their process is called, and how they are tied to others, tells.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_notes.h"

namespace chakra::pytorch::kineto {

// The kind of a device operation of a category that is not known: by the category's words, else by its name.
EventKind KindOnDevice(absl::string_view category, absl::string_view name);

class OtherEvents {
 public:
  // The arguments must outlive the object.
  OtherEvents(DeviceTrace* out, Notes* notes) : out_(out), notes_(notes) {}

  // A complete event; `row` has its times, name and correlation (kNone: not told).
  void Add(const EventTokens& event, const Event& row);
  // An end of an arrow of Category::kLaunch.
  void AddArrow(const EventTokens& event, int64_t id, int64_t ts);
  // "process_name", "process_labels", "thread_name".
  void AddMetadata(const EventTokens& event, absl::string_view text);

  // Decides and adds rows. `runs_host`: whether events of the host are known of a process (its "pid" as
  // written). `thread`: the thread of a call of the process and thread that are written so.
  //
  // - In a process called "Ascend Hardware", or labelled as a device ("NPU", "GPU 0"): an operation of that
  //   device. Tasks that only wait or record an event are no work, and left out.
  // - "Communication", "HCCL": collectives; the tasks of which they are made are left out, and tasks of the
  //   hardware's processes that have a collective's name.
  // - "CANN": a call of the host. "Overlap Analysis": derived from the others; left out.
  // - Category "hpu_op": a call where events of the host are known of the process, else an operation.
  // All others are left out and counted.
  using ThreadFinder = std::function<uint32_t(absl::string_view pid, absl::string_view tid)>;
  void Finish(const std::function<bool(absl::string_view pid)>& runs_host, const ThreadFinder& thread);
  // Calls `each` for the streams that Finish() added, with their process as written.
  void ForStreams(const std::function<void(uint32_t lane, absl::string_view pid)>& each) const;

 private:
  enum class Role : uint8_t { kUnknown, kHardware, kCommunication, kCalls, kDerived };
  struct Other {
    Event row;
    uint32_t category = 0, lane = 0;  // of texts_; of lanes_
    int64_t connection = kNone, physical = kNone, count = kNone;
    uint32_t type = 0;       // text: of the task, or the hardware's event
    uint32_t data_type = 0;  // text: of the elements of a collective
  };
  struct Lane {
    uint32_t pid = 0, tid = 0;  // texts, as written
    uint32_t stream = kNoRow;   // row of DeviceTrace::streams
  };
  struct Arrow {
    int64_t ts = 0;
    uint32_t lane = 0;
  };

  uint32_t LaneOf(absl::string_view pid, absl::string_view tid);
  Role RoleOf(const Other& other, const std::function<bool(absl::string_view)>& runs_host) const;
  int DeviceOf(absl::string_view pid);
  uint32_t StreamOf(const Other& other);
  void AddCall(const Other& other, const ThreadFinder& thread);
  void AddOperation(const Other& other, Role role, const ThreadFinder& thread);
  bool IsPart(const Other& other, Role role);
  bool IsCollective(const Other& other);  // by its name
  CommCall CallOf(const Other& other) const;
  void Link(const Other& other, const ThreadFinder& thread, Event* row);

  DeviceTrace* out_;
  Notes* notes_;
  StringTable texts_;
  std::vector<Other> others_;
  std::vector<Lane> lanes_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> lane_of_;
  std::map<std::string, std::string> process_names_, labels_, thread_names_;  // by pid; by "pid tid"
  std::map<std::string, int> devices_;                                        // by pid
  absl::flat_hash_map<uint32_t, bool> communicates_;                          // by name in the trace
  absl::flat_hash_map<int64_t, Arrow> begins_;                                // of arrows, by id
  absl::flat_hash_map<std::pair<uint32_t, int64_t>, int64_t> ends_;  // by lane and time: the arrow's id
  absl::flat_hash_map<int64_t, int64_t> call_of_;    // by connection: the correlation of its call
  absl::flat_hash_map<int64_t, int64_t> launch_of_;  // by arrow: the correlation of the call that was added
  int64_t next_ = int64_t{1} << 40;                  // a correlation that no event has
  bool collectives_ = false;                         // a process of communication tells them
};

}  // namespace chakra::pytorch::kineto
