#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/inputs/infragraph.h"
#include "backends/topology/inputs/infragraph_expander.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using infragraph::Component;

bool HasWord(absl::string_view text, std::initializer_list<absl::string_view> words) {
  const std::string lower = absl::AsciiStrToLower(text);
  return std::any_of(words.begin(), words.end(),
                     [&](absl::string_view w) { return absl::StrContains(lower, w); });
}

VertexKind KindOf(const Component& c) {
  const std::string text = absl::StrCat(c.name(), " ", c.custom().type());
  switch (c.choice()) {
    case Component::Choice::xpu:
      return VertexKind::kDevice;
    case Component::Choice::nic:
    case Component::Choice::port:
      return VertexKind::kNic;
    case Component::Choice::switch_:
    case Component::Choice::custom:
      if (HasWord(text, {"nvsw", "nvlsw", "nvlink"})) return VertexKind::kNvSwitch;
      if (HasWord(text, {"pci"})) return VertexKind::kPcieSwitch;
      return VertexKind::kSwitch;
    default:
      return VertexKind::kHost;
  }
}

}  // namespace

absl::Status InfraExpander::AddInstances() {
  RETURN_IF_ERROR(devices_.Check());
  if (graph_.instances_size() == 0) return Bad("no instances; expected one or more");
  for (const infragraph::Instance& i : graph_.instances()) {
    if (absl::Status s = CheckInfraName("instance", i.name()); !s.ok()) return Bad(s.message());
    const std::string where = absl::StrCat("instance \"", i.name(), "\"");
    if (instances_.count(i.name()) > 0) return Bad(absl::StrCat(where, " is there twice"));
    ASSIGN_OR_RETURN(const auto device, devices_.Get(i.device()));
    if (device == nullptr) {
      return Bad(absl::StrCat(where, ": there is no device \"", i.device(), "\"",
                              SuggestName(i.device(), devices_.Names())));
    }
    const uint64_t size = device->size;
    if (i.count() < 1) return Bad(absl::StrCat(where, ": count is ", i.count(), "; expected >= 1"));
    const auto count = static_cast<uint32_t>(i.count());
    if (choice_.size() + size * count > kMaxReadVertices) {
      return Bad(absl::StrCat(where, ": count is ", count, ", ", size * count, " vertices; expected at most ",
                              kMaxReadVertices, " in all"));
    }
    RETURN_IF_ERROR(devices_.Spend(count, uint64_t{count} * device->edges.size()));
    const auto first = static_cast<uint32_t>(choice_.size());
    instances_[i.name()] = {device, first, count};
    order_.push_back(&i);
    for (uint32_t c = 0; c < count; ++c) {
      const auto base = static_cast<uint32_t>(choice_.size());
      choice_.insert(choice_.end(), device->choice.begin(), device->choice.end());
      for (const InfraEdge& e : device->edges) edges_.push_back({base + e.a, base + e.b, e.link});
    }
  }
  return absl::OkStatus();
}

absl::Status InfraExpander::Select(const std::vector<Slice>& path, bool partial, std::vector<uint32_t>* out) {
  const auto it = instances_.find(path[0].name);
  if (it == instances_.end()) {
    std::vector<std::string> names;
    for (const auto* i : order_) names.push_back(i->name());
    return absl::InvalidArgumentError(
        absl::StrCat("there is no instance \"", path[0].name, "\"", SuggestName(path[0].name, names)));
  }
  const Instance& instance = it->second;
  ASSIGN_OR_RETURN(const auto slice, Within(path[0], instance.count));
  const std::vector<Slice> rest(path.begin() + 1, path.end());
  for (uint64_t i = slice.begin; i < slice.end; i += slice.step) {
    const uint32_t base = instance.first + static_cast<uint32_t>(i) * instance.device->size;
    RETURN_IF_ERROR(devices_.Select(*instance.device, rest, base, partial, out));
  }
  return devices_.Spend(out->size(), 0);
}

