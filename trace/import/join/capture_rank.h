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

// Of the event of a node that carries a call.
struct CallPlace {
  uint32_t lane = 0;  // Event::lane
  int64_t called =
      0;  // when the call began that launched the event, if one did; else when the node began; ns
};

// One rank of a capture that was read and linked.
struct CaptureRank {
  int rank = 0;                        // global
  std::string host_file, device_file;  // "": not captured
  const std::string& file() const { return device_file.empty() ? host_file : device_file; }
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  // What adds the rows to `device`, so that those of a rank are in memory only while it is linked; null: they
  // are there.
  std::function<void(DeviceTrace*)> fill;
  std::vector<std::unique_ptr<DeviceTrace>> graph_captures;  // of its graphs, in traces of their own
  GraphJoin graphs;
  Pairing pairing;
  Timeline timeline;
  // Where the rank's columns are drafted already, there are no events, and nodes are no more than joining
  // needs: TimelineNode::event is then a row of `calls`, and `counts` is what the report says of all events.
  ColumnDraft columns;
  std::vector<CallPlace> calls;
  proto::RankConversion counts;

  // Of the event of `node`, which has one. Precondition: the rank is linked.
  CallPlace PlaceOf(const TimelineNode& node) const {
    if (columns.drafted) return calls[node.event];
    const uint32_t caller = node.host ? kNoRow : timeline.caller[node.event];
    return {device->events[node.event].lane, caller == kNoRow ? node.start : device->events[caller].ts};
  }
};

}  // namespace chakra::pytorch
