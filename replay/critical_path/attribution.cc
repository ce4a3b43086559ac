#include "replay/critical_path/attribution.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/measure/name_times.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr size_t kRows = 100;
constexpr size_t kNames = 20;  // with more operators than this, names that differ only in numbers are merged

// Sums by name.
class Shares {
 public:
  void Add(const std::string& name, Time time) {
    if (time <= Time::Zero()) return;
    Sum& sum = sums_[name];
    sum.time += time;
    ++sum.stretches;
  }
  Time of(const std::string& name) const {
    const auto it = sums_.find(name);
    return it == sums_.end() ? Time::Zero() : it->second.time;
  }
  size_t size() const { return sums_.size(); }
  // The shares of names with "#" in place of each number.
  Shares Merged() const {
    Shares merged;
    for (const auto& [name, sum] : sums_) {
      Sum& of = merged.sums_[MergeNumbers(name)];
      of.time += sum.time;
      of.stretches += sum.stretches;
    }
    return merged;
  }
  // Writes the shares, the longest first, equal ones by name.
  void Write(Time whole, google::protobuf::RepeatedPtrField<proto::PathShare>* out) const {
    std::vector<std::pair<std::string, Sum>> rows(sums_.begin(), sums_.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    Sum others;
    for (size_t i = kRows; i < rows.size(); ++i) {
      others.time += rows[i].second.time;
      others.stretches += rows[i].second.stretches;
    }
    if (rows.size() > kRows) {
      rows.resize(kRows);
      rows.push_back({"(others)", others});
    }
    for (const auto& [name, sum] : rows) {
      proto::PathShare* row = out->Add();
      row->set_name(ToUtf8(name));
      row->set_time_ps(sum.time.picos());
      row->set_share(whole > Time::Zero()
                         ? static_cast<double>(sum.time.picos()) / static_cast<double>(whole.picos())
                         : 0);
      row->set_stretches(sum.stretches);
    }
  }

 private:
  struct Sum {
    Time time;
    uint64_t stretches = 0;
  };
  std::map<std::string, Sum> sums_;
};

const char* CauseOf(const Graph& graph, uint32_t row) {
  // By BusyClock::Class. Nodes without work take no time, so they are not on the path.
  constexpr const char* kNames[] = {"device computation", "host operations", "recorded communication",
                                    "memory", "nothing"};
  return kNames[ClassOf(graph, row)];
}

const char* Name(PathKind kind) {
  constexpr const char* kNames[kPathKinds] = {"node", "delay", "start", "collective", "message", "drain"};
  return kNames[static_cast<size_t>(kind)];
}

class Attribution {
 public:
  Attribution(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
              const std::vector<LinkKind>& kinds, std::vector<PathChange>* changes)
      : path_(path), traces_(traces), lanes_(lanes), kinds_(kinds), changes_(changes) {}

  proto::CriticalPathReport Make() {
    for (const PathSegment& s : path_.segments) Add(s);
    proto::CriticalPathReport out;
    const Time whole = path_.segments.empty() ? Time::Zero() : path_.segments.back().end;
    out.set_stretches(path_.segments.size());
    causes_.Write(whole, out.mutable_cause());
    by_rank_.Write(whole, out.mutable_rank());
    by_lane_.Write(whole, out.mutable_lane());
    (operators_.size() > kNames ? operators_.Merged() : operators_).Write(whole, out.mutable_operator_());
    collectives_.Write(whole, out.mutable_collective());
    links_.Write(whole, out.mutable_link());
    AddSensitivities(whole, &out);
    AddLongest(&out);
    return out;
  }

 private:
  const Graph& GraphOf(const PathSegment& s) const { return *traces_.ranks[s.rank].graph; }
  // The time on the links of one dimension.
  struct Level {
    std::string name;
    Time latency, transfer, waiting;
  };
  std::string LaneOf(const PathSegment& s) const {
    return s.row == kNoRow ? "" : LaneName(GraphOf(s), s.row, lanes_);
  }

  void Add(const PathSegment& s) {
    const std::string rank = absl::StrCat("rank ", s.rank);
    by_rank_.Add(rank, s.length());
    const std::string lane = LaneOf(s);
    by_lane_.Add(lane.empty() ? rank : absl::StrCat(rank, " ", lane), s.length());
    switch (s.kind) {
      case PathKind::kNode:
        causes_.Add(CauseOf(GraphOf(s), s.row), s.length());
        operators_.Add(std::string(GraphOf(s).name_of(s.row)), s.length());
        return;
      case PathKind::kDelay:
        causes_.Add("delays", s.length());
        return;
      case PathKind::kStart:
        causes_.Add("late starts", s.length());
        return;
      case PathKind::kDrain:
        causes_.Add("drain", s.length());
        return;
      case PathKind::kCollective:
        collectives_.Add(CallName(s), s.length());
        break;
      case PathKind::kMessage:
        collectives_.Add("send_recv", s.length());
        break;
    }
    causes_.Add("collective library", s.parts.software);
    causes_.Add("reductions", s.parts.reduce);
    causes_.Add("waiting in the network", s.waiting());
    for (const auto& [kind, links] : s.parts.links) {
      causes_.Add("link latency", links.latency);
      causes_.Add("link transfer", links.transfer);
      links_.Add(kinds_[kind].name + " latency", links.latency);
      links_.Add(kinds_[kind].name + " transfer", links.transfer);
      Level& level = LevelOf(kind);
      level.latency += links.latency;
      level.transfer += links.transfer;
    }
    if (s.parts.links.empty()) return;
    // It is unknown where messages waited; the wait counts for the dimension of the links with the longest
    // transfer.
    const auto most =
        std::max_element(s.parts.links.begin(), s.parts.links.end(),
                         [](const auto& a, const auto& b) { return a.second.transfer < b.second.transfer; });
    Level& level = LevelOf(most->first);
    links_.Add(level.name + " waiting", s.waiting());
    level.waiting += s.waiting();
  }

