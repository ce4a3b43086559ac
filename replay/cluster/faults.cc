#include "replay/cluster/faults.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/cluster/check.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/splitmix.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// The effect of one fault on a link, and its time span.
struct Span {
  Time begin, end;
  double bandwidth, loss;
};

class Expander {
 public:
  Expander(const Topology& topology, int dimension, const Labelled& where, const proto::LinkFault& fault)
      : topology_(topology),
        dimension_(dimension),
        graph_(topology.dimensions()[static_cast<size_t>(dimension)].network->graph),
        where_(where),
        fault_(fault) {}

  // The links of Topology that the fault affects, each direction separately.
  absl::StatusOr<std::vector<uint32_t>> Links() {
    RETURN_IF_ERROR(Choose());
    ASSIGN_OR_RETURN(std::vector<uint32_t> copies, Copies());
    std::vector<uint32_t> links;
    for (const uint32_t copy : copies) {
      for (const uint32_t arc : arcs_) {
        links.push_back(topology_.NetworkHop(dimension_, copy, arc).link);
        if (!fault_.one_way())
          links.push_back(topology_.NetworkHop(dimension_, copy, graph_.reverse(arc)).link);
      }
    }
    return links;
  }

 private:
  absl::StatusOr<uint32_t> Vertex(absl::string_view name, const std::string& value) const {
    auto v = graph_.FindVertex(value);
    if (v.ok()) return v;
    return absl::InvalidArgumentError(absl::StrCat(where_.Field(name), ": ", v.status().message()));
  }

  absl::Status Choose() {
    const int ways =
        (fault_.from().empty() && fault_.to().empty() ? 0 : 1) + (fault_.vertex().empty() ? 0 : 1) +
        (fault_.share() != 0 || !fault_.link_class().empty() ? 1 : 0) + (fault_.has_device() ? 1 : 0);
    if (ways != 1) {
      return where_.Error(absl::StrCat("names ", ways == 0 ? "no link" : "links in several ways",
                                       "; expected one of from and to, vertex, device, or share"));
    }
    if (fault_.one_way() && fault_.from().empty())
      return where_.Bad("one_way", "true", "false, unless with from and to");
    if (fault_.has_device()) return OfDevice();
    if (!fault_.vertex().empty()) {
      ASSIGN_OR_RETURN(auto v, Vertex("vertex", fault_.vertex()));
      return OfVertex(v);
    }
    return fault_.share() != 0 || !fault_.link_class().empty() ? OfClass() : Between();
  }

  absl::Status OfVertex(uint32_t v) {
    for (uint32_t arc = graph_.begin(v); arc < graph_.end(v); ++arc) arcs_.push_back(arc);
    return absl::OkStatus();
  }

  absl::Status OfDevice() {
    if (fault_.device() < 0 || fault_.device() >= topology_.devices()) {
      return where_.Bad("device", absl::StrCat(fault_.device()),
                        absl::StrCat("0 to ", topology_.devices() - 1, "; the nearest is ",
                                     fault_.device() < 0 ? 0 : topology_.devices() - 1));
    }
    return OfVertex(topology_.NetworkDevice(dimension_, fault_.device()));
  }

  absl::Status Between() {
    ASSIGN_OR_RETURN(auto from, Vertex("from", fault_.from()));
    ASSIGN_OR_RETURN(auto to, Vertex("to", fault_.to()));
    for (uint32_t arc = graph_.begin(from); arc < graph_.end(from); ++arc) {
      if (graph_.target(arc) == to) arcs_.push_back(arc);
    }
    if (!arcs_.empty()) return absl::OkStatus();
    std::vector<std::string> beside;
    for (uint32_t arc = graph_.begin(from); arc < graph_.end(from) && beside.size() < 8; ++arc) {
      beside.push_back(graph_.VertexName(graph_.target(arc)));
    }
    return where_.Bad(
        "to", absl::StrCat("\"", fault_.to(), "\""),
        absl::StrCat("a vertex that is linked to ", fault_.from(), ": ", absl::StrJoin(beside, ", "),
                     graph_.degree(from) > beside.size() ? ", ..." : ""));
  }