absl::Status InfraExpander::Ends(const infragraph::InfrastructureEndpoint& end, const std::string& where,
                                 std::vector<uint32_t>* out) {
  const auto instance = ParseSlice(end.instance());
  absl::Status s = instance.status();
  if (s.ok()) {
    const auto path = ParseSlices(end.component());
    s = path.status();
    if (s.ok()) {
      std::vector<Slice> whole = {*instance};
      whole.insert(whole.end(), path->begin(), path->end());
      s = Select(whole, /*partial=*/false, out);
    }
  }
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(where, ": ", s.message()));
}

absl::Status InfraExpander::AddEdge(int i) {
  const infragraph::InfrastructureEdge& edge = graph_.edges(i);
  const std::string where = absl::StrCat(file_, ": edges[", i, "]");
  std::vector<uint32_t> left, right;
  absl::Status s = Ends(edge.ep1(), absl::StrCat(where, ".ep1"), &left);
  if (s.ok()) s = Ends(edge.ep2(), absl::StrCat(where, ".ep2"), &right);
  if (s.ok()) s = devices_.Connect(edge.scheme(), left, right, where, &edges_);
  return s;
}

absl::Status InfraExpander::AddEdges() {
  std::vector<std::string> names;
  for (const infragraph::Link& l : graph_.links()) {
    if (std::find(names.begin(), names.end(), l.name()) != names.end()) {
      return Bad(absl::StrCat("link \"", l.name(), "\" is there twice"));
    }
    names.push_back(l.name());
  }
  std::map<std::string, uint32_t> resolved;
  for (int i = 0; i < graph_.edges_size(); ++i) {
    const std::string& name = graph_.edges(i).link();
    const size_t before = edges_.size();
    RETURN_IF_ERROR(AddEdge(i));
    auto it = resolved.find(name);
    if (it == resolved.end()) {
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) {
        return Bad(absl::StrCat("edges[", i, "]: there is no link \"", name, "\" between instances",
                                SuggestName(name, names)));
      }
      ASSIGN_OR_RETURN(const auto number,
                       links_.Resolve(graph_.links(static_cast<int>(at - names.begin())), {}));
      it = resolved.emplace(name, number).first;
    }
    for (size_t e = before; e < edges_.size(); ++e) edges_[e].link = it->second;
  }
  return absl::OkStatus();
}

// Keeps only the last edge between each two vertices.
absl::Status InfraExpander::DropRepeats() {
  const auto less = [](const InfraEdge& x, const InfraEdge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; };
  std::stable_sort(edges_.begin(), edges_.end(), less);
  size_t kept = 0, changed = 0;
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (kept > 0 && !less(edges_[kept - 1], edges_[i])) {
      changed += edges_[kept - 1].link != edges_[i].link ? 1 : 0;
      edges_[kept - 1] = edges_[i];
    } else {
      edges_[kept++] = edges_[i];
    }
  }
  edges_.resize(kept);
  if (changed > 0) {
    notes_.push_back(absl::StrCat(changed, " edges join vertices that another edge joins by another link; ",
                                  "the last of these links is used"));
  }
  return absl::OkStatus();
}

// Whether the ranks are in the order of the xpus' vertices, so that a component's ranks are consecutive.
bool InfraExpander::InGroups() const { return rank_.empty() || std::is_sorted(xpus_.begin(), xpus_.end()); }

