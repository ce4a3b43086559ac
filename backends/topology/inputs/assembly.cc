#include "backends/topology/inputs/assembly.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"

namespace chakra {

absl::Status BadNetwork(const std::string& file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
}

std::string PrintRuns(const std::vector<uint32_t>& numbers, size_t most) {
  std::string out;
  size_t runs = 0;
  for (size_t i = 0; i < numbers.size(); ++runs) {
    size_t j = i + 1;
    while (j < numbers.size() && numbers[j] == numbers[j - 1] + 1) ++j;
    if (runs == most) return absl::StrCat(out, " and ", numbers.size() - i, " more");
    absl::StrAppend(&out, out.empty() ? "" : ", ", numbers[i]);
    if (j > i + 1) absl::StrAppend(&out, "-", numbers[j - 1]);
    i = j;
  }
  return out;
}

uint32_t NetworkAssembly::AddVertices(absl::string_view name, VertexKind kind, uint32_t count, int tier,
                                      std::vector<int> shape) {
  const auto first = static_cast<uint32_t>(vertices_);
  if (count > 0) groups_.push_back({std::string(name), kind, first, count, tier, std::move(shape)});
  if (kind == VertexKind::kDevice) devices_ += count;
  vertices_ += count;
  return first;
}

void NetworkAssembly::AddLink(uint32_t a, uint32_t b, uint16_t link_class, double loss) {
  if (loss > 0) losses_.emplace_back(links_.size(), loss);
  links_.emplace_back(a, b);
  class_.push_back(link_class);
}

std::vector<int> LinksToNearest(uint64_t vertices, const std::vector<std::pair<uint32_t, uint32_t>>& links,
                                const std::vector<uint32_t>& sources) {
  const auto n = static_cast<size_t>(vertices);
  std::vector<uint32_t> first(n + 1, 0);
  for (const auto& [a, b] : links) ++first[a + 1], ++first[b + 1];
  for (size_t v = 0; v < n; ++v) first[v + 1] += first[v];
  std::vector<uint32_t> next(first.begin(), first.end() - 1), target(2 * links.size());
  for (const auto& [a, b] : links) {
    target[next[a]++] = b;
    target[next[b]++] = a;
  }
  std::vector<int> distance(n, -1);
  std::vector<uint32_t> queue = sources;
  for (const uint32_t v : sources) distance[v] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t v = queue[i];
    for (uint32_t e = first[v]; e < first[v + 1]; ++e) {
      if (distance[target[e]] >= 0) continue;
      distance[target[e]] = distance[v] + 1;
      queue.push_back(target[e]);
    }
  }
  return distance;
}

absl::StatusOr<ReadNetwork> NetworkAssembly::Finish(std::string note, std::vector<std::string> notes) {
  std::vector<uint32_t> devices(devices_);
  std::iota(devices.begin(), devices.end(), 0u);
  const std::vector<int> distance = LinksToNearest(vertices_, links_, devices);
  for (VertexGroup& g : groups_) {
    if (g.tier == kTierByDistance) {
      int least = -1;
      for (uint32_t v = g.first; v < g.first + g.count; ++v) {
        if (distance[v] >= 0 && (least < 0 || distance[v] < least)) least = distance[v];
      }
      g.tier = least < 0 ? 1 : least;
    }
    builder_.AddVertices(g.name, g.kind, g.count, g.tier, g.shape);
  }
  for (size_t i = 0; i < links_.size(); ++i) builder_.AddLink(links_[i].first, links_[i].second, class_[i]);
  builder_.set_devices_forward(forward_);
  auto graph = builder_.Build();
  if (!graph.ok()) return BadNetwork(file_, graph.status().message());

  ReadNetwork out;
  const auto lost = static_cast<uint64_t>(std::count(distance.begin(), distance.end(), -1));
  if (lost > 0) {
    const auto it = std::find(distance.begin(), distance.end(), -1);
    const auto v = static_cast<uint32_t>(it - distance.begin());
    notes.push_back(absl::StrCat(lost, lost == 1 ? " vertex is" : " vertices are",
                                 " without a path to a device: ", graph->VertexName(v),
                                 lost == 1 ? "" : " is the first"));
  }
  // A vertex's arcs in the graph are in the order of its links.
  if (!losses_.empty()) {
    std::vector<uint32_t> seen(graph->vertices(), 0);
    auto loss = losses_.begin();
    for (size_t i = 0; i < links_.size() && loss != losses_.end(); ++i) {
      const auto [a, b] = links_[i];
      const uint32_t arc = graph->begin(a) + seen[a]++;
      ++seen[b];
      if (loss->first == i) out.losses.push_back({arc, (loss++)->second});
    }
    std::sort(out.losses.begin(), out.losses.end(),
              [](const LinkLoss& a, const LinkLoss& b) { return a.arc < b.arc; });
  }
  out.network = Network{*std::move(graph), nullptr, std::move(note)};
  out.notes = std::move(notes);
  return out;
}

