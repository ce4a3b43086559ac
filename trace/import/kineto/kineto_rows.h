// Turns events, as tokens, into rows of a DeviceTrace, in the order of the file.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_notes.h"
#include "trace/import/kineto/kineto_others.h"

namespace chakra::pytorch::kineto {

// One end of a "fwdbwd" arrow.
struct FlowEnd {
  int64_t id = 0;
  int64_t ts = 0;  // counts like Event::ts of the rows
  uint32_t thread = 0;
  bool begins = false;
};

// The processes of a file as it writes them, and the process of each lane.
struct LaneProcesses {
  struct Process {
    std::string written;  // "pid" as written: "1001", "[TP00] 10"
    std::string label;    // the rank's label in the process's text, name or labels: "[TP00]"; "": none
    std::string number;   // the number at the end of a text with a label: "10"; else ""
  };
  std::vector<Process> processes;
  std::vector<uint32_t> threads, streams;  // row of `processes`, by lane
  // Number of the first lanes that come from events of Kineto's own categories.
  size_t own_threads = 0, own_streams = 0;
};

class RowBuilder : public EventSink {
 public:
  // The arguments must outlive the builder. Event::ts is the time as written, in nanoseconds.
  RowBuilder(absl::string_view file, DeviceTrace* out, Notes* notes)
      : file_(file), out_(out), notes_(notes), others_(out, notes) {}
  // Errors name the file, the event (index, name), the byte and the field.
  absl::Status Add(const EventTokens& event) override;
  // Names the threads and adds the counts to the notes.
  void Finish();
  std::vector<FlowEnd>& flows() { return flows_; }
  // The processes of the lanes. Valid after Finish().
  const LaneProcesses& processes() const { return processes_; }
  // Joins the lanes of one stream that several processes show. Only for files that hold one rank.
  void JoinStreams();

 private:
  using Pair = std::pair<int64_t, int64_t>;

  absl::Status Error(const EventTokens& event, absl::string_view field, absl::string_view token,
                     absl::string_view expected) const;
  absl::Status Time(const EventTokens& event, int64_t* ts) const;
  // Reads the time in `field`. A time that is written as text is read and counted. False: not a number.
  bool Nanos(const EventTokens& event, absl::string_view field, absl::string_view token, int64_t* ns) const;
  // kNone if absent; an error if it is not an integer.
  absl::Status Identifier(const EventTokens& event, Arg arg, absl::string_view field, int64_t* out) const;
  // kNone if absent or not an integer; the latter is counted.
  int64_t Integer(const EventTokens& event, Arg arg);
  int64_t Duration(const EventTokens& event);
  uint32_t Text(absl::string_view token);  // JSON text, interned

  absl::Status AddWork(const EventTokens& event, EventKind kind);
  absl::Status AddOther(const EventTokens& event);
  absl::Status AddFlow(const EventTokens& event);
  void AddLaunch(const EventTokens& event);
  void AddMetadata(const EventTokens& event);
  void FinishOthers();
  void AddMemory(const EventTokens& event);
  uint32_t Comm(const EventTokens& event);
  uint32_t Operator(const EventTokens& event);
  uint32_t Compiled(const EventTokens& event);
  // The text of an argument, interned; 0: absent.
  uint32_t Words(const EventTokens& event, Arg arg);
  // A number that is not negative, times `scale`. kNone if absent, or if not such a number, which is counted.
  int64_t Amount(const EventTokens& event, Arg arg, double scale);
  uint32_t Runtime(const EventTokens& event);
  uint32_t Device(const EventTokens& event);
  uint32_t Sync(const EventTokens& event);
  void Extent(const EventTokens& event, Arg arg, uint32_t out[3]);

  uint32_t ThreadOf(const EventTokens& event);
  uint32_t AddThread(int64_t pid, std::string tid, uint32_t process);
  absl::Status StreamOf(const EventTokens& event, uint32_t* lane);
  // The row of the process whose "pid" is written like this.
  uint32_t ProcessOf(absl::string_view pid);

  absl::string_view file_;
  DeviceTrace* out_;
  Notes* notes_;
  std::vector<FlowEnd> flows_;
  std::vector<std::pair<std::string, std::string>> thread_names_;  // "pid tid" as written, and the name
  // The first few unknown categories of operations with a stream.
  std::set<std::string> placed_;
  OtherEvents others_;
  absl::flat_hash_map<Pair, uint32_t> threads_;
  absl::flat_hash_map<std::string, uint32_t> text_threads_;  // threads whose pid or tid is not a number
  // Rows of DeviceTrace::streams by process (its number, or -2 minus its row if it has none), device and
  // stream.
  absl::flat_hash_map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> streams_;
  LaneProcesses processes_;
  absl::flat_hash_map<std::string, uint32_t> process_rows_;
  std::string last_pid_;  // the token last looked up; its process is last_process_
  uint32_t last_process_ = 0;
  StringTable flow_names_;
  std::string scratch_, layout_;
  uint64_t bad_escapes_ = 0;
};

}  // namespace chakra::pytorch::kineto
