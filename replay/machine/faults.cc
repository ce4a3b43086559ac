#include "replay/machine/faults.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/spec.h"
#include "replay/machine/check.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

constexpr double kMaxMicros = 1e12;  // 11 days

// What one fault does to a link, from when to when.
struct Span {
  Time begin, end;
  double left;
};

class Expander {
 public:
  Expander(const Topology& topology, int dimension, std::string field, const proto::LinkFault& fault)
      : topology_(topology),
        dimension_(dimension),
        graph_(topology.dimensions()[static_cast<size_t>(dimension)].network->graph),
        field_(std::move(field)),
        fault_(fault) {}

  // Links of Topology, each direction apart.
  absl::StatusOr<std::vector<uint32_t>> Links() {
    if (absl::Status s = Choose(); !s.ok()) return s;
    absl::StatusOr<std::vector<uint32_t>> copies = Copies();
    if (!copies.ok()) return copies.status();
    std::vector<uint32_t> links;
    for (const uint32_t copy : *copies) {
      for (const uint32_t arc : arcs_) {
        links.push_back(topology_.NetworkHop(dimension_, copy, arc).link);
        if (!fault_.one_way())
          links.push_back(topology_.NetworkHop(dimension_, copy, graph_.reverse(arc)).link);
      }
    }
    return links;
  }

 private:
  absl::Status Bad(absl::string_view name, absl::string_view got, absl::string_view expected) const {
    return BadField(absl::StrCat(field_, ".", name), got, expected);
  }

  absl::StatusOr<uint32_t> Vertex(absl::string_view name, const std::string& value) const {
    auto v = graph_.FindVertex(value);
    if (v.ok()) return v;
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: ", field_, ".", name, ": ", v.status().message()));
  }

  absl::Status Choose() {
    const int ways =
        (fault_.from().empty() && fault_.to().empty() ? 0 : 1) + (fault_.vertex().empty() ? 0 : 1) +
        (fault_.share() != 0 || !fault_.link_class().empty() ? 1 : 0) + (fault_.has_device() ? 1 : 0);
    if (ways != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("cluster: ", field_, " names ", ways == 0 ? "no link" : "links in several ways",
                       "; expected one of from and to, vertex, device, or share"));
    }
    if (fault_.one_way() && fault_.from().empty())
      return Bad("one_way", "true", "false, unless with from and to");
    if (fault_.has_device()) return OfDevice();
    if (!fault_.vertex().empty()) {
      auto v = Vertex("vertex", fault_.vertex());
      if (!v.ok()) return v.status();
      return OfVertex(*v);
    }
    return fault_.share() != 0 || !fault_.link_class().empty() ? OfClass() : Between();
  }

  absl::Status OfVertex(uint32_t v) {
    for (uint32_t arc = graph_.begin(v); arc < graph_.end(v); ++arc) arcs_.push_back(arc);
    return absl::OkStatus();
  }

  absl::Status OfDevice() {
    if (fault_.device() < 0 || fault_.device() >= topology_.devices()) {
      return Bad("device", absl::StrCat(fault_.device()),
                 absl::StrCat("0 to ", topology_.devices() - 1, "; the nearest is ",
                              fault_.device() < 0 ? 0 : topology_.devices() - 1));
    }
    return OfVertex(topology_.NetworkDevice(dimension_, fault_.device()));
  }

  absl::Status Between() {
    auto from = Vertex("from", fault_.from());
    if (!from.ok()) return from.status();
    auto to = Vertex("to", fault_.to());
    if (!to.ok()) return to.status();
    for (uint32_t arc = graph_.begin(*from); arc < graph_.end(*from); ++arc) {
      if (graph_.target(arc) == *to) arcs_.push_back(arc);
    }
    if (!arcs_.empty()) return absl::OkStatus();
    std::vector<std::string> beside;
    for (uint32_t arc = graph_.begin(*from); arc < graph_.end(*from) && beside.size() < 8; ++arc) {
      beside.push_back(graph_.VertexName(graph_.target(arc)));
    }
    return Bad("to", absl::StrCat("\"", fault_.to(), "\""),
               absl::StrCat("a vertex that is linked to ", fault_.from(), ": ", absl::StrJoin(beside, ", "),
                            graph_.degree(*from) > beside.size() ? ", ..." : ""));
  }

  absl::Status OfClass() {
    std::vector<std::string> classes;
    for (const LinkClass& c : graph_.classes()) classes.push_back(c.name);
    if (!fault_.link_class().empty() &&
        std::find(classes.begin(), classes.end(), fault_.link_class()) == classes.end()) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: ", field_, ".link_class is the unknown \"",
                                                     fault_.link_class(), "\"",
                                                     SuggestName(fault_.link_class(), classes)));
    }
    const double share = fault_.share() == 0 ? 1 : fault_.share();
    if (!(share > 0 && share <= 1)) return Bad("share", absl::StrCat(fault_.share()), "> 0 and <= 1");
    std::vector<std::pair<uint64_t, uint32_t>> drawn;
    const uint64_t seed = fault_.seed() == 0 ? 1 : fault_.seed();
    for (uint32_t arc = 0; arc < graph_.arcs(); ++arc) {
      if (arc > graph_.reverse(arc)) continue;
      if (!fault_.link_class().empty() && graph_.link_class(arc).name != fault_.link_class()) continue;
      // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
      uint64_t z = seed * 0x9e3779b97f4a7c15u + arc * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      drawn.push_back({z ^ (z >> 31), arc});
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
        return Bad("copy", absl::StrCat(fault_.copy()), absl::StrCat("0 to ", copies - 1));
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
  std::string field_;
  const proto::LinkFault& fault_;
  std::vector<uint32_t> arcs_;
};

