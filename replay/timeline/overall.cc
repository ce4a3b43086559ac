#include "replay/timeline/overall.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "replay/energy/amounts.h"
#include "replay/energy/curve.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/spans.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Writes a value at the begin of each bucket, unless it equals the previous value.
absl::Status WriteSamples(const std::vector<double>& values, Time bucket, TimelineWriter* writer,
                          uint64_t* samples) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i] == values[i - 1]) continue;
    ++*samples;
    RETURN_IF_ERROR(writer->Sample(bucket * static_cast<int64_t>(i), values[i]));
  }
  return absl::OkStatus();
}

// Writes the counts of packets on a link in each bucket. Times are shown as a share of the bucket.
absl::Status WriteCounts(const LinkUse& use, const std::string& name, Time bucket, int* place,
                         TimelineWriter* writer, uint64_t* samples) {
  for (size_t k = 0; k < LinkUse::kCounts; ++k) {
    if (use.counts[k].empty()) continue;
    absl::string_view counted = kLinkCounts[k].name;
    const bool is_time = absl::ConsumeSuffix(&counted, "_ps");
    const double scale = is_time ? 100.0 / static_cast<double>(bucket.picos()) : 1;
    std::vector<double> values;
    for (const uint64_t count : use.counts[k]) values.push_back(scale * static_cast<double>(count));
    values.push_back(0);
    writer->Counter(++*place, absl::StrCat(name, ": ", counted), is_time ? "%" : "in a bucket");
    RETURN_IF_ERROR(WriteSamples(values, bucket, writer, samples));
  }
  return absl::OkStatus();
}

uint64_t Count(Time t) { return static_cast<uint64_t>(t.picos()); }

std::string PathName(const PathSegment& s, const CriticalPath& path, const TraceSet& traces) {
  const std::string node =
      s.row == kNoRow ? "" : std::string(TimelineName(*traces.ranks[s.rank].graph, s.row));
  switch (s.kind) {
    case PathKind::kNode:
      return node;
    case PathKind::kDelay:
      return absl::StrCat("before ", node);
    case PathKind::kStart:
      return absl::StrCat("before rank ", s.rank, " begins");
    case PathKind::kCollective: {
      const std::string& group = path.groups[s.group];
      return absl::StrCat(Name(s.type), group.empty() ? " of all ranks" : absl::StrCat(" of group ", group));
    }
    case PathKind::kMessage:
      return absl::StrCat("message of rank ", s.from_rank);
    case PathKind::kDrain:
      break;
  }
  return "after the last node";
}

const char* PathCategory(const PathSegment& s, const TraceSet& traces) {
  switch (s.kind) {
    case PathKind::kNode:
      return s.row == kNoRow ? "other" : TimelineCategory(*traces.ranks[s.rank].graph, s.row);
    case PathKind::kDelay:
    case PathKind::kStart:
      return "delay";
    default:
      return "comm";
  }
}

void AddParts(const PathSegment& s, TimelineSlice* slice) {
  Time latency, transfer;
  for (const auto& [kind, links] : s.parts.links) {
    latency += links.latency;
    transfer += links.transfer;
  }
  slice->values.push_back({"from_rank", s.from_rank});
  slice->values.push_back({"software_ps", Count(s.parts.software)});
  slice->values.push_back({"reduce_ps", Count(s.parts.reduce)});
  slice->values.push_back({"latency_ps", Count(latency)});
  slice->values.push_back({"transfer_ps", Count(transfer)});
  slice->values.push_back({"waiting_ps", Count(s.waiting())});
}

}  // namespace

const char* TimelineCategory(const Graph& graph, uint32_t row) {
  constexpr const char* kNames[] = {"compute", "host", "comm", "memory", "other"};  // by BusyClock::Class
  return kNames[ClassOf(graph, row)];
}

absl::string_view TimelineName(const Graph& graph, uint32_t row) {
  const absl::string_view name = graph.name_of(row);
  return name.empty() ? Name(graph.type[row]) : name;
}

void AddSpan(const NodeSpan& span, TimelineSlice* slice) {
  slice->span = span;
  slice->values.push_back({"begin_ps", Count(span.begin)});
  slice->values.push_back({"duration_ps", Count(span.end - span.begin)});
}

absl::Status WriteLinkCounters(const LinkUses& links, int pid, TimelineWriter* writer, uint64_t* samples) {
  if (links.bucket == Time::Zero()) return absl::OkStatus();
  writer->Process(pid, pid, "links");
  int place = 0;
  for (const LinkUse& use : links.busiest) {
    const std::string name = absl::StrCat("link ", use.link, ", ", use.name);
    std::vector<double> values;
    for (const float share : use.series) values.push_back(100.0 * share);
    values.push_back(0);
    writer->Counter(++place, absl::StrCat(name, ": taken"), "%");
    RETURN_IF_ERROR(WriteSamples(values, links.bucket, writer, samples));
    if (use.queued.empty()) continue;
    values.assign(1, 0);  // queued bytes are those at the ends of buckets
    for (const uint64_t bytes : use.queued) values.push_back(static_cast<double>(bytes));
    writer->Counter(++place, absl::StrCat(name, ": queued"), "bytes");
    RETURN_IF_ERROR(WriteSamples(values, links.bucket, writer, samples));
    RETURN_IF_ERROR(WriteCounts(use, name, links.bucket, &place, writer, samples));
  }
  return absl::OkStatus();
}

absl::Status WritePowerCounters(const energy::PowerMeter& meter, const std::vector<int>& ranks, int pid,
                                TimelineWriter* writer, uint64_t* samples) {
  writer->Process(pid, pid, "power");
  int place = 0;
  const auto write = [&](const std::string& name, const energy::PowerCurve& curve) {
    writer->Counter(++place, name, "W");
    for (const energy::PowerStep& step : curve.steps()) {
      ++*samples;
      RETURN_IF_ERROR(writer->Sample(step.at, energy::ToWatts(step.power)));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(write("all devices", meter.whole()));
  for (const auto& [kind, curves] :
       {std::pair{"devices of rack ", &meter.racks()}, {"devices of node ", &meter.nodes()}}) {
    for (size_t i = 0; i < curves->size(); ++i) {
      RETURN_IF_ERROR(write(absl::StrCat(kind, i), (*curves)[i]));
    }
  }
  for (const int rank : ranks) {
    RETURN_IF_ERROR(write(absl::StrCat("device of rank ", rank), meter.device(static_cast<size_t>(rank))));
  }
  return absl::OkStatus();
}

absl::Status WriteCriticalPath(const CriticalPath& path, const TraceSet& traces, int pid,
                               TimelineWriter* writer) {
  writer->Process(pid, -1, "critical path");
  writer->Track(1, "critical path");
  TimelineSlice slice;
  for (const PathSegment& s : path.segments) {
    const std::string name = PathName(s, path, traces);
    slice.name = name;
    slice.category = PathCategory(s, traces);
    slice.values.clear();
    AddSpan({s.begin, s.end}, &slice);
    if (s.row != kNoRow) {
      slice.values.push_back({"rank", s.rank});
      slice.values.push_back({"node", traces.ranks[s.rank].graph->id[s.row]});
    }
    if (s.kind == PathKind::kCollective || s.kind == PathKind::kMessage) AddParts(s, &slice);
    RETURN_IF_ERROR(writer->Slice(slice));
  }
  return absl::OkStatus();
}

}  // namespace chakra
