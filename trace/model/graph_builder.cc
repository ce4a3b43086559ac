#include "trace/model/graph_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr uint64_t kMul = 0x9fb21c651e98df25;

uint64_t Mix(uint64_t h, uint64_t v) {
  const unsigned __int128 m = static_cast<unsigned __int128>(h ^ v) * kMul;
  return static_cast<uint64_t>(m) ^ static_cast<uint64_t>(m >> 64);
}

// The multiply-and-fold step of wyhash, in four independent chains, so that the multiplier is always busy.
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

uint64_t HashRow(uint64_t h, const Comm& c) {
  h = Mix(Mix(h, c.bytes), uint64_t{c.involved_dims} << 32 | static_cast<uint32_t>(c.priority));
  return Mix(h, uint64_t{c.dims_count} << 16 | c.type << 2 | (c.has_bytes ? 2 : 0) | (c.eager ? 1 : 0));
}
uint64_t HashRow(uint64_t h, const Work& w) {
  h = Mix(Mix(h, static_cast<uint64_t>(w.num_ops)), w.tensor_bytes + (w.has_num_ops ? 1 : 0));
  return Mix(h, uint64_t{w.comm_kind} << 1 | (w.has_tensor_bytes ? 1 : 0));
}
uint64_t HashRow(uint64_t h, const std::pair<uint32_t, Time>& p) {
  return Mix(Mix(h, p.first), static_cast<uint64_t>(p.second.picos()));
}

// Hashes any kind of column.
template <typename C>
uint64_t HashColumn(uint64_t h, const C& v) {
  using T = typename C::value_type;
  if constexpr (std::has_unique_object_representations_v<T> && !std::is_class_v<T>) {
    return HashBytes(h, v.data(), v.size() * sizeof(T));
  } else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Peer>) {
    static_assert(std::has_unique_object_representations_v<T>);
    return HashBytes(h, v.data(), v.size() * sizeof(T));
  } else {
    for (const T& row : v) h = HashRow(h, row);
    return Mix(h, v.size());
  }
}

template <typename T>
uint64_t HashColumn(uint64_t h, const NarrowColumn<T>& v) {
  if (v.plain() == nullptr && !v.empty()) return HashColumn(h, v.ToVector());
  return HashBytes(h, v.plain(), v.size() * sizeof(T));
}

auto Key(const Comm& c) {
  return std::make_tuple(c.bytes, c.involved_dims, c.dims_count, c.type, c.has_bytes, c.priority, c.eager);
}
auto Key(const Work& w) {
  return std::make_tuple(w.num_ops, w.tensor_bytes, w.has_num_ops, w.has_tensor_bytes, w.comm_kind);
}
auto Key(const Peer& p) { return std::make_tuple(p.src, p.dst, p.tag, p.root, p.group); }
template <typename T>
const T& Key(const T& value) {
  return value;
}

template <typename A, typename B>
bool InOnePlace(const A& a, const B& b) {
  return a.data() == b.data();
}
template <typename T>
bool InOnePlace(const NarrowColumn<T>& a, const NarrowColumn<T>& b) {
  return a.Shares(b);
}
template <typename T>
bool InOnePlace(const NarrowColumn<T>&, const std::vector<T>&) {
  return false;
}

template <typename A, typename B>
bool Same(const A& a, const B& b) {
  return a.size() == b.size() &&
         (InOnePlace(a, b) || std::equal(a.begin(), a.end(), b.begin(),
                                         [](const auto& x, const auto& y) { return Key(x) == Key(y); }));
}

Time StartOf(const GraphDraft& g, uint32_t row) { return g.start.empty() ? Time() : g.start[row]; }

