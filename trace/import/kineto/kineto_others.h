// Reads events that their category alone does not classify: profilers other than Kineto (torch_npu's,
// Habana's) write no category, or their own. The names of processes and the links between events classify
// them.
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

// The kind of a device operation of an unknown category: by words of the category, else by the operation's
// name.
EventKind KindOnDevice(absl::string_view category, absl::string_view name);

class OtherEvents {
 public:
  // The arguments must outlive the object.
  OtherEvents(DeviceTrace* out, Notes* notes) : out_(out), notes_(notes) {}

  // Adds a complete event. `row` has its times, name and correlation (kNone: not recorded).
  void Add(const EventTokens& event, const Event& row);
  // Adds one end of an arrow of Category::kLaunch.
  void AddArrow(const EventTokens& event, int64_t id, int64_t ts);
  // Adds "process_name", "process_labels" or "thread_name".
  void AddMetadata(const EventTokens& event, absl::string_view text);

  // Classifies the events and adds their rows. `runs_host`: whether a process (its "pid" as written) has
  // known events of the host. `thread`: returns the row of DeviceTrace::threads for a process and a thread as
  // written.
  //
  // - An event in a process called "Ascend Hardware", or labelled as a device ("NPU", "GPU 0"), is an
  //   operation of that device. Tasks that only wait or record an event are left out.
  // - An event in a process "Communication" or "HCCL" is a collective. The tasks that the collective consists
  //   of are left out, and so are tasks in the hardware's processes that have the name of a collective.
  // - An event in a process "CANN" is a call of the host.
  // - An event in a process "Overlap Analysis" is derived from others, and left out.
  // - An event of category "hpu_op" is a call if its process has known events of the host, else an operation.
  //
  // All other events are left out and counted.
  using ThreadFinder = std::function<uint32_t(absl::string_view pid, absl::string_view tid)>;
  void Finish(const std::function<bool(absl::string_view pid)>& runs_host, const ThreadFinder& thread);
  // Calls `each` for the streams that Finish() added, with the process of each stream as written.
  void ForStreams(const std::function<void(uint32_t lane, absl::string_view pid)>& each) const;

 private:
  enum class Role : uint8_t { kUnknown, kHardware, kCommunication, kCalls, kDerived };
  struct Other {
    Event row;
    uint32_t category = 0, lane = 0;  // index into texts_; row of lanes_
    int64_t connection = kNone, physical = kNone, count = kNone;
    uint32_t type = 0;       // text: the type of the task, or the name of the hardware event
    uint32_t data_type = 0;  // text: the type of a collective's elements
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
  bool IsCollective(const Other& other);  // judged by its name
  CommCall CallOf(const Other& other) const;
  void Link(const Other& other, const ThreadFinder& thread, Event* row);

  DeviceTrace* out_;
  Notes* notes_;
  StringTable texts_;
  std::vector<Other> others_;
  std::vector<Lane> lanes_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> lane_of_;
  // By pid; thread_names_ by "pid tid".
  std::map<std::string, std::string> process_names_, labels_, thread_names_;
  std::map<std::string, int> devices_;                // by pid
  absl::flat_hash_map<uint32_t, bool> communicates_;  // by name in the trace
  absl::flat_hash_map<int64_t, Arrow> begins_;        // begins of arrows, by id
  // Ids of arrows, by lane and time of their end.
  absl::flat_hash_map<std::pair<uint32_t, int64_t>, int64_t> ends_;
  absl::flat_hash_map<int64_t, int64_t> call_of_;  // correlation of the call, by connection
  // Correlation of the call that was added for an arrow, by the arrow's id.
  absl::flat_hash_map<int64_t, int64_t> launch_of_;
  int64_t next_ = int64_t{1} << 40;  // the next correlation that no event has
  // The file shows collectives in a process of communication.
  bool collectives_ = false;
};

}  // namespace chakra::pytorch::kineto
