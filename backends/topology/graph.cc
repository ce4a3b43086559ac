#include "backends/topology/graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr Time kMaxLatency = Time::Micros(1000000);

bool IsAlone(const VertexGroup& g) {
  return g.count == 1 && !absl::ascii_isdigit(static_cast<unsigned char>(g.name.back()));
}

absl::Status CheckClass(const LinkClass& c) {
  if (c.bandwidth.bytes_per_second() < 1) {
    return absl::InvalidArgumentError(absl::StrCat("link class \"", c.name, "\": bandwidth ",
                                                   c.bandwidth.bytes_per_second(),
                                                   " B/s; expected >= 1 B/s"));
  }
  if (c.latency < Time::Zero() || c.latency > kMaxLatency) {
    return absl::InvalidArgumentError(
        absl::StrCat("link class \"", c.name, "\": latency ", c.latency.picos(), " ps; expected 0 to 1 s"));
  }
  return absl::OkStatus();
}

absl::Status CheckGroups(const std::vector<VertexGroup>& groups) {
  std::vector<absl::string_view> names;
  bool others = false;
  for (const VertexGroup& g : groups) {
    if (g.name.empty()) return absl::InvalidArgumentError("graph: a group of vertices without a name");
    if (g.kind == VertexKind::kDevice && others) {
      return absl::InvalidArgumentError(absl::StrCat(
          "graph: the devices \"", g.name, "\" come after other vertices; expected the devices first"));
    }
    others = others || g.kind != VertexKind::kDevice;
    names.push_back(g.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("graph: two groups of vertices are called \"", *twice, "\""));
  }
  return absl::OkStatus();
}

Bandwidth Times(Bandwidth bandwidth, double factor) {
  const double scaled = static_cast<double>(bandwidth.bytes_per_second()) * factor;
  return Bandwidth::BytesPerSecond(std::max(int64_t{1}, static_cast<int64_t>(std::llround(scaled))));
}

}  // namespace

absl::string_view Name(VertexKind kind) {
  switch (kind) {
    case VertexKind::kDevice:
      return "device";
    case VertexKind::kNic:
      return "nic";
    case VertexKind::kSwitch:
      return "switch";
    case VertexKind::kNvSwitch:
      return "nvswitch";
    case VertexKind::kPcieSwitch:
      return "pcie_switch";
    case VertexKind::kHost:
      return "host";
  }
  return "unknown";
}

uint32_t NetworkGraph::FindArc(uint32_t from, uint32_t to) const {
  for (uint32_t arc = begin(from); arc < end(from); ++arc) {
    if (target_[arc] == to) return arc;
  }
  return kNone;
}

const VertexGroup& NetworkGraph::group(uint32_t v) const {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), v,
                                      [](uint32_t x, const VertexGroup& g) { return x < g.first; });
  return *(after - 1);
}

std::string NetworkGraph::VertexName(uint32_t v) const {
  const VertexGroup& g = group(v);
  return IsAlone(g) ? g.name : absl::StrCat(g.name, ".", v - g.first);
}

absl::StatusOr<uint32_t> NetworkGraph::FindVertex(absl::string_view name) const {
  const auto find = [this](absl::string_view group) -> const VertexGroup* {
    const auto it = std::lower_bound(by_name_.begin(), by_name_.end(), group,
                                     [this](uint32_t g, absl::string_view n) { return groups_[g].name < n; });
    return it == by_name_.end() || groups_[*it].name != group ? nullptr : &groups_[*it];
  };
  if (const VertexGroup* g = find(name); g != nullptr && IsAlone(*g)) return g->first;
  const size_t dot = name.rfind('.');
  const absl::string_view stem = name.substr(0, dot);
  if (const VertexGroup* g = find(stem)) {
    uint32_t index = 0;
    if (dot != absl::string_view::npos && absl::SimpleAtoi(name.substr(dot + 1), &index) &&
        index < g->count) {
      return g->first + index;
    }
    return absl::InvalidArgumentError(absl::StrCat("there is no vertex \"", name, "\"; expected \"", g->name,
                                                   ".0\" to \"", g->name, ".", g->count - 1, "\""));
  }
  constexpr size_t kMostListed = 1000;
  std::vector<std::string> known;
  for (const VertexGroup& g : groups_) {
    if (known.size() < kMostListed) known.push_back(g.name);
  }
  const std::string nearest = NearestName(stem, known);
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no vertex \"", name, "\"",
      nearest.empty() && groups_.size() > 30 ? absl::StrCat("; known: ", known.front(), ", ", known[1],
                                                            " and ", groups_.size() - 2, " more groups")
                                             : SuggestName(stem, known)));
}

std::string NetworkGraph::ArcName(uint32_t arc) const {
  return absl::StrCat(VertexName(source(arc)), " - ", VertexName(target(arc)));
}

NetworkGraph NetworkGraph::Scaled(double bandwidth, double latency) const {
  NetworkGraph graph = *this;
  for (LinkClass& c : graph.classes_) {
    c.bandwidth = Times(c.bandwidth, bandwidth);
    c.latency = Time::Picos(std::llround(static_cast<double>(c.latency.picos()) * latency));
  }
  return graph;
}

