#include "trace/model/graph_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra {
namespace {

constexpr uint64_t kMul = 0x9fb21c651e98df25;

uint64_t Mix(uint64_t h, uint64_t v) {
  const unsigned __int128 m = static_cast<unsigned __int128>(h ^ v) * kMul;
  return static_cast<uint64_t>(m) ^ static_cast<uint64_t>(m >> 64);
}

// The multiply-and-fold of wyhash, in four independent chains so that the
// multiplier stays busy.
uint64_t HashBytes(uint64_t h, const void* data, size_t n) {
  const char* p = static_cast<const char*>(data);
  const auto word = [](const char* q) {
    uint64_t v;
    std::memcpy(&v, q, 8);
    return v;
  };
  h = Mix(h, n + 1);
  if (n >= 32) {
    uint64_t a = h, b = h + 1, c = h + 2, d = h + 3;
    for (; n >= 32; n -= 32, p += 32) {
      a = Mix(a, word(p));
      b = Mix(b, word(p + 8));
      c = Mix(c, word(p + 16));
      d = Mix(d, word(p + 24));
    }
    h = Mix(Mix(a, b + kMul), Mix(c, d + kMul) + 1);
  }
  for (; n >= 8; n -= 8, p += 8) h = Mix(h, word(p));
  uint64_t tail = 0;
  if (n > 0) std::memcpy(&tail, p, n);
  return Mix(h, tail + n);
}

template <typename T>
uint64_t HashColumn(uint64_t h, const std::vector<T>& v) {
  return HashBytes(h, v.data(), v.size() * sizeof(T));
}

auto Key(const Comm& c) {
  return std::make_tuple(c.bytes, c.involved_dims, c.dims_count, c.type, c.has_bytes, c.priority, c.eager,
                         c.transfer);
}
auto Key(const Work& w) {
  return std::make_tuple(w.num_ops, w.tensor_bytes, w.has_num_ops, w.has_tensor_bytes, w.comm_kind);
}

template <typename T>
bool SameRows(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const T& x, const T& y) { return Key(x) == Key(y); });
}

Time StartOf(const Graph& g, uint32_t row) { return g.start.empty() ? Time() : g.start[row]; }

void BuildChildren(Graph* g) {
  const uint32_t n = g->size();
  g->child_begin.assign(n + 1, 0);
  g->child.resize(g->dep.size());
  g->child_delay.resize(g->dep_delay.size());
  g->child_release.resize(g->dep_release.size());
  for (const uint32_t d : g->dep) ++g->child_begin[d + 1];
  for (uint32_t i = 0; i < n; ++i) g->child_begin[i + 1] += g->child_begin[i];
  std::vector<uint32_t> at(g->child_begin.begin(), g->child_begin.end() - 1);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t e = g->dep_begin[i]; e < g->dep_begin[i + 1]; ++e) {
      const uint32_t to = at[g->dep[e]]++;
      g->child[to] = i;
      if (!g->dep_delay.empty()) g->child_delay[to] = g->dep_delay[e];
      if (!g->dep_release.empty()) g->child_release[to] = g->dep_release[e];
    }
  }
}

// Sorts rows by id without comparisons, if ids are compact and no starts are recorded. False otherwise;
// `rows` is then unspecified.
bool ByCompactId(const Graph& g, std::vector<uint32_t>* rows) {
  if (!g.start.empty() || g.id.empty()) return false;
  const auto [min, max] = std::minmax_element(g.id.begin(), g.id.end());
  const uint64_t first = *min;
  if (*max - first >= uint64_t{8} * g.size()) return false;
  std::vector<uint32_t> by_id(*max - first + 1, kNoRow);
  for (uint32_t i = 0; i < g.size(); ++i) by_id[g.id[i] - first] = i;
  rows->clear();
  for (const uint32_t row : by_id) {
    if (row != kNoRow) rows->push_back(row);
  }
  return rows->size() == g.size();  // else two nodes have one id
}