  absl::Status OfClass() {
    std::vector<std::string> classes;
    for (const LinkClass& c : graph_.classes()) classes.push_back(c.name);
    if (!fault_.link_class().empty() &&
        std::find(classes.begin(), classes.end(), fault_.link_class()) == classes.end()) {
      return absl::InvalidArgumentError(absl::StrCat(where_.Field("link_class"), " is the unknown \"",
                                                     fault_.link_class(), "\"",
                                                     SuggestName(fault_.link_class(), classes)));
    }
    const double share = fault_.share() == 0 ? 1 : fault_.share();
    std::vector<std::pair<uint64_t, uint32_t>> drawn;
    const uint64_t seed = fault_.seed() == 0 ? 1 : fault_.seed();
    for (uint32_t arc = 0; arc < graph_.arcs(); ++arc) {
      if (arc > graph_.reverse(arc)) continue;
      if (!fault_.link_class().empty() && graph_.link_class(arc).name != fault_.link_class()) continue;
      drawn.push_back({SplitMix(seed * kSplitMixStep + arc * 0xbf58476d1ce4e5b9u), arc});
    }
    std::sort(drawn.begin(), drawn.end());
    const auto n = static_cast<size_t>(std::max(1.0, std::round(share * static_cast<double>(drawn.size()))));
    for (size_t i = 0; i < std::min(n, drawn.size()); ++i) arcs_.push_back(drawn[i].second);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<uint32_t>> Copies() const {
    const uint32_t copies = topology_.NetworkCopies(dimension_);
    if (fault_.has_device()) return std::vector<uint32_t>{topology_.NetworkCopy(dimension_, fault_.device())};
    if (fault_.has_copy()) {
      if (fault_.copy() < 0 || static_cast<uint32_t>(fault_.copy()) >= copies) {
        return where_.Bad("copy", absl::StrCat(fault_.copy()), absl::StrCat("0 to ", copies - 1));
      }
      return std::vector<uint32_t>{static_cast<uint32_t>(fault_.copy())};
    }
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < copies; ++i) all.push_back(i);
    return all;
  }

  const Topology& topology_;
  int dimension_;
  const NetworkGraph& graph_;
  const Labelled& where_;
  const proto::LinkFault& fault_;
  std::vector<uint32_t> arcs_;
};

absl::StatusOr<Span> SpanOf(const Labelled& where, const proto::LinkFault& f) {
  Span span;
  span.begin = Time::FromNanos(f.after_us() * 1e3);
  span.end = f.until_us() == 0 ? Time::Never() : Time::FromNanos(f.until_us() * 1e3);
  if (span.end <= span.begin) {
    return where.Bad("until_us", absl::StrCat(f.until_us()),
                     absl::StrCat("more than after_us, which is ", f.after_us(), ", or 0 for no end"));
  }
  span.loss = f.loss();
  span.bandwidth = f.has_bandwidth() ? f.bandwidth() : f.has_loss() ? 1 : 0;
  return span;
}

// Appends the changes of a link over time that `spans` cause. `always`: the share of packets that the link
// loses without faults.
void MergeSpans(uint32_t link, const std::vector<Span>& spans, double always,
                std::vector<LinkChange>* changes) {
  std::set<Time> instants = {Time::Zero()};
  for (const Span& s : spans) {
    instants.insert(s.begin);
    if (s.end != Time::Never()) instants.insert(s.end);
  }
  LinkChange before;
  for (const Time at : instants) {
    LinkChange now{at, link};
    for (const Span& s : spans) {
      if (at < s.begin || at >= s.end) continue;
      now.bandwidth = std::min(now.bandwidth, s.bandwidth);
      now.loss = std::max(now.loss, s.loss);
    }
    now.loss = now.bandwidth == 0 ? 0 : now.loss + always - now.loss * always;
    if (now.bandwidth != before.bandwidth || now.loss != before.loss) changes->push_back(now);
    before = now;
  }
}

}  // namespace

absl::StatusOr<std::vector<LinkChange>> ExpandFaults(const proto::Topology& proto, const Topology& topology,
                                                     const std::vector<int>& asked,
                                                     const std::map<uint32_t, double>& losses) {
  std::map<uint32_t, std::vector<Span>> spans;
  for (int i = 0; i < proto.fault_size(); ++i) {
    const proto::LinkFault& f = proto.fault(i);
    const Labelled where(f.label(), absl::StrCat("topology.fault[", i, "]"));
    const auto built = std::find(asked.begin(), asked.end(), f.dimension());
    if (built == asked.end()) {
      const bool there = f.dimension() >= 0 && f.dimension() < proto.dimension_size();
      return where.Bad("dimension", absl::StrCat(f.dimension()),
                       there ? "a dimension that joins more than one block: the ranks fit in one block"
                             : absl::StrCat("0 to ", proto.dimension_size() - 1));
    }
    ASSIGN_OR_RETURN(Span span, SpanOf(where, f));
    ASSIGN_OR_RETURN(auto links,
                     Expander(topology, static_cast<int>(built - asked.begin()), where, f).Links());
    for (const uint32_t link : links) spans[link].push_back(span);
  }
  for (const auto& [link, loss] : losses) spans[link];
  std::vector<LinkChange> changes;
  for (const auto& [link, of_link] : spans) {
    const auto loss = losses.find(link);
    MergeSpans(link, of_link, loss == losses.end() ? 0 : loss->second, &changes);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  return changes;
}

}  // namespace chakra
