// Splits a batch of Kineto events into tokens: the values of each event, still as text.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_scan.h"

namespace chakra::pytorch::kineto {

// The meaning of "cat", an event's category.
struct Category {
  enum Use : uint8_t {
    kAbsent,   // no "cat"
    kUnknown,  // a category that the reader does not know
    kNoWork,   // a known category without work: python_function, gpu_user_annotation, ...
    kFwdBwd,
    kLaunch,   // arrows from the host to a device operation, where the operation has no correlation
    kInstant,  // an event at one time on the host, such as the memory that an allocator holds
    kEvent,    // a kind of event that the reader keeps: `kind`
  } use = kAbsent;
  EventKind kind = EventKind::kCpuOp;
};

// `token`: the value of "cat", with its quotes. An unknown word with a known ending ("mlu_runtime") has the
// category of that ending.
Category ParseCategory(absl::string_view token);

// The arguments that the reader uses. An argument may have several spellings.
enum class Arg : uint8_t {
  kExternalId,
  kCorrelation,
  kRecordFunction,
  kSequence,
  kFwdThread,
  kDims,
  kTypes,
  kStream,
  kStreamId,
  kDevice,
  kBytes,
  kSize,
  kMemSize,
  kGrid,
  kBlock,
  kSyncKind,
  kWaitStream,
  kWaitCorrelation,
  kName,
  // Arguments of a communication call.
  kCollective,
  kInElems,
  kOutElems,
  kGroupSize,
  kDtype,
  kInSplit,
  kOutSplit,
  kGroupName,
  kGroupId,
  kGroupDesc,
  kGroupRanks,
  kRankStart,
  kRankStride,
  kRank,
  kSrcRank,
  kDstRank,
  kCommSeq,
  kGraphNode,
  // Arguments of a kernel that Inductor generated.
  kKernelBackend,
  kKernelFile,
  kKernelHash,
  kKernelOptions,
  kWarps,
  kStages,
  kKernelOperations,
  kKernelGigabytes,
  // Arguments that say how much memory an allocator holds.
  kAllocated,
  kReserved,
  kDeviceType,
  kDeviceId,
  // Arguments of other profilers (torch_npu's, Habana's).
  kPhysicalStream,
  kTaskType,
  kConnection,
  kHardwareEvent,
  kCount,
  kDataType,
  kLabels,
};
inline constexpr int kArgs = static_cast<int>(Arg::kLabels) + 1;
static_assert(kArgs <= 64);  // bits of EventTokens::seen

// Finds the argument of this name. False: the reader does not use it.
bool FindArg(absl::string_view name, Arg* out);

// Tokens of one event: values as written, strings with their quotes. Empty: absent or null.
struct EventTokens {
  char phase = 0;  // 'X', 'M', 's', ...; 0: absent, or not one letter
  Category category;
  absl::string_view cat, name, pid, tid, ts, dur, id;
  bool has(Arg a) const { return seen >> static_cast<int>(a) & 1; }
  absl::string_view arg(Arg a) const { return has(a) ? args[static_cast<int>(a)] : absl::string_view(); }
  void Clear();

  uint64_t index = 0;  // index of the event in the file
  uint64_t byte = 0;   // byte of the file at which the event begins
  uint64_t seen = 0;   // bit a: args[a] is set
  absl::string_view args[kArgs];
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual absl::Status Add(const EventTokens& event) = 0;
};

class EventReader {
 public:
  // `file` must outlive the reader.
  explicit EventReader(absl::string_view file);
  ~EventReader();
  // Passes the events of `batch` to `sink`, in order; stops at the sink's first error. Bytes that are not
  // allowed in a JSON string are replaced in place and counted. Errors name the file, the event and the byte.
  absl::Status Read(const EventBatch& batch, EventSink* sink);

  uint64_t bad_utf8() const { return bad_utf8_; }          // bytes that are not UTF-8, now '?'
  uint64_t bad_controls() const { return bad_controls_; }  // control characters within strings, now ' '

 private:
  struct Impl;
  absl::Status Walk(const EventBatch& batch, EventSink* sink);
  absl::Status Malformed(const EventBatch& batch, size_t event, absl::string_view why);
  // The error for a batch that simdjson cannot index; names the first event that is at fault.
  absl::Status Blame(const EventBatch& batch, absl::string_view why);
  void Mend(const EventBatch& batch);

  absl::string_view file_;
  std::unique_ptr<Impl> impl_;
  uint64_t bad_utf8_ = 0, bad_controls_ = 0;
};

}  // namespace chakra::pytorch::kineto