void BuildChildren(GraphDraft* g) {
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

// Sorts rows by id without comparisons, if ids are compact and no starts are recorded. Otherwise returns
// false; `rows` is then unspecified.
bool ByCompactId(const GraphDraft& g, std::vector<uint32_t>* rows) {
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
  return rows->size() == g.size();  // false: two nodes have the same id
}

// Returns the rows sorted by (start, id).
std::vector<uint32_t> ByKey(const GraphDraft& g) {
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

// A set of numbers below n that can return its minimum. The lowest level has a bit for each number; each
// higher level has a bit for each nonzero word of the level below.
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
  // Removes and returns the minimum. Precondition: not empty.
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

std::string NodeText(const GraphDraft& g, uint32_t row) {
  return absl::StrCat(g.id[row], " (\"", g.name_of(row), "\")");
}

// Precondition: some of the rows with unmet dependencies form a cycle.
absl::Status CycleError(const GraphDraft& g, const std::vector<uint32_t>& unmet, absl::string_view subject,
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

void ClearDraft(GraphDraft* g) {
  const auto clear = [](auto&... columns) { (columns.clear(), ...); };
  clear(g->id, g->name, g->type, g->flags, g->start, g->duration, g->lane, g->payload, g->shapes, g->types,
        g->code, g->factor, g->comm, g->transfer, g->work, g->dep_begin, g->dep, g->dep_delay, g->dep_cause,
        g->dep_unexplained, g->dep_release, g->child_begin, g->child, g->child_delay, g->child_release,
        g->order);
  g->strings.Clear();
}

void DropEmptyColumns(GraphDraft* g) {
  const auto drop = [](auto* column, const auto& none) {
    if (std::all_of(column->begin(), column->end(), [&](const auto& v) { return v == none; }))
      column->clear();
  };
  drop(&g->lane, kNoLane);
  drop(&g->shapes, uint32_t{0});
  drop(&g->types, uint32_t{0});
  drop(&g->code, uint32_t{0});
  drop(&g->factor, uint32_t{0});
  drop(&g->transfer, Time::Never());
}

absl::Status FinishGraph(GraphDraft* g, absl::string_view subject, const std::vector<uint64_t>& offsets) {
  const uint32_t n = g->size();
  g->order.clear();
  BuildChildren(g);
  std::vector<uint32_t> rows = ByKey(*g);
  std::vector<uint32_t> place(n);
  for (uint32_t i = 0; i < n; ++i) place[rows[i]] = i;
  bool sorted = true;
  for (uint32_t i = 0; i < n && sorted; ++i) {
    for (uint32_t e = g->dep_begin[i]; e < g->dep_begin[i + 1]; ++e) sorted &= place[g->dep[e]] < place[i];
  }
  if (sorted) {  // the row with the smallest key is then always ready
    g->order = std::move(rows);
    return absl::OkStatus();
  }
  std::vector<uint32_t> unmet(n);
  LeastFirst ready(n);  // set of positions in `rows`
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

namespace {

template <typename G>
uint64_t HashOf(const G& g) {
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
  if (!g.code.empty()) h = HashColumn(h, g.code);
  if (!g.factor.empty()) h = HashColumn(h, g.factor);
  h = HashColumn(h, g.dep_begin);
  h = HashColumn(h, g.dep);
  h = HashColumn(h, g.dep_delay);
  h = HashColumn(h, g.dep_cause);
  h = HashColumn(h, g.dep_release);
  h = HashColumn(h, g.dep_unexplained);
  h = HashColumn(h, g.comm);
  h = HashColumn(h, g.transfer);
  h = HashColumn(h, g.work);
  const absl::string_view last = g.strings.Get(g.strings.size() - 1);
  const char* begin = g.strings.Get(0).data();
  return HashBytes(h, begin, static_cast<size_t>(last.data() + last.size() - begin));
}

template <typename A, typename B>
bool SameGraphs(const A& a, const B& b) {
  return Same(a.id, b.id) && Same(a.name, b.name) && Same(a.type, b.type) && Same(a.flags, b.flags) &&
         Same(a.start, b.start) && Same(a.duration, b.duration) && Same(a.lane, b.lane) &&
         Same(a.payload, b.payload) && Same(a.shapes, b.shapes) && Same(a.types, b.types) &&
         Same(a.code, b.code) && Same(a.factor, b.factor) && Same(a.dep_begin, b.dep_begin) &&
         Same(a.dep, b.dep) && Same(a.dep_delay, b.dep_delay) && Same(a.dep_cause, b.dep_cause) &&
         Same(a.dep_unexplained, b.dep_unexplained) && Same(a.dep_release, b.dep_release) &&
         Same(a.comm, b.comm) && Same(a.transfer, b.transfer) && Same(a.work, b.work) &&
         a.strings == b.strings;
}

// Copies `values` without spare memory.
template <typename T>
Column<T> Own(const std::vector<T>& values) {
  std::vector<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.begin());
  return Column<T>(std::move(copy));
}

// Shares all columns except those of times and releases: times differ even between ranks that do the same.
std::shared_ptr<Graph> WithSharedColumns(GraphDraft* g, ColumnPool* pool, Keep keep) {
  auto out = std::make_shared<Graph>();
  const bool recording = keep == Keep::kRecording;
  const auto free = [&](auto* values) {
    if (recording) std::remove_reference_t<decltype(*values)>().swap(*values);
  };
  const auto times = [&](std::vector<Time>* values) {
    auto column =
        keep == Keep::kPlain ? NarrowColumn<Time>(Own(*values)) : NarrowColumn<Time>::Narrow(*values);
    free(values);
    return column;
  };
  const auto rows = [&](auto* values) {
    using T = typename std::remove_reference_t<decltype(*values)>::value_type;
    NarrowColumn<T> column = recording ? pool->ShareNarrow(*values) : NarrowColumn<T>(pool->Share(*values));
    free(values);
    return column;
  };
  const auto own = [&](auto* values) {
    auto column = Own(*values);
    free(values);
    return column;
  };
  const auto share = [&](auto* values) {
    auto column = pool->Share(*values);
    free(values);
    return column;
  };
  out->start = times(&g->start);
  out->duration = times(&g->duration);
  out->transfer = times(&g->transfer);
  out->dep_delay = times(&g->dep_delay);
  out->child_delay = times(&g->child_delay);
  out->dep_unexplained = own(&g->dep_unexplained);
  out->dep_release = own(&g->dep_release);
  out->child_release = own(&g->child_release);
  out->id = share(&g->id);
  out->name = rows(&g->name);
  out->type = share(&g->type);
  out->flags = share(&g->flags);
  out->lane = rows(&g->lane);
  out->payload = rows(&g->payload);
  out->shapes = rows(&g->shapes);
  out->types = rows(&g->types);
  out->code = rows(&g->code);
  out->factor = rows(&g->factor);
  out->comm = share(&g->comm);
  out->work = share(&g->work);
  out->dep_begin = rows(&g->dep_begin);
  out->dep = rows(&g->dep);
  out->dep_cause = share(&g->dep_cause);
  out->child_begin = rows(&g->child_begin);
  out->child = rows(&g->child);
  out->order = share(&g->order);
  out->strings = g->strings;
  out->strings.Shrink();
  return out;
}

}  // namespace

uint64_t ContentHash(const Graph& g) { return HashOf(g); }
uint64_t ContentHash(const GraphDraft& g) { return HashOf(g); }
bool SameContent(const Graph& a, const Graph& b) { return SameGraphs(a, b); }
bool SameContent(const Graph& a, const GraphDraft& b) { return SameGraphs(a, b); }

namespace {

// Whether the values are 0, 1, 2, ...
template <typename T>
bool CountsUp(const std::vector<T>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<T>(i)) return false;
  }
  return true;
}

}  // namespace

// Returns a column of the numbers 0 to count - 1: a prefix of the longest such column so far.
template <typename T>
Column<T> ColumnPool::Counting(size_t count, Column<T>* longest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (longest->size() < count) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), T{0});
    *longest = Column<T>(std::move(values));
  }
  return longest->First(count);
}

