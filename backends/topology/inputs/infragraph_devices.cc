#include "backends/topology/inputs/infragraph_devices.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/inputs/assembly.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using infragraph::Component;

constexpr size_t kMaxDepth = 16;
// Maximum number of vertices that all rules together may select.
constexpr uint64_t kMaxSelected = uint64_t{1} << 27;

}  // namespace

absl::Status CheckInfraName(absl::string_view what, absl::string_view name) {
  constexpr absl::string_view kSigns = " \t-_()><";
  const bool good = std::all_of(name.begin(), name.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kSigns.find(c) != absl::string_view::npos;
  });
  if (!name.empty() && good && absl::StripAsciiWhitespace(name) == name) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, name.empty() ? " without a name" : absl::StrCat(" \"", name, "\": a name"),
                   "; expected letters, digits and any of - _ ( ) > <, blanks within"));
}

const InfraDevice::Row* InfraDevice::Find(absl::string_view name) const {
  for (const Row& row : rows) {
    if (row.component->name() == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> InfraDevice::Names() const {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.component->name());
  return names;
}

void ForEachRow(const InfraDevice& device, const std::string& prefix, uint32_t base,
                const std::function<void(const InfraDevice::Row&, const std::string&, uint32_t)>& fn) {
  for (const InfraDevice::Row& row : device.rows) {
    const std::string name = absl::StrCat(prefix, row.component->name());
    if (row.of == nullptr) {
      fn(row, name, base + row.first);
      continue;
    }
    for (uint32_t i = 0; i < row.count; ++i) {
      ForEachRow(*row.of, absl::StrCat(name, ".", i, "."), base + row.first + i * row.of->size, fn);
    }
  }
}

absl::Status InfraDevices::Spend(uint64_t vertices, uint64_t edges) {
  selected_ += vertices;
  edges_ += edges;
  if (selected_ <= kMaxSelected && edges_ <= kMaxReadLinks) return absl::OkStatus();
  return BadNetwork(file_,
                    absl::StrCat("the edges select more than ", kMaxSelected, " vertices or make more than ",
                                 kMaxReadLinks, " links, the supported maximum"));
}

absl::Status InfraDevices::CheckDevice(const infragraph::Device& device) {
  const std::string where = absl::StrCat("device \"", device.name(), "\"");
  std::set<std::string> names, links;
  for (const Component& c : device.components()) {
    RETURN_IF_ERROR(CheckInfraName(absl::StrCat(where, ": component"), c.name()));
    const std::string at = absl::StrCat(where, ": component \"", c.name(), "\"");
    if (!names.insert(c.name()).second)
      return absl::InvalidArgumentError(absl::StrCat(at, " is there twice"));
    if (c.choice() == Component::Choice::unspecified) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, " has no choice; expected custom, device, cpu, xpu, nic, memory, port or switch"));
    }
    if (c.count() < 1)
      return absl::InvalidArgumentError(absl::StrCat(at, ": count is ", c.count(), "; expected >= 1"));
  }
  for (const infragraph::Link& l : device.links()) {
    if (!links.insert(l.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": link \"", l.name(), "\" is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status InfraDevices::Check() {
  for (const infragraph::Device& d : graph_->devices()) {
    absl::Status s = CheckInfraName("device", d.name());
    if (s.ok() && !by_name_.try_emplace(d.name(), &d).second) {
      s = absl::InvalidArgumentError(absl::StrCat("device \"", d.name(), "\" is there twice"));
    }
    if (s.ok()) s = CheckDevice(d);
    if (!s.ok()) return BadNetwork(file_, s.message());
  }
  return absl::OkStatus();
}

std::vector<std::string> InfraDevices::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, device] : by_name_) names.push_back(name);
  return names;
}

absl::StatusOr<const InfraDevice*> InfraDevices::Get(absl::string_view name) {
  const auto it = by_name_.find(std::string(name));
  if (it == by_name_.end()) return nullptr;
  if (const auto done = done_.find(it->first); done != done_.end()) return done->second.get();
  within_.push_back(it->first);
  if (std::count(within_.begin(), within_.end(), it->first) > 1 || within_.size() > kMaxDepth) {
    return BadNetwork(file_,
                      absl::StrCat("devices within devices: ", absl::StrJoin(within_, " > "),
                                   "; expected no device within itself, and at most ", kMaxDepth, " levels"));
  }
  auto expanded = std::make_unique<InfraDevice>();
  RETURN_IF_ERROR(Expand(*it->second, expanded.get()));
  within_.pop_back();
  return done_.emplace(it->first, std::move(expanded)).first->second.get();
}

