// One rank of a capture.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/conversion.pb.h"
#include "trace/import/capture/capture.h"
#include "trace/import/host/pair.h"
#include "trace/import/kineto/graph_capture.h"
#include "trace/import/timeline/column_draft.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// Facts about the event of a node that carries a call.
struct CallPlace {
  uint32_t lane = 0;  // Event::lane
  // When the call that launched the event began, or, if nothing launched it, when the node began; ns.
  int64_t called = 0;
};

// One rank of a capture, read and linked.
struct CaptureRank {
  int rank = 0;                        // global
  std::string host_file, device_file;  // "": not captured
  const std::string& file() const { return device_file.empty() ? host_file : device_file; }
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  // Adds the rows to `device`, so that the rows of a rank are in memory only while it is linked. Null: the
  // rows have been added.
  std::function<void(DeviceTrace*)> fill;
  // Traces that only show the capture of this rank's graphs.
  std::vector<std::unique_ptr<DeviceTrace>> graph_captures;
  GraphJoin graphs;
  Pairing pairing;
  Timeline timeline;
  // If the rank's columns have been drafted, its events are gone, and only the nodes that joining needs are
  // left. TimelineNode::event is then a row of `calls`, and `counts` has the report's counts of all events.
  ColumnDraft columns;
  std::vector<CallPlace> calls;
  proto::RankConversion counts;

  // Facts about the event of `node`. Preconditions: the node has an event, and the rank is linked.
  CallPlace PlaceOf(const TimelineNode& node) const {
    if (columns.drafted) return calls[node.event];
    const uint32_t caller = node.host ? kNoRow : timeline.caller[node.event];
    return {device->events[node.event].lane, caller == kNoRow ? node.start : device->events[caller].ts};
  }
};

}  // namespace chakra::pytorch
