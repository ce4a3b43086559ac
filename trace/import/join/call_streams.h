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

// How calls that threads of the host carry out are taken for streams. A ProcessGroupGloo has two worker
// threads and takes each call with the one that is free, so that no thread alone is a stream.
enum class HostStreams : uint8_t {
  kPairs,    // threads two by two, by number: made one after the other, with their group
  kAll,      // all threads are of one group
  kSizes,    // calls of one kind and size are of one group
  kThreads,  // each thread is of one group
};

struct CallStreams {
  std::vector<CallStream> streams;
  std::vector<uint32_t> captured;            // by stream: its rank's place among the captured
  std::vector<std::vector<uint32_t>> comms;  // by stream: rows of Timeline::comms, in the order of calls
  std::vector<uint32_t> lane;                // by stream: that of the device; kNoRow: host, or named
  bool on_host = false;                      // threads carry some of the calls
};

bool IsPointToPoint(CommOp op);

// The members of a call's group as its sizes and arguments tell; 0: they do not. `from`: what told it.
int64_t MembersBySize(const CommCall& call, std::string* from);

// The numbers of the steps that the marks ProfilerStep#N of a rank give to times and calls.
class StepMarks {
 public:
  explicit StepMarks(const CaptureRank& rank);
  // `node` by when it was called: a device operation by its launch. StreamCall::kNoStep: in no numbered step.
  int64_t Of(const TimelineNode& node) const;
  struct Mark {
    int64_t begin, end, number;  // ns since the trace's base
  };
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  const CaptureRank& rank_;
  std::vector<Mark> marks_;  // by begin
};

// Streams of the device that carry calls of several groups, as libraries do that are called on the stream of
// the computation: by captured rank and lane. Their calls of one kind and size are taken for one group.
using MixedStreams = std::set<std::pair<uint32_t, uint32_t>>;

// The collectives of all ranks for which wanted(rank, row of Timeline::comms) holds, by stream: the pointer
// to a group, its name, the stream of the device, or threads of the host.
CallStreams CollectStreams(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                           HostStreams how, const MixedStreams& mixed,
                           const std::function<bool(uint32_t rank, uint32_t comm)>& wanted);

// A call as ranks are compared by.
StreamCall Comparable(const CaptureRank& rank, const StepMarks& steps, const TimelineNode& node);

// Whether a group's name is the address of an object, as old captures write it.
bool IsPointer(const std::string& group);

}  // namespace chakra::pytorch