namespace {

// The vertices that each device reaches without passing another device: islands (connected parts of
// forwarding vertices), and neighbouring devices.
struct Reach {
  std::vector<std::vector<uint32_t>> islands;  // by device; sorted, distinct
  std::vector<std::vector<uint32_t>> beside;   // by device
  std::vector<std::vector<uint32_t>> members;  // by island: its devices
};

Reach FindReach(uint64_t vertices, uint32_t devices,
                const std::vector<std::pair<uint32_t, uint32_t>>& links) {
  std::vector<uint32_t> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& [a, b] : links) {
    if (a >= devices && b >= devices) parent[root(a)] = root(b);
  }
  Reach r;
  r.islands.resize(devices);
  r.beside.resize(devices);
  r.members.resize(vertices);
  for (const auto& [a, b] : links) {
    const uint32_t low = std::min(a, b), high = std::max(a, b);
    if (low >= devices) continue;
    if (high >= devices) {
      r.islands[low].push_back(root(high));
    } else {
      r.beside[low].push_back(high);
      r.beside[high].push_back(low);
    }
  }
  for (uint32_t d = 0; d < devices; ++d) {
    auto& islands = r.islands[d];
    std::sort(islands.begin(), islands.end());
    islands.erase(std::unique(islands.begin(), islands.end()), islands.end());
    for (const uint32_t i : islands) r.members[i].push_back(d);
  }
  return r;
}

}  // namespace

std::optional<std::pair<uint32_t, uint32_t>> NetworkAssembly::FindCutOff(bool forward) const {
  using Pair = std::pair<uint32_t, uint32_t>;
  if (devices_ < 2) return std::nullopt;
  if (forward) {
    const std::vector<int> distance = LinksToNearest(vertices_, links_, {0});
    for (uint32_t d = 0; d < devices_; ++d) {
      if (distance[d] < 0) return Pair{0, d};
    }
    return std::nullopt;
  }
  constexpr uint64_t kMostSteps = uint64_t{1} << 27;
  const Reach r = FindReach(vertices_, devices_, links_);
  for (const auto& members : r.members) {
    if (members.size() == devices_) return std::nullopt;
  }
  std::vector<uint32_t> mark(devices_, NetworkGraph::kNone);
  std::set<std::vector<uint32_t>> whole;  // sets of islands that together reach all devices
  uint64_t steps = 0;
  for (uint32_t d = 0; d < devices_ && steps < kMostSteps; ++d) {
    if (whole.count(r.islands[d]) > 0) continue;
    uint32_t reached = 0;
    const auto take = [&](uint32_t v) {
      ++steps;
      if (mark[v] != d) ++reached;
      mark[v] = d;
    };
    take(d);
    for (const uint32_t i : r.islands[d]) {
      for (const uint32_t v : r.members[i]) take(v);
    }
    if (reached == devices_) whole.insert(r.islands[d]);
    for (const uint32_t v : r.beside[d]) take(v);
    if (reached == devices_) continue;
    for (uint32_t v = 0; v < devices_; ++v) {
      if (mark[v] != d) return Pair{d, v};
    }
  }
  return std::nullopt;
}

}  // namespace chakra
