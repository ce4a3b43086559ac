#include "replay/compare/pair_nodes.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/model/comm_kind.h"
#include "trace/model/graph_builder.h"

namespace chakra {
namespace {

// For each string of A, its index in B; kNoRow if B lacks the string.
std::vector<uint32_t> TranslateStrings(const StringTable& a, const StringTable& b) {
  absl::flat_hash_map<absl::string_view, uint32_t> index;
  index.reserve(b.size());
  for (uint32_t i = 0; i < b.size(); ++i) index.emplace(b.Get(i), i);
  std::vector<uint32_t> out(a.size());
  for (uint32_t i = 0; i < a.size(); ++i) {
    const auto it = index.find(a.Get(i));
    out[i] = it == index.end() ? kNoRow : it->second;
  }
  return out;
}

// The two sides while they are being paired.
struct Pairing {
  const Graph& a;
  const Graph& b;
  NodePairs pairs;
  std::vector<bool> taken;  // by row of B

  void Join(uint32_t row_a, uint32_t row_b) {
    pairs.b_of_a[row_a] = row_b;
    taken[row_b] = true;
  }

  // Pairs free rows with equal ids for which `agree` holds.
  template <typename Agree>
  void ById(const absl::flat_hash_map<uint64_t, uint32_t>& row_of, const Agree& agree) {
    for (uint32_t row = 0; row < a.size(); ++row) {
      if (pairs.b_of_a[row] != kNoRow) continue;
      const auto it = row_of.find(a.id[row]);
      if (it != row_of.end() && !taken[it->second] && agree(row, it->second)) Join(row, it->second);
    }
  }