absl::StatusOr<Span> SpanOf(const std::string& field, const proto::LinkFault& f) {
  if (absl::Status s = CheckNumber(field + ".after_us", f.after_us(), kMaxMicros, false); !s.ok()) return s;
  if (absl::Status s = CheckNumber(field + ".until_us", f.until_us(), kMaxMicros, false); !s.ok()) return s;
  Span span;
  span.begin = Time::FromNanos(f.after_us() * 1e3);
  span.end = f.until_us() == 0 ? Time::Never() : Time::FromNanos(f.until_us() * 1e3);
  if (span.end <= span.begin) {
    return BadField(field + ".until_us", absl::StrCat(f.until_us()),
                    absl::StrCat("more than after_us, which is ", f.after_us(), ", or 0 for ever"));
  }
  if (!(f.loss() >= 0 && f.loss() < 1)) {
    return BadField(field + ".loss", absl::StrCat(f.loss()),
                    f.loss() > 1 && f.loss() <= 100
                        ? absl::StrCat(">= 0 and < 1; ", f.loss(), " % is ", f.loss() / 100)
                        : ">= 0 and < 1");
  }
  const double bandwidth = f.has_bandwidth() ? f.bandwidth() : f.loss() > 0 ? 1 : 0;
  if (!(bandwidth >= 0 && bandwidth <= 1)) {
    return BadField(field + ".bandwidth", absl::StrCat(bandwidth), "the share of it that is left, 0 to 1");
  }
  span.left = bandwidth * (1 - f.loss());
  return span;
}

// What is left of a link over time, where it changes; `kept`: of its packets, without faults.
void Merge(uint32_t link, const std::vector<Span>& spans, double kept, std::vector<LinkChange>* changes) {
  std::set<Time> instants = {Time::Zero()};
  for (const Span& s : spans) {
    instants.insert(s.begin);
    if (s.end != Time::Never()) instants.insert(s.end);
  }
  double before = 1;
  for (const Time at : instants) {
    double left = 1;
    for (const Span& s : spans) {
      if (s.begin <= at && at < s.end) left = std::min(left, s.left);
    }
    left *= kept;
    if (left != before) changes->push_back({at, link, left});
    before = left;
  }
}

}  // namespace