  Level& LevelOf(size_t kind) {
    Level& level = levels_[kinds_[kind].level];
    level.name = kinds_[kind].dimension;
    return level;
  }

  std::string CallName(const PathSegment& s) const {
    const std::string& group = path_.groups[s.group];
    return absl::StrCat(std::string(chakra::Name(s.type)), group.empty() ? "" : " on ", group);
  }

  // Adds the sensitivity of a change that scales the time `part` of the path: by 1/1.01 for 1 % more of a
  // rate, by 99/100 for 1 % less of a time.
  static void AddSensitivity(PathChange change, const std::string& of, Time part, Time whole,
                             std::vector<std::pair<proto::Sensitivity, PathChange>>* out) {
    if (part <= Time::Zero()) return;
    using Of = PathChange::Of;
    const bool time = change.of == Of::kLatency || change.of == Of::kLibraryTime || change.of == Of::kDelays;
    const auto ps = static_cast<double>(part.picos());
    proto::Sensitivity s;
    s.set_of(ToUtf8(of));
    s.set_change(time ? "1 % less" : "1 % more");
    s.set_gain_ps(static_cast<int64_t>(time ? ps / 100 : ps - ps / 1.01));
    s.set_gain(static_cast<double>(s.gain_ps()) / static_cast<double>(whole.picos()));
    out->emplace_back(std::move(s), change);
  }

  void AddSensitivities(Time whole, proto::CriticalPathReport* out) {
    using Of = PathChange::Of;
    std::vector<std::pair<proto::Sensitivity, PathChange>> all;
    for (const auto& [of, cause] :
         {std::pair{Of::kDeviceSpeed, "device computation"}, std::pair{Of::kHostSpeed, "host operations"},
          std::pair{Of::kMemorySpeed, "memory"}}) {
      AddSensitivity({of}, absl::StrCat("speed of ", cause), causes_.of(cause), whole, &all);
    }
    for (const auto& [number, level] : levels_) {
      AddSensitivity({Of::kBandwidth, number}, "bandwidth of " + level.name, level.transfer + level.waiting,
                     whole, &all);
      AddSensitivity({Of::kLatency, number}, "latency of " + level.name, level.latency, whole, &all);
    }
    AddSensitivity({Of::kLibraryTime}, "time of the collective library", causes_.of("collective library"),
                   whole, &all);
    AddSensitivity({Of::kDelays}, "delays", causes_.of("delays"), whole, &all);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first.gain_ps() > b.first.gain_ps(); });
    if (changes_ != nullptr) changes_->clear();
    for (auto& [sensitivity, change] : all) {
      *out->add_sensitivity() = std::move(sensitivity);
      if (changes_ != nullptr) changes_->push_back(change);
    }
  }

  void AddLongest(proto::CriticalPathReport* out) {
    std::vector<const PathSegment*> order;
    for (const PathSegment& s : path_.segments) order.push_back(&s);
    const size_t rows = std::min(kRows, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows), order.end(),
                      [](const PathSegment* a, const PathSegment* b) {
                        return a->length() != b->length() ? a->length() > b->length() : a->begin < b->begin;
                      });
    for (size_t i = 0; i < rows; ++i) {
      const PathSegment& s = *order[i];
      proto::PathStretch* row = out->add_longest();
      row->set_begin_ps(s.begin.picos());
      row->set_end_ps(s.end.picos());
      row->set_kind(Name(s.kind));
      row->set_from_rank(static_cast<int32_t>(s.from_rank));
      row->set_rank(static_cast<int32_t>(s.rank));
      if (s.row != kNoRow) {
        row->set_node(GraphOf(s).id[s.row]);
        row->set_name(ToUtf8(std::string(GraphOf(s).name_of(s.row))));
        row->set_lane(ToUtf8(LaneOf(s)));
      }
      if (s.kind != PathKind::kCollective) continue;
      row->set_collective(std::string(chakra::Name(s.type)));
      row->set_group(ToUtf8(path_.groups[s.group]));
    }
  }

  const CriticalPath& path_;
  const TraceSet& traces_;
  LanePolicy lanes_;
  const std::vector<LinkKind>& kinds_;
  std::vector<PathChange>* changes_;  // may be null
  Shares causes_, by_rank_, by_lane_, operators_, collectives_, links_;
  std::map<int, Level> levels_;
};

}  // namespace

std::vector<LinkKind> LinkKindsOf(const Topology& topology) {
  std::vector<LinkKind> kinds;
  for (size_t c = 0; c < topology.link_classes().size(); ++c) {
    LinkKind kind;
    kind.level = topology.ClassDimension(c);
    const TopologyDimension& d = topology.dimensions()[static_cast<size_t>(kind.level)];
    kind.dimension = d.name.empty() ? absl::StrCat("dimension ", kind.level) : d.name;
    kind.name = kind.dimension;
    if (d.kind == TopologyDimension::Kind::kNetwork)
      absl::StrAppend(&kind.name, " ", topology.link_classes()[c].name);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

proto::CriticalPathReport AttributePath(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                        const std::vector<LinkKind>& kinds,
                                        std::vector<PathChange>* changes) {
  return Attribution(path, traces, lanes, kinds, changes).Make();
}

}  // namespace chakra