  void ByNameAndOrder(const std::vector<uint32_t>& string_of_b) {
    std::vector<uint32_t> first(b.strings.size(), kNoRow), next(b.size(), kNoRow);  // free rows by name
    for (uint32_t row = b.size(); row-- > 0;) {
      if (taken[row]) continue;
      next[row] = first[b.name[row]];
      first[b.name[row]] = row;
    }
    for (uint32_t row = 0; row < a.size(); ++row) {
      const uint32_t name = string_of_b[a.name[row]];
      if (pairs.b_of_a[row] != kNoRow || name == kNoRow || first[name] == kNoRow) continue;
      const uint32_t other = first[name];
      first[name] = next[other];
      Join(row, other);
    }
  }
};

bool SameDependencyIds(const Graph& a, uint32_t row_a, const Graph& b, uint32_t row_b) {
  const auto ids = [](const Graph& g, uint32_t row) {
    std::vector<uint64_t> out;
    for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i) out.push_back(g.id[g.dep[i]]);
    std::sort(out.begin(), out.end());
    return out;
  };
  return ids(a, row_a) == ids(b, row_b);
}

const Comm& CommOf(const Graph& g, uint32_t row) {
  static const Comm* none = new Comm();
  const bool comm = g.type[row] >= NodeType::kSend && g.payload[row] != kNoRow;
  return comm ? g.comm[g.payload[row]] : *none;
}

const Work& WorkOf(const Graph& g, uint32_t row) {
  static const Work* none = new Work();
  const bool work = g.type[row] < NodeType::kSend && g.payload[row] != kNoRow;
  return work ? g.work[g.payload[row]] : *none;
}

std::string Picos(Time t) { return t == Time::Never() ? "" : absl::StrCat(t.picos(), " ps"); }

absl::string_view TextOf(const Graph& g, const NarrowColumn<uint32_t>& column, uint32_t row) {
  return column.empty() ? absl::string_view() : g.strings.Get(column[row]);
}

std::string DimsOf(const Graph& g, uint32_t row) {
  const Comm& comm = CommOf(g, row);
  std::string out;
  for (int i = 0; i < comm.dims_count; ++i) absl::StrAppend(&out, comm.involved_dims >> i & 1);
  return out;
}

// An attribute of a node as text; "" if the node does not have it.
struct NodeAttribute {
  const char* name;
  std::string (*text)(const Graph&, uint32_t row);
};
const NodeAttribute kAttributes[] = {
    {"name", [](const Graph& g, uint32_t r) { return std::string(g.name_of(r)); }},
    {"type", [](const Graph& g, uint32_t r) { return std::string(Name(g.type[r])); }},
    {"host operation",
     [](const Graph& g, uint32_t r) {
       return std::string((g.flags[r] & kHasCpuAttr) == 0 ? "" : g.is_cpu(r) ? "true" : "false");
     }},
    {"start", [](const Graph& g, uint32_t r) { return Picos(g.start.empty() ? Time::Zero() : g.start[r]); }},
    {"duration", [](const Graph& g, uint32_t r) { return Picos(g.duration[r]); }},
    {"lane",
     [](const Graph& g, uint32_t r) {
       return g.lane.empty() || g.lane[r] == kNoLane ? std::string() : absl::StrCat(g.lane[r]);
     }},
    {"shapes", [](const Graph& g, uint32_t r) { return std::string(TextOf(g, g.shapes, r)); }},
    {"data types", [](const Graph& g, uint32_t r) { return std::string(TextOf(g, g.types, r)); }},
    {"compiled code", [](const Graph& g, uint32_t r) { return std::string(TextOf(g, g.code, r)); }},
    {"operations",
     [](const Graph& g, uint32_t r) {
       return WorkOf(g, r).has_num_ops ? absl::StrCat(WorkOf(g, r).num_ops) : std::string();
     }},
    {"tensor bytes",
     [](const Graph& g, uint32_t r) {
       return WorkOf(g, r).has_tensor_bytes ? absl::StrCat(WorkOf(g, r).tensor_bytes) : std::string();
     }},
    {"communication bytes",
     [](const Graph& g, uint32_t r) {
       return CommOf(g, r).has_bytes ? absl::StrCat(CommOf(g, r).bytes) : std::string();
     }},
    {"collective", CommKind},
    {"involved dimensions", DimsOf},
    {"priority", [](const Graph& g, uint32_t r) { return absl::StrCat(CommOf(g, r).priority); }},
    {"eager", [](const Graph& g, uint32_t r) { return std::string(CommOf(g, r).eager ? "true" : "false"); }},
    {"transfer",
     [](const Graph& g, uint32_t r) {
       return Picos(g.type[r] < NodeType::kSend ? Time::Never() : g.transfer_of(g.payload[r]));
     }},
};

// A dependency as text: "17 (matmul)".
std::string DescribeRow(const Graph& g, uint32_t row) {
  return absl::StrCat(g.id[row], " (", std::string(g.name_of(row)), ")");
}

Time DelayOf(const Graph& g, uint32_t i) { return g.dep_delay.empty() ? Time::Zero() : g.dep_delay[i]; }

// Compares the dependencies of a pair of nodes: those of A, translated to rows of B, with those of B.
bool CompareDependencies(const Graph& a, uint32_t row_a, const Graph& b, uint32_t row_b,
                         const std::vector<uint32_t>& b_of_a, std::vector<NodeDifference>* out) {
  std::vector<std::pair<uint32_t, uint32_t>> of_a;  // row of B, index into a.dep
  bool differs = false;
  const auto only_a = [&](uint32_t i) {
    AddDifference("dependency only in A", 1, row_a, DescribeRow(a, a.dep[i]), "", out);
    differs = true;
  };
  for (uint32_t i = a.dep_begin[row_a]; i < a.dep_begin[row_a + 1]; ++i) {
    if (b_of_a[a.dep[i]] == kNoRow) {
      only_a(i);
    } else {
      of_a.push_back({b_of_a[a.dep[i]], i});
    }
  }
  std::sort(of_a.begin(), of_a.end());
  uint32_t j = b.dep_begin[row_b];
  const uint32_t end = b.dep_begin[row_b + 1];
  const auto only_b = [&] {
    AddDifference("dependency only in B", 1, row_a, "", DescribeRow(b, b.dep[j++]), out);
    differs = true;
  };
  for (const auto& [row, i] : of_a) {
    while (j < end && b.dep[j] < row) only_b();
    if (j == end || b.dep[j] != row) {
      only_a(i);
      continue;
    }
    if (DelayOf(a, i) != DelayOf(b, j)) {
      AddDifference("delay of a dependency", 1, row_a, Picos(DelayOf(a, i)), Picos(DelayOf(b, j)), out);
      differs = true;
    }
    ++j;
  }
  while (j < end) only_b();
  return differs;
}

const std::string kNoGroup;

}  // namespace