void InfraExpander::AddVertices() {
  number_.assign(choice_.size(), NetworkGraph::kNone);
  struct Group {
    std::string name;
    VertexKind kind;
    uint32_t first, count;
  };
  std::vector<Group> groups;
  std::map<std::string, uint32_t> memory;
  for (const auto* i : order_) {
    const Instance& instance = instances_.at(i->name());
    for (uint32_t c = 0; c < instance.count; ++c) {
      ForEachRow(*instance.device, absl::StrCat(i->name(), ".", c, "."),
                 instance.first + c * instance.device->size,
                 [&](const InfraDevice::Row& row, const std::string& name, uint32_t first) {
                   if (row.component->choice() == Component::Choice::memory) {
                     memory[row.component->name()] += row.count;
                   } else {
                     groups.push_back({name, KindOf(*row.component), first, row.count});
                   }
                 });
    }
  }
  const bool in_groups = InGroups();
  if (!in_groups) {
    assembly_.AddVertices("xpu", VertexKind::kDevice, static_cast<uint32_t>(xpus_.size()));
    notes_.push_back(
        absl::StrCat("the annotated ranks do not follow the order of the components: the xpus are called ",
                     "xpu.RANK; xpu.0 is ", NameOf(xpus_[0])));
  }
  for (uint32_t r = 0; r < xpus_.size(); ++r) number_[xpus_[r]] = r;
  for (const bool devices : {true, false}) {
    for (const Group& g : groups) {
      if ((g.kind == VertexKind::kDevice) != devices || (devices && !in_groups)) continue;
      uint32_t next = assembly_.AddVertices(g.name, g.kind, g.count);
      for (uint32_t v = g.first; v < g.first + g.count; ++v) number_[v] = next++;
    }
  }
  for (const auto& [name, count] : memory) {
    notes_.push_back(absl::StrCat("memory \"", name, "\" (", count, " of them) is left out"));
  }
}

// Adds the links, and lets messages pass through devices if necessary.
absl::Status InfraExpander::ChooseForwarding() {
  std::vector<uint16_t> classes;
  bool ici = false;
  for (const InfraLink& l : links_.links())
    classes.push_back(assembly_.AddClass({l.name, l.bandwidth, l.latency}));
  for (const InfraEdge& e : edges_) {
    const uint32_t a = number_[e.a], b = number_[e.b];
    if (a == NetworkGraph::kNone || b == NetworkGraph::kNone) continue;
    const InfraLink& link = links_.links()[e.link];
    assembly_.AddLink(a, b, classes[e.link], link.loss);
    ici = ici || (a < xpus_.size() && b < xpus_.size() && absl::AsciiStrToLower(link.name) == "ici");
  }
  if (!forward_given_ && ici) {
    forward_ = true;
    notes_.push_back("xpus forward messages: they are joined by links called \"ici\"");
  }
  auto cut = assembly_.FindCutOff(forward_);
  if (cut && !forward_given_ && !forward_ && !assembly_.FindCutOff(/*forward=*/true)) {
    forward_ = true;
    notes_.push_back(absl::StrCat("xpus forward messages: ", NameOf(xpus_[cut->first]),
                                  " has no other path to ", NameOf(xpus_[cut->second])));
    cut.reset();
  }
  if (!cut) return absl::OkStatus();
  return Bad(absl::StrCat(NameOf(xpus_[cut->second]), " cannot be reached from ", NameOf(xpus_[cut->first]),
                          "; expected edges that join all xpus"));
}

absl::StatusOr<ReadNetwork> InfraExpander::Finish() {
  for (const auto* more : {&devices_.notes(), &links_.notes()})
    notes_.insert(notes_.end(), more->begin(), more->end());
  if (!links_.unused().empty()) {
    notes_.push_back(absl::StrCat("annotations that are not used: ",
                                  absl::StrJoin(links_.unused(), ", ", [](std::string* out, const auto& u) {
                                    absl::StrAppend(out, u.first, " (", u.second, ")");
                                  })));
  }
  assembly_.set_devices_forward(forward_);
  auto out = assembly_.Finish(graph_.name(), std::move(notes_));
  return out;
}

absl::StatusOr<ReadNetwork> ExpandInfraGraph(const infragraph::Annotated& graph, const std::string& file) {
  return InfraExpander(graph, file).Expand();
}

}  // namespace chakra