absl::Status InfraDevices::AddRow(const Component& c, InfraDevice* out) {
  const std::string where =
      absl::StrCat(file_, ": device \"", out->device->name(), "\": component \"", c.name(), "\"");
  const InfraDevice* of = nullptr;
  if (c.choice() == Component::Choice::device) {
    ASSIGN_OR_RETURN(const auto inner, Get(c.name()));
    if (inner == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": there is no device of this name", SuggestName(c.name(), Names())));
    }
    of = inner;
  }
  const auto count = static_cast<uint32_t>(c.count());
  const uint64_t added = uint64_t{count} * (of == nullptr ? 1 : of->size);
  const uint64_t edges = of == nullptr ? 0 : uint64_t{count} * of->edges.size();
  if (out->size + added > kMaxReadVertices) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": count is ", c.count(), "; expected at most ",
                                                   kMaxReadVertices, " vertices in a device"));
  }
  RETURN_IF_ERROR(Spend(added, edges));
  out->rows.push_back({&c, out->size, count, of});
  if (of == nullptr) {
    out->choice.insert(out->choice.end(), count, static_cast<uint8_t>(c.choice()));
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t base = out->size + i * of->size;
      out->choice.insert(out->choice.end(), of->choice.begin(), of->choice.end());
      for (const InfraEdge& e : of->edges) out->edges.push_back({base + e.a, base + e.b, e.link});
    }
  }
  out->size += static_cast<uint32_t>(added);
  return absl::OkStatus();
}

absl::Status InfraDevices::Expand(const infragraph::Device& device, InfraDevice* out) {
  out->device = &device;
  for (const Component& c : device.components()) {
    RETURN_IF_ERROR(AddRow(c, out));
  }
  return AddEdges(out);
}

absl::Status InfraDevices::Ends(const infragraph::DeviceEndpoint& end, const InfraDevice& device,
                                const std::string& where, std::vector<uint32_t>* out) {
  std::string text = end.component();
  if (!end.device().empty()) text = absl::StrCat(end.device(), ".", text);
  const auto path = ParseSlices(text);
  absl::Status s = path.status();
  if (s.ok()) s = Select(device, *path, 0, /*partial=*/false, out);
  if (s.ok()) return Spend(out->size(), 0);
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", s.message()));
}

absl::Status InfraDevices::Select(const InfraDevice& device, const std::vector<Slice>& path, uint32_t base,
                                  bool partial, std::vector<uint32_t>* out) {
  if (path.empty()) {
    for (uint32_t v = 0; v < device.size; ++v) out->push_back(base + v);
    return absl::OkStatus();
  }
  const InfraDevice::Row* row = device.Find(path[0].name);
  if (row == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("device \"", device.device->name(),
                                                   "\" has no component \"", path[0].name, "\"",
                                                   SuggestName(path[0].name, device.Names())));
  }
  ASSIGN_OR_RETURN(const auto slice, Within(path[0], row->count));
  if (row->of == nullptr) {
    if (path.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("\"", path[0].name,
                                                     "\" is a component without parts; expected ",
                                                     "nothing after it, found \"", path[1].name, "\""));
    }
    for (uint64_t i = slice.begin; i < slice.end; i += slice.step) {
      out->push_back(base + row->first + static_cast<uint32_t>(i));
    }
    return absl::OkStatus();
  }
  if (path.size() == 1 && !partial) {
    return absl::InvalidArgumentError(absl::StrCat("\"", path[0].name,
                                                   "\" is a device; expected one of its components (",
                                                   absl::StrJoin(row->of->Names(), ", "), ")"));
  }
  const std::vector<Slice> rest(path.begin() + 1, path.end());
  for (uint64_t i = slice.begin; i < slice.end; i += slice.step) {
    const uint32_t first = base + row->first + static_cast<uint32_t>(i) * row->of->size;
    RETURN_IF_ERROR(Select(*row->of, rest, first, partial, out));
    if (out->size() > kMaxReadVertices) return Spend(kMaxSelected + 1, 0);
  }
  return absl::OkStatus();
}

