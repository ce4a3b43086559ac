#include "replay/engine/causes/critical_path.h"

#include <algorithm>
#include <utility>

namespace chakra {
namespace {

void Add(const PathParts& more, PathParts* parts) {
  parts->software += more.software;
  parts->reduce += more.reduce;
  for (const auto& [kind, links] : more.links) {
    parts->links[kind].latency += links.latency;
    parts->links[kind].transfer += links.transfer;
  }
}

// How a message spends `length`. A message spread over several NICs takes less time than its bytes would take
// over one; the parts are then cut to `length`.
PathParts PartsOf(const Cause& cause, Time length, const MachineView& machine) {
  PathParts parts;
  std::vector<LinkCost> costs = machine.CostByLinks(cause.src, cause.dst, cause.bytes, cause.limit);
  parts.software = std::min(cause.software, length);
  Time left = length - parts.software;
  if (cause.kind == Cause::kSending) {
    const Time sent = machine.Cost(cause.src, cause.dst, cause.bytes, cause.limit).sent;
    parts.links[NarrowestOf(costs)].transfer = std::min(sent, left);
    return parts;
  }
  const auto take = [&left](Time* part) {
    *part = std::min(*part, left);
    left -= *part;
  };
  for (LinkCost& c : costs) take(&c.latency);
  for (LinkCost& c : costs) take(&c.transfer);
  parts.AddLinks(costs, 1);
  return parts;
}

PathSegment SegmentOf(const Cause& cause, const Matching& matching, const MachineView& machine,
                      const ExplainClosed& explain) {
  PathSegment s;
  s.begin = cause.parent.at();
  s.end = cause.at;
  s.rank = s.from_rank = cause.rank;
  s.row = cause.row;
  s.of = cause.of;
  switch (cause.kind) {
    case Cause::kNode:
      return s;
    case Cause::kDelay:
      s.kind = PathKind::kDelay;
      s.of = kNoRow;
      return s;
    case Cause::kStart:
      s.kind = PathKind::kStart;
      return s;
    case Cause::kFlow:
    case Cause::kSending:
      s.parts = PartsOf(cause, s.length(), machine);
      break;
    case Cause::kOverhead:
      s.parts.software = s.length();
      break;
    case Cause::kReduce:
      s.parts.reduce = s.length();
      break;
    case Cause::kClosed:
      s.parts = explain(cause.of, static_cast<uint32_t>(cause.src), static_cast<uint32_t>(cause.dst));
      break;
  }
  if (cause.message) {
    s.kind = PathKind::kMessage;
    s.from_rank = static_cast<uint32_t>(cause.src);
    return s;
  }
  s.kind = PathKind::kCollective;
  const CollectiveCall& call = matching.calls[cause.of];
  s.type = call.type;
  s.group = call.group;
  if (cause.kind == Cause::kClosed) {
    s.from_rank = static_cast<uint32_t>(matching.groups[call.group].members[static_cast<size_t>(cause.src)]);
  } else if (cause.kind == Cause::kFlow && cause.src < matching.groups[0].size) {  // otherwise `src` is a
                                                                                   // switch
    s.from_rank = static_cast<uint32_t>(cause.src);
  }
  return s;
}

// Whether `s` and `later` belong to one call.
bool SameCall(const PathSegment& s, const PathSegment& later) {
  return s.kind == PathKind::kCollective && later.kind == PathKind::kCollective && s.of == later.of;
}

}  // namespace

Time PathSegment::waiting() const {
  if (kind != PathKind::kCollective && kind != PathKind::kMessage) return Time::Zero();
  Time known = parts.software + parts.reduce;
  for (const auto& [kind, links] : parts.links) known += links.latency + links.transfer;
  return std::max(Time::Zero(), length() - known);
}

PathParts PartsSince(Time begin, const CauseRef& end, const Matching& matching, const MachineView& machine,
                     uint32_t* from_rank) {
  PathParts parts;
  for (const Cause* cause = end.get(); cause != nullptr && cause->at > begin; cause = cause->parent.get()) {
    const PathSegment s = SegmentOf(*cause, matching, machine, nullptr);
    Add(s.parts, &parts);
    *from_rank = s.from_rank;
  }
  return parts;
}

CriticalPath TracePath(const CauseRef& final, Time makespan, const Matching& matching,
                       const MachineView& machine, const ExplainClosed& explain) {
  CriticalPath path;
  for (const GroupInfo& group : matching.groups) path.groups.push_back(group.name);
  if (makespan > final.at()) {
    PathSegment drain;
    drain.kind = PathKind::kDrain;
    drain.begin = final.at();
    drain.end = makespan;
    if (final.get() != nullptr) drain.rank = drain.from_rank = final->rank;
    path.segments.push_back(drain);
  }
  // The loop goes back in time, so a segment grows at its beginning.
  for (const Cause* cause = final.get(); cause != nullptr; cause = cause->parent.get()) {
    PathSegment s = SegmentOf(*cause, matching, machine, explain);
    if (!path.segments.empty() && SameCall(s, path.segments.back())) {
      PathSegment& last = path.segments.back();
      last.begin = s.begin;
      last.from_rank = s.from_rank;
      Add(s.parts, &last.parts);
    } else {
      path.segments.push_back(std::move(s));
    }
  }
  std::reverse(path.segments.begin(), path.segments.end());
  return path;
}

}  // namespace chakra