void AddDifference(absl::string_view name, uint64_t nodes, uint32_t row, const std::string& a,
                   const std::string& b, std::vector<NodeDifference>* out) {
  const auto it =
      std::find_if(out->begin(), out->end(), [&](const NodeDifference& d) { return d.name == name; });
  if (it != out->end()) {
    it->nodes += nodes;
  } else {
    out->push_back({std::string(name), nodes, row, a, b});
  }
}

NodePairs PairNodes(const Graph& a, const Graph& b) {
  Pairing p{a, b};
  if (&a == &b || SameContent(a, b)) {
    p.pairs.identical = true;
    return std::move(p.pairs);
  }
  p.pairs.b_of_a.assign(a.size(), kNoRow);
  p.taken.assign(b.size(), false);
  absl::flat_hash_map<uint64_t, uint32_t> row_of;
  row_of.reserve(b.size());
  for (uint32_t row = 0; row < b.size(); ++row) row_of.emplace(b.id[row], row);
  const std::vector<uint32_t> string_of_b = TranslateStrings(a.strings, b.strings);
  p.ById(row_of, [&](uint32_t i, uint32_t j) { return string_of_b[a.name[i]] == b.name[j]; });
  p.ByNameAndOrder(string_of_b);
  p.ById(row_of,
         [&](uint32_t i, uint32_t j) { return a.type[i] == b.type[j] && SameDependencyIds(a, i, b, j); });
  for (uint32_t row = 0; row < b.size(); ++row) {
    if (!p.taken[row]) p.pairs.only_b.push_back(row);
  }
  return std::move(p.pairs);
}

GraphDifference CompareGraphs(const Graph& a, const Graph& b, const NodePairs& pairs) {
  GraphDifference out;
  if (pairs.identical) {
    out.paired = a.size();
    return out;
  }
  out.changed.assign(a.size(), 0);
  for (uint32_t row = 0; row < a.size(); ++row) {
    const uint32_t other = pairs.b_of_a[row];
    if (other == kNoRow) continue;
    ++out.paired;
    out.renumbered += a.id[row] != b.id[other];
    bool differs = false;
    for (const NodeAttribute& attribute : kAttributes) {
      const std::string of_a = attribute.text(a, row), of_b = attribute.text(b, other);
      if (of_a == of_b) continue;
      AddDifference(attribute.name, 1, row, of_a, of_b, &out.differences);
      differs = true;
    }
    differs |= CompareDependencies(a, row, b, other, pairs.b_of_a, &out.differences);
    out.changed[row] = differs;
  }
  return out;
}

void ComparePeers(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                  std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed) {
  const auto rank_text = [](int32_t rank) { return rank == kNoRank ? std::string() : absl::StrCat(rank); };
  const auto group = [](const RankTrace& t, const Peer& peer) -> const std::string& {
    return peer.group < t.group_names.size() ? t.group_names[peer.group] : kNoGroup;
  };
  for (uint32_t row = 0; row < a.graph->size(); ++row) {
    if (a.graph->type[row] < NodeType::kSend || a.graph->payload[row] == kNoRow) continue;
    const uint32_t other = pairs.identical ? row : pairs.b_of_a[row];
    if (other == kNoRow || b.graph->type[other] < NodeType::kSend || b.graph->payload[other] == kNoRow)
      continue;
    const Peer& of_a = a.peers[a.graph->payload[row]];
    const Peer& of_b = b.peers[b.graph->payload[other]];
    const auto differ = [&](const char* name, const std::string& x, const std::string& y) {
      AddDifference(name, 1, row, x, y, differences);
      (*changed)[row] = 1;
    };
    if (of_a.src != of_b.src) differ("source", rank_text(of_a.src), rank_text(of_b.src));
    if (of_a.dst != of_b.dst) differ("destination", rank_text(of_a.dst), rank_text(of_b.dst));
    if (of_a.tag != of_b.tag) differ("tag", absl::StrCat(of_a.tag), absl::StrCat(of_b.tag));
    if (of_a.root != of_b.root) differ("root", rank_text(of_a.root), rank_text(of_b.root));
    if (group(a, of_a) != group(b, of_b)) differ("group", group(a, of_a), group(b, of_b));
  }
}

}  // namespace chakra
