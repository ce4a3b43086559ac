// The streams of calls whose groups must be inferred.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/import/join/capture_rank.h"
#include "trace/import/join/infer_groups.h"

namespace chakra::pytorch {

// How calls that host threads carry out are combined into streams. A ProcessGroupGloo has two worker threads,
// and each call is carried out by a free one, so a single thread is not a stream.
enum class HostStreams : uint8_t {
  kPairs,    // pairs of threads by number: the two threads of a group are created one after the other
  kAll,      // all threads belong to one group
  kSizes,    // calls of one kind and size belong to one group
  kThreads,  // each thread belongs to one group
};

struct CallStreams {
  std::vector<CallStream> streams;
  std::vector<uint32_t> captured;            // by stream: index of its captured rank
  std::vector<std::vector<uint32_t>> comms;  // by stream: rows of Timeline::comms, in the order of calls
  // By stream: lane of the device stream; kNoRow: on the host, or the group has a name or a pointer.
  std::vector<uint32_t> lane;
  bool on_host = false;  // host threads carry out some of the calls
};

bool IsPointToPoint(CommOp op);

// The number of members of a call's group, from its sizes and arguments; 0: unknown. `from` gets the source.
int64_t MembersBySize(const CommCall& call, std::string* from);

// The step numbers that the marks ProfilerStep#N of a rank give to times and calls.
class StepMarks {
 public:
  explicit StepMarks(const CaptureRank& rank);
  // The step in which `node` was called; for a device operation, the step of its launch. StreamCall::kNoStep:
  // in no numbered step.
  int64_t Of(const TimelineNode& node) const;
  struct Mark {
    int64_t begin, end, number;  // ns since the trace's base
  };
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  const CaptureRank& rank_;
  std::vector<Mark> marks_;  // sorted by begin
};

// Device streams that carry calls of several groups, by captured rank and lane: libraries that are called on
// the compute stream have such streams. Calls of one kind and size on them are taken for one group.
using MixedStreams = std::set<std::pair<uint32_t, uint32_t>>;

// The collectives of all ranks for which wanted(rank, row of Timeline::comms) is true, by stream. A stream is
// a pointer to a group, the name of a group, a device stream, or threads of the host.
CallStreams CollectStreams(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                           HostStreams how, const MixedStreams& mixed,
                           const std::function<bool(uint32_t rank, uint32_t comm)>& wanted);

// The call of `node`, in the form in which calls of several ranks are compared.
StreamCall Comparable(const CaptureRank& rank, const StepMarks& steps, const TimelineNode& node);

// Whether the name of a group is the address of an object, as old captures write it.
bool IsPointer(const std::string& group);

}  // namespace chakra::pytorch