absl::Status InfraDevices::Connect(infragraph::Scheme::Enum scheme, const std::vector<uint32_t>& left,
                                   const std::vector<uint32_t>& right, const std::string& where,
                                   std::vector<InfraEdge>* edges) {
  using infragraph::Scheme;
  if (scheme == Scheme::unspecified) {
    if (left.size() != 1 || right.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": no scheme between ", left.size(), " and ",
                                                     right.size(),
                                                     " vertices; expected one2one, many2many or ring"));
    }
    scheme = Scheme::one2one;
  }
  const size_t before = edges->size();
  const auto add = [&](uint32_t a, uint32_t b) {
    if (a != b) edges->push_back({std::min(a, b), std::max(a, b), 0});
  };
  if (scheme == Scheme::one2one) {
    const size_t n = std::min(left.size(), right.size());
    if (left.size() != right.size()) {
      notes_.push_back(absl::StrCat(where, ": one2one between ", left.size(), " and ", right.size(),
                                    " vertices joins only the first ", n));
    }
    RETURN_IF_ERROR(Spend(0, n));
    for (size_t i = 0; i < n; ++i) add(left[i], right[i]);
  } else if (scheme == Scheme::many2many) {
    RETURN_IF_ERROR(Spend(0, uint64_t{left.size()} * right.size()));
    for (const uint32_t a : left) {
      for (const uint32_t b : right) add(a, b);
    }
  } else {
    std::vector<uint32_t> way = left;
    const std::set<uint32_t> seen(left.begin(), left.end());
    for (const uint32_t v : right) {
      if (seen.count(v) == 0) way.push_back(v);
    }
    RETURN_IF_ERROR(Spend(0, way.size()));
    for (size_t i = 0; i < way.size(); ++i) add(way[i], way[(i + 1) % way.size()]);
  }
  if (edges->size() > before) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": joins a vertex only with itself; expected two different ones"));
}

absl::Status InfraDevices::AddEdges(InfraDevice* out) {
  const size_t first = out->edges.size();
  const infragraph::Device& device = *out->device;
  for (int i = 0; i < device.edges_size(); ++i) {
    const infragraph::DeviceEdge& edge = device.edges(i);
    const std::string where = absl::StrCat(file_, ": device \"", device.name(), "\": edges[", i, "]");
    std::vector<uint32_t> left, right;
    absl::Status s = Ends(edge.ep1(), *out, absl::StrCat(where, ".ep1"), &left);
    if (s.ok()) s = Ends(edge.ep2(), *out, absl::StrCat(where, ".ep2"), &right);
    const size_t before = out->edges.size();
    if (s.ok()) s = Connect(edge.scheme(), left, right, where, &out->edges);
    if (!s.ok()) return s;
    std::vector<std::string> names;
    for (const infragraph::Link& l : device.links()) names.push_back(l.name());
    const auto it = std::find(names.begin(), names.end(), edge.link());
    if (it == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": the device has no link \"", edge.link(), "\"",
                                                     SuggestName(edge.link(), names)));
    }
    // Until ResolveLinks(), `link` is the number of the link within the device.
    for (size_t e = before; e < out->edges.size(); ++e) {
      out->edges[e].link = static_cast<uint32_t>(it - names.begin());
    }
  }
  return ResolveLinks(first, out);
}

// Replaces the link numbers of the device's own edges [first, end) by numbers of InfraLinks.
absl::Status InfraDevices::ResolveLinks(size_t first, InfraDevice* out) {
  const auto links = static_cast<size_t>(out->device->links_size());
  std::vector<InfraLinkUse> use(links);
  std::vector<bool> used(links, false);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> at_xpu;  // by link and xpu
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  const bool has_xpu =
      std::count(out->choice.begin(), out->choice.end(), static_cast<uint8_t>(Component::Choice::xpu)) > 0;
  for (size_t e = first; e < out->edges.size(); ++e) {
    const InfraEdge& edge = out->edges[e];
    used[edge.link] = true;
    InfraLinkUse& u = use[edge.link];
    const bool again = !pairs.emplace(edge.a, edge.b).second;
    for (const uint32_t v : {edge.a, edge.b}) {
      u.at_port = u.at_port || out->choice[v] == Component::Choice::port;
      if (again || out->choice[v] != Component::Choice::xpu) continue;
      u.xpu_edges = std::max(u.xpu_edges, ++at_xpu[{edge.link, v}]);
    }
  }
  std::vector<uint32_t> number(links, 0);
  for (size_t l = 0; l < links; ++l) {
    if (!used[l]) continue;
    use[l].device = out->device;
    use[l].has_xpu = has_xpu;
    ASSIGN_OR_RETURN(number[l], links_->Resolve(out->device->links(static_cast<int>(l)), use[l]));
  }
  for (size_t e = first; e < out->edges.size(); ++e) out->edges[e].link = number[out->edges[e].link];
  return absl::OkStatus();
}

}  // namespace chakra