// Returns the column in `pooled` that equals `values`; if there is none, adds the result of make().
template <typename Pooled, typename Values, typename Make>
Pooled ColumnPool::Pool(absl::flat_hash_map<uint64_t, std::vector<Pooled>>* pooled, const Values& values,
                        const Make& make) {
  const uint64_t hash = HashColumn(kMul, values);
  std::vector<Pooled> candidates;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = pooled->find(hash);
    if (it != pooled->end()) candidates = it->second;
  }
  for (const Pooled& c : candidates) {
    if (Same(c, values)) return c;
  }
  Pooled own = make();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Pooled>& same_hash = (*pooled)[hash];
  for (const Pooled& c : same_hash) {  // another thread may have added an equal column in the meantime
    if (Same(c, own)) return c;
  }
  same_hash.push_back(own);
  return own;
}

template <typename T>
Column<T> ColumnPool::Share(const std::vector<T>& values) {
  if (values.empty()) return {};
  if constexpr (std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>) {
    if (CountsUp(values)) return Counting(values.size(), &std::get<Column<T>>(counting_));
  }
  return Pool(&std::get<Known<Column<T>>>(known_).by_hash, values, [&] { return Own(values); });
}

template <typename T>
NarrowColumn<T> ColumnPool::ShareNarrow(const std::vector<T>& values) {
  if (values.empty()) return {};
  return Pool(&std::get<Known<NarrowColumn<T>>>(known_).by_hash, values,
              [&] { return NarrowColumn<T>::Narrow(values); });
}
template Column<uint64_t> ColumnPool::Share(const std::vector<uint64_t>&);
template Column<uint32_t> ColumnPool::Share(const std::vector<uint32_t>&);
template Column<int32_t> ColumnPool::Share(const std::vector<int32_t>&);
template Column<uint8_t> ColumnPool::Share(const std::vector<uint8_t>&);
template Column<NodeType> ColumnPool::Share(const std::vector<NodeType>&);
template Column<DelayCause> ColumnPool::Share(const std::vector<DelayCause>&);
template Column<Comm> ColumnPool::Share(const std::vector<Comm>&);
template Column<Work> ColumnPool::Share(const std::vector<Work>&);
template Column<Peer> ColumnPool::Share(const std::vector<Peer>&);
template NarrowColumn<uint32_t> ColumnPool::ShareNarrow(const std::vector<uint32_t>&);
template NarrowColumn<int32_t> ColumnPool::ShareNarrow(const std::vector<int32_t>&);

void ColumnPool::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_ = {};
  counting_ = {};
}

std::shared_ptr<const Graph> GraphPool::Find(const GraphDraft& graph, uint64_t hash) {
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

absl::StatusOr<std::shared_ptr<const Graph>> GraphPool::Intern(GraphDraft* graph, absl::string_view subject,
                                                               const std::vector<uint64_t>& offsets,
                                                               Keep keep) {
  const uint64_t hash = ContentHash(*graph);
  if (auto found = Find(*graph, hash)) return found;
  RETURN_IF_ERROR(FinishGraph(graph, subject, offsets));
  return Add(hash, WithSharedColumns(graph, &columns_, keep));
}

std::shared_ptr<const Graph> GraphPool::Add(uint64_t hash, std::shared_ptr<const Graph> made) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (count_ >= most_) {
    graphs_.clear();
    columns_.Clear();
    count_ = 0;
  }
  auto& same_hash = graphs_[hash];
  for (const auto& c : same_hash) {  // another thread may have added an equal graph in the meantime
    if (SameContent(*c, *made)) return c;
  }
  same_hash.push_back(made);
  ++count_;
  return made;
}

}  // namespace chakra