NetworkGraph NetworkGraph::ScaledWhere(const std::vector<bool>& arcs, double bandwidth) const {
  NetworkGraph graph = *this;
  std::vector<bool> inside(classes_.size()), outside(classes_.size());
  for (uint32_t arc = 0; arc < this->arcs(); ++arc) (arcs[arc] ? inside : outside)[class_[arc]] = true;
  std::vector<uint16_t> moved(classes_.size());
  for (size_t c = 0; c < classes_.size(); ++c) {
    moved[c] = static_cast<uint16_t>(c);
    if (!inside[c]) continue;
    if (outside[c]) {
      moved[c] = static_cast<uint16_t>(graph.classes_.size());
      graph.classes_.push_back(classes_[c]);
    }
    graph.classes_[moved[c]].bandwidth = Times(classes_[c].bandwidth, bandwidth);
  }
  for (uint32_t arc = 0; arc < this->arcs(); ++arc) {
    if (arcs[arc]) graph.class_[arc] = moved[class_[arc]];
  }
  return graph;
}

uint64_t NetworkGraph::MemoryBytes() const {
  return sizeof(NetworkGraph) + first_.capacity() * sizeof(uint32_t) + target_.capacity() * sizeof(uint32_t) +
         reverse_.capacity() * sizeof(uint32_t) + class_.capacity() * sizeof(uint16_t) +
         classes_.capacity() * sizeof(LinkClass) + groups_.capacity() * sizeof(VertexGroup) +
         by_name_.capacity() * sizeof(uint32_t);
}

uint32_t GraphBuilder::AddVertices(absl::string_view name, VertexKind kind, uint32_t count, int tier,
                                   std::vector<int> shape) {
  const uint64_t first = vertices_;
  if (count > 0) {
    groups_.push_back({std::string(name), kind, static_cast<uint32_t>(first), count, tier, std::move(shape)});
  }
  vertices_ += count;
  return static_cast<uint32_t>(first);
}

uint16_t GraphBuilder::AddClass(const LinkClass& c) {
  const auto [it, added] = class_index_.try_emplace(
      {c.name, c.bandwidth.bytes_per_second(), c.latency.picos()}, static_cast<uint16_t>(classes_.size()));
  if (added) classes_.push_back(c);
  return it->second;
}

absl::StatusOr<NetworkGraph> GraphBuilder::Build() {
  if (vertices_ > NetworkGraph::kMaxVertices || links_.size() > NetworkGraph::kMaxLinks) {
    return absl::InvalidArgumentError(absl::StrCat("graph: ", vertices_, " vertices and ", links_.size(),
                                                   " links; expected at most ", NetworkGraph::kMaxVertices,
                                                   " and ", NetworkGraph::kMaxLinks));
  }
  RETURN_IF_ERROR(CheckGroups(groups_));
  if (classes_.size() > 0xffff) return absl::InvalidArgumentError("graph: more than 65535 classes of links");
  for (const LinkClass& c : classes_) {
    RETURN_IF_ERROR(CheckClass(c));
  }
  NetworkGraph g;
  for (const VertexGroup& group : groups_) {
    if (group.kind == VertexKind::kDevice) g.devices_ += group.count;
  }
  if (g.devices_ == 0) return absl::InvalidArgumentError("graph: no device");
  const auto n = static_cast<size_t>(vertices_);
  g.groups_ = std::move(groups_);
  for (uint32_t i = 0; i < g.groups_.size(); ++i) g.by_name_.push_back(i);
  std::sort(g.by_name_.begin(), g.by_name_.end(),
            [&](uint32_t a, uint32_t b) { return g.groups_[a].name < g.groups_[b].name; });
  g.classes_ = std::move(classes_);
  g.devices_forward_ = devices_forward_;
  g.first_.assign(n + 1, 0);
  for (const Link& l : links_) {
    if (l.a >= n || l.b >= n || l.a == l.b || l.link_class >= g.classes_.size()) {
      return absl::InvalidArgumentError(absl::StrCat("graph: a link from vertex ", l.a, " to ", l.b,
                                                     " of class ", l.link_class, "; expected two of ", n,
                                                     " vertices and one of ", g.classes_.size(), " classes"));
    }
    ++g.first_[l.a + 1];
    ++g.first_[l.b + 1];
  }
  for (size_t v = 0; v < n; ++v) g.first_[v + 1] += g.first_[v];
  std::vector<uint32_t> next(g.first_.begin(), g.first_.end() - 1);
  g.target_.resize(2 * links_.size());
  g.reverse_.resize(2 * links_.size());
  g.class_.resize(2 * links_.size());
  for (const Link& l : links_) {
    const uint32_t there = next[l.a]++;
    const uint32_t back = next[l.b]++;
    g.target_[there] = l.b;
    g.target_[back] = l.a;
    g.reverse_[there] = back;
    g.reverse_[back] = there;
    g.class_[there] = g.class_[back] = l.link_class;
  }
  links_.clear();
  return g;
}

}  // namespace chakra