absl::StatusOr<std::vector<LinkChange>> ExpandFaults(const proto::Topology& proto, const Topology& topology,
                                                     const std::vector<int>& asked,
                                                     const std::map<uint32_t, double>& losses) {
  std::map<uint32_t, std::vector<Span>> spans;
  for (int i = 0; i < proto.fault_size(); ++i) {
    const proto::LinkFault& f = proto.fault(i);
    const std::string field = absl::StrCat("topology.fault[", i, "]");
    const auto built = std::find(asked.begin(), asked.end(), f.dimension());
    if (built == asked.end()) {
      const bool there = f.dimension() >= 0 && f.dimension() < proto.dimension_size();
      return BadField(field + ".dimension", absl::StrCat(f.dimension()),
                      there ? "a dimension that joins more than one block: the ranks fit one"
                            : absl::StrCat("0 to ", proto.dimension_size() - 1));
    }
    absl::StatusOr<Span> span = SpanOf(field, f);
    if (!span.ok()) return span.status();
    auto links = Expander(topology, static_cast<int>(built - asked.begin()), field, f).Links();
    if (!links.ok()) return links.status();
    for (const uint32_t link : *links) spans[link].push_back(*span);
  }
  for (const auto& [link, loss] : losses) spans[link];
  std::vector<LinkChange> changes;
  for (const auto& [link, of_link] : spans) {
    const auto loss = losses.find(link);
    Merge(link, of_link, loss == losses.end() ? 1 : 1 - loss->second, &changes);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  return changes;
}

absl::Status AddFault(const std::string& text, proto::Topology* topology) {
  auto spec = ParseNetworkSpec(text);
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("fault \"", text, "\": ", what));
  };
  if (!spec.ok()) return bad(spec.status().message());
  const std::vector<std::string> kinds = {"down", "slow", "lossy"};
  if (std::find(kinds.begin(), kinds.end(), spec->name) == kinds.end()) {
    return bad(absl::StrCat("there is no kind \"", spec->name, "\"", SuggestName(spec->name, kinds)));
  }
  proto::LinkFault* f = topology->add_fault();
  // The last dimension is what joins nodes.
  f->set_dimension(topology->dimension_size() - 1);
  const std::map<std::string, void (*)(proto::LinkFault*, const std::string&)> texts = {
      {"from", [](proto::LinkFault* l, const std::string& v) { l->set_from(v); }},
      {"to", [](proto::LinkFault* l, const std::string& v) { l->set_to(v); }},
      {"vertex", [](proto::LinkFault* l, const std::string& v) { l->set_vertex(v); }},
      {"class", [](proto::LinkFault* l, const std::string& v) { l->set_link_class(v); }}};
  const std::map<std::string, void (*)(proto::LinkFault*, double)> numbers = {
      {"dimension", [](proto::LinkFault* l, double v) { l->set_dimension(static_cast<int>(v)); }},
      {"device", [](proto::LinkFault* l, double v) { l->set_device(static_cast<int>(v)); }},
      {"copy", [](proto::LinkFault* l, double v) { l->set_copy(static_cast<int>(v)); }},
      {"seed", [](proto::LinkFault* l, double v) { l->set_seed(static_cast<uint64_t>(v)); }},
      {"share", [](proto::LinkFault* l, double v) { l->set_share(v); }},
      {"bandwidth", [](proto::LinkFault* l, double v) { l->set_bandwidth(v); }},
      {"loss", [](proto::LinkFault* l, double v) { l->set_loss(v); }}};
  for (const auto& [key, value] : spec->set) {
    if (const auto t = texts.find(key); t != texts.end()) {
      t->second(f, value);
    } else if (const auto n = numbers.find(key); n != numbers.end()) {
      double v = 0;
      const bool whole = key != "share" && key != "bandwidth" && key != "loss";
      if (!absl::SimpleAtod(value, &v) || !std::isfinite(v) ||
          (whole && (v != std::floor(v) || v < 0 || v > 1 << 24))) {
        return bad(
            absl::StrCat(key, " is \"", value, "\"; expected a ", whole ? "whole number >= 0" : "number"));
      }
      n->second(f, v);
    } else if (key == "after" || key == "until") {
      auto t = ParseTime(value);
      if (!t.ok()) return bad(absl::StrCat(key, " is ", t.status().message()));
      const double us = static_cast<double>(t->picos()) / 1e6;
      key == "after" ? f->set_after_us(us) : f->set_until_us(us);
    } else {
      std::vector<std::string> known = {"after", "until"};
      for (const auto& entry : texts) known.push_back(entry.first);
      for (const auto& entry : numbers) known.push_back(entry.first);
      return bad(absl::StrCat("unknown key \"", key, "\"", SuggestName(key, known)));
    }
  }
  if (spec->name == "slow" && !f->has_bandwidth())
    return bad("no bandwidth; expected the share that is left, as bandwidth=0.5");
  if (spec->name == "lossy" && f->loss() == 0)
    return bad("no loss; expected the share of packets that are lost, as loss=0.01");
  if (spec->name == "down" && (f->has_bandwidth() || f->loss() != 0))
    return bad("bandwidth and loss are for slow and lossy");
  return absl::OkStatus();
}

}  // namespace chakra