// Rows by (start, id).
std::vector<uint32_t> ByKey(const Graph& g) {
  std::vector<uint32_t> rows(g.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto less = [&g](uint32_t a, uint32_t b) {
    return std::make_tuple(StartOf(g, a), g.id[a]) < std::make_tuple(StartOf(g, b), g.id[b]);
  };
  if (std::is_sorted(rows.begin(), rows.end(), less) || ByCompactId(g, &rows)) return rows;
  rows.resize(g.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), less);
  return rows;
}

// A set of numbers below n from which the least can be taken. The lowest level has a bit for each number;
// each level above has a bit for each word of the level below that is not 0.
class LeastFirst {
 public:
  explicit LeastFirst(uint32_t n) {
    do {
      n = (n + 63) / 64;
      level_.emplace_back(n);
    } while (n > 1);
  }
  bool empty() const { return level_.back()[0] == 0; }
  void Add(uint32_t i) {
    for (std::vector<uint64_t>& words : level_) {
      const uint64_t before = words[i / 64];
      words[i / 64] |= uint64_t{1} << i % 64;
      if (before != 0) return;
      i /= 64;
    }
  }
  // Precondition: not empty.
  uint32_t Take() {
    uint32_t i = 0;
    for (size_t l = level_.size(); l-- > 0;)
      i = i * 64 + static_cast<uint32_t>(std::countr_zero(level_[l][i]));
    uint32_t gone = i;
    for (std::vector<uint64_t>& words : level_) {
      words[gone / 64] &= ~(uint64_t{1} << gone % 64);
      if (words[gone / 64] != 0) break;
      gone /= 64;
    }
    return i;
  }

 private:
  std::vector<std::vector<uint64_t>> level_;
};

std::string NodeText(const Graph& g, uint32_t row) {
  return absl::StrCat(g.id[row], " (\"", g.name_of(row), "\")");
}

// Precondition: the rows with unmet dependencies hold a cycle.
absl::Status CycleError(const Graph& g, const std::vector<uint32_t>& unmet, absl::string_view subject,
                        const std::vector<uint64_t>& offsets) {
  uint32_t row = 0;
  while (unmet[row] == 0) ++row;
  std::vector<uint32_t> seen_at(g.size(), kNoRow);
  std::vector<uint32_t> path;
  while (seen_at[row] == kNoRow) {
    seen_at[row] = static_cast<uint32_t>(path.size());
    path.push_back(row);
    uint32_t e = g.dep_begin[row];
    while (unmet[g.dep[e]] == 0) ++e;
    row = g.dep[e];
  }
  std::vector<std::string> names;
  constexpr size_t kShown = 16;
  const size_t length = path.size() - seen_at[row];
  for (size_t i = seen_at[row]; i < path.size() && names.size() < kShown; ++i) {
    names.push_back(NodeText(g, path[i]));
  }
  if (length > kShown) names.push_back(absl::StrCat("... ", length - kShown, " more"));
  names.push_back(NodeText(g, row));
  return absl::InvalidArgumentError(
      absl::StrCat(subject, ", node ", g.id[row], ", fields data_deps and ctrl_deps",
                   row < offsets.size() ? absl::StrCat(", byte ", offsets[row]) : "",
                   ": the dependencies form a cycle of ", length,
                   " nodes, expected none: ", absl::StrJoin(names, " waits for ")));
}

}  // namespace

absl::Status FinishGraph(Graph* g, absl::string_view subject, const std::vector<uint64_t>& offsets) {
  const uint32_t n = g->size();
  BuildChildren(g);
  std::vector<uint32_t> rows = ByKey(*g);
  std::vector<uint32_t> place(n);
  for (uint32_t i = 0; i < n; ++i) place[rows[i]] = i;
  bool sorted = true;
  for (uint32_t i = 0; i < n && sorted; ++i) {
    for (uint32_t e = g->dep_begin[i]; e < g->dep_begin[i + 1]; ++e) sorted &= place[g->dep[e]] < place[i];
  }
  if (sorted) {  // then the smallest key is always ready
    g->order = std::move(rows);
    return absl::OkStatus();
  }
  std::vector<uint32_t> unmet(n);
  LeastFirst ready(n);  // of places
  for (uint32_t i = 0; i < n; ++i) {
    unmet[i] = g->dep_begin[i + 1] - g->dep_begin[i];
    if (unmet[i] == 0) ready.Add(place[i]);
  }
  g->order.reserve(n);
  while (!ready.empty()) {
    const uint32_t row = rows[ready.Take()];
    g->order.push_back(row);
    for (uint32_t e = g->child_begin[row]; e < g->child_begin[row + 1]; ++e) {
      if (--unmet[g->child[e]] == 0) ready.Add(place[g->child[e]]);
    }
  }
  if (g->order.size() < n) return CycleError(*g, unmet, subject, offsets);
  return absl::OkStatus();
}

