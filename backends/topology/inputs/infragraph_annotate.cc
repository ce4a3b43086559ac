// Applies annotations of xpus and edges.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/topology/inputs/infragraph_expander.h"
#include "trace/base/status_macros.h"

namespace chakra {

using infragraph::Component;

// Resolves a name such as "host[0:2]xpu[0:4]", "host.0.xpu.3", or "host.0", which includes everything below
// it.
absl::Status InfraExpander::Address(const std::string& name, const std::string& where,
                                    std::vector<uint32_t>* out) {
  std::vector<Slice> path;
  if (absl::StrContains(name, "[")) {
    auto slices = ParseSlices(name);
    if (!slices.ok()) return absl::InvalidArgumentError(absl::StrCat(where, ": ", slices.status().message()));
    path = *std::move(slices);
  } else {
    const std::vector<std::string> parts = absl::StrSplit(name, '.');
    for (size_t i = 0; i < parts.size(); i += 2) {
      const auto slice =
          ParseSlice(i + 1 < parts.size() ? absl::StrCat(parts[i], "[", parts[i + 1], "]") : parts[i]);
      if (!slice.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, ": \"", name, "\"; expected a name as host.0.xpu.3"));
      }
      path.push_back(*slice);
    }
  }
  const absl::Status s = Select(path, /*partial=*/true, out);
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(where, ": ", s.message()));
}

absl::Status InfraExpander::AnnotateNodes() {
  for (int i = 0; i < annotations_.nodes_size(); ++i) {
    const auto& node = annotations_.nodes(i);
    const std::string where = absl::StrCat(file_, ": annotations.nodes[", i, "]");
    std::vector<uint32_t> below;
    for (const auto& a : node.attributes()) {
      if (a.attribute() == "device_type") continue;
      if (a.attribute() != "rank") {
        links_.CountUnused(a.attribute());
        continue;
      }
      if (below.empty()) {
        RETURN_IF_ERROR(Address(node.name(), where, &below));
      }
      std::vector<uint32_t> xpus;
      for (const uint32_t v : below) {
        if (Is(v, Component::Choice::xpu)) xpus.push_back(v);
      }
      int64_t rank = 0;
      if (!absl::SimpleAtoi(a.value(), &rank) || rank < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, ": rank is \"", a.value(), "\"; expected a whole number >= 0"));
      }
      if (xpus.size() != 1) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": a rank for \"", node.name(),
                                                       "\", which has ", xpus.size(),
                                                       " xpus; expected one xpu, as \"host.0.xpu.3\""));
      }
      if (!rank_.emplace(xpus[0], rank).second) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": a second rank for ", NameOf(xpus[0])));
      }
    }
  }
  for (const auto& a : annotations_.graph()) {
    if (a.attribute() != "devices_forward") {
      links_.CountUnused(a.attribute());
      continue;
    }
    if (a.value() != "yes" && a.value() != "no") {
      return Bad(
          absl::StrCat("annotations.graph: devices_forward is \"", a.value(), "\"; expected yes or no"));
    }
    forward_given_ = true;
    forward_ = a.value() == "yes";
  }
  return absl::OkStatus();
}

absl::Status InfraExpander::AnnotateEdges() {
  if (annotations_.edges_size() == 0) return absl::OkStatus();
  std::vector<uint32_t> first(choice_.size() + 1, 0), beside(2 * edges_.size());
  for (const InfraEdge& e : edges_) ++first[e.a + 1], ++first[e.b + 1];
  for (size_t v = 0; v < choice_.size(); ++v) first[v + 1] += first[v];
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    beside[next[edges_[i].a]++] = i;
    beside[next[edges_[i].b]++] = i;
  }
  for (int i = 0; i < annotations_.edges_size(); ++i) {
    const auto& edge = annotations_.edges(i);
    const std::string where = absl::StrCat(file_, ": annotations.edges[", i, "]");
    std::vector<uint32_t> left, right;
    absl::Status s = Address(edge.ep1(), absl::StrCat(where, ".ep1"), &left);
    if (s.ok()) s = Address(edge.ep2(), absl::StrCat(where, ".ep2"), &right);
    if (!s.ok()) return s;
    std::sort(right.begin(), right.end());
    bool found = false;
    for (const uint32_t v : left) {
      if (s = devices_.Spend(first[v + 1] - first[v], 0); !s.ok()) return s;
      for (uint32_t at = first[v]; at < first[v + 1]; ++at) {
        InfraEdge& e = edges_[beside[at]];
        if (!std::binary_search(right.begin(), right.end(), e.a == v ? e.b : e.a)) continue;
        ASSIGN_OR_RETURN(e.link, links_.Change(e.link, edge.attributes(), where));
        found = true;
      }
    }
    if (!found) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": no edge joins \"", edge.ep1(), "\" and \"", edge.ep2(), "\""));
    }
  }
  return absl::OkStatus();
}

std::string InfraExpander::NameOf(uint32_t v) const {
  std::string found;
  for (const auto* i : order_) {
    const Instance& instance = instances_.at(i->name());
    const uint32_t size = instance.device->size;
    if (v < instance.first || v - instance.first >= instance.count * size) continue;
    const uint32_t index = (v - instance.first) / size;
    ForEachRow(*instance.device, absl::StrCat(i->name(), ".", index, "."), instance.first + index * size,
               [&](const InfraDevice::Row& row, const std::string& name, uint32_t first) {
                 if (v >= first && v - first < row.count) found = absl::StrCat(name, ".", v - first);
               });
  }
  return found;
}

absl::Status InfraExpander::RankXpus() {
  for (uint32_t v = 0; v < choice_.size(); ++v) {
    if (Is(v, Component::Choice::xpu)) xpus_.push_back(v);
  }
  if (xpus_.empty())
    return Bad("no xpu in any instance; expected components with choice xpu: ranks run on them");
  if (rank_.empty()) return absl::OkStatus();
  std::vector<uint32_t> ranked(xpus_.size(), NetworkGraph::kNone);
  for (const uint32_t v : xpus_) {
    const auto it = rank_.find(v);
    if (it == rank_.end()) {
      return Bad(absl::StrCat("annotations: ", NameOf(v),
                              " has no rank, but others have; expected one for each of ", xpus_.size(),
                              " xpus or none"));
    }
    const auto rank = static_cast<uint64_t>(it->second);
    if (rank >= xpus_.size() || ranked[rank] != NetworkGraph::kNone) {
      return Bad(
          absl::StrCat("annotations: ", NameOf(v), " has rank ", rank,
                       rank < xpus_.size() ? absl::StrCat(", which ", NameOf(ranked[rank]), " has too") : "",
                       "; expected each of 0 to ", xpus_.size() - 1, " once"));
    }
    ranked[rank] = v;
  }
  xpus_ = std::move(ranked);
  return absl::OkStatus();
}

}  // namespace chakra