uint64_t ContentHash(const Graph& g) {
  uint64_t h = HashColumn(kMul, g.id);
  h = HashColumn(h, g.name);
  h = HashColumn(h, g.type);
  h = HashColumn(h, g.flags);
  h = HashColumn(h, g.start);
  h = HashColumn(h, g.duration);
  h = HashColumn(h, g.lane);
  h = HashColumn(h, g.payload);
  h = HashColumn(h, g.shapes);
  h = HashColumn(h, g.types);
  h = HashColumn(h, g.dep_begin);
  h = HashColumn(h, g.dep);
  h = HashColumn(h, g.dep_delay);
  h = HashColumn(h, g.dep_cause);
  h = HashColumn(h, g.dep_release);
  for (const auto& [dep, part] : g.dep_unexplained) h = Mix(Mix(h, dep), static_cast<uint64_t>(part.picos()));
  for (const Comm& c : g.comm) {
    h = Mix(Mix(h, c.bytes), uint64_t{c.involved_dims} << 32 | static_cast<uint32_t>(c.priority));
    h = Mix(h, static_cast<uint64_t>(c.transfer.picos()) * 2 + (c.eager ? 1 : 0));
    h = Mix(h, uint64_t{c.dims_count} << 16 | c.type << 1 | (c.has_bytes ? 1 : 0));
  }
  for (const Work& w : g.work) {
    h = Mix(Mix(h, static_cast<uint64_t>(w.num_ops)), w.tensor_bytes + (w.has_num_ops ? 1 : 0));
    h = Mix(h, uint64_t{w.comm_kind} << 1 | (w.has_tensor_bytes ? 1 : 0));
  }
  const absl::string_view last = g.strings.Get(g.strings.size() - 1);
  const char* begin = g.strings.Get(0).data();
  return HashBytes(h, begin, static_cast<size_t>(last.data() + last.size() - begin));
}

bool SameContent(const Graph& a, const Graph& b) {
  return a.id == b.id && a.name == b.name && a.type == b.type && a.flags == b.flags && a.start == b.start &&
         a.duration == b.duration && a.lane == b.lane && a.payload == b.payload && a.shapes == b.shapes &&
         a.types == b.types && a.dep_begin == b.dep_begin && a.dep == b.dep && a.dep_delay == b.dep_delay &&
         a.dep_cause == b.dep_cause && a.dep_unexplained == b.dep_unexplained &&
         a.dep_release == b.dep_release && SameRows(a.comm, b.comm) && SameRows(a.work, b.work) &&
         a.strings == b.strings;
}

std::shared_ptr<const Graph> GraphPool::Find(const Graph& graph, uint64_t hash) {
  std::vector<std::shared_ptr<const Graph>> candidates;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = graphs_.find(hash);
    if (it != graphs_.end()) candidates = it->second;
  }
  for (const auto& c : candidates) {
    if (SameContent(*c, graph)) return c;
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const Graph>> GraphPool::Intern(const Graph& graph, absl::string_view subject,
                                                               const std::vector<uint64_t>& offsets) {
  const uint64_t hash = ContentHash(graph);
  if (auto found = Find(graph, hash)) return found;
  auto copy = std::make_shared<Graph>(graph);
  copy->strings.Shrink();
  if (absl::Status s = FinishGraph(copy.get(), subject, offsets); !s.ok()) return s;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (count_ >= most_) {
    graphs_.clear();
    count_ = 0;
  }
  auto& same_hash = graphs_[hash];
  for (const auto& c : same_hash) {  // another thread may have added an equal graph meanwhile
    if (SameContent(*c, *copy)) return c;
  }
  same_hash.push_back(copy);
  ++count_;
  return std::shared_ptr<const Graph>(copy);
}

}  // namespace chakra
