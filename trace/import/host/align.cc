#include "trace/import/host/align.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {
namespace {

using Match = std::pair<uint32_t, uint32_t>;  // positions in a and in b

// The occurrences of a key: their number and the last position on each side.
struct Places {
  uint32_t count_a = 0, count_b = 0;
  uint32_t a = 0, b = 0;
};

// The longest chain of `m` that ascends in b. Precondition: `m` ascends in a, without duplicates.
std::vector<Match> LongestChain(const std::vector<Match>& m) {
  std::vector<uint32_t> tails, before(m.size(), kNoRow);
  for (uint32_t i = 0; i < m.size(); ++i) {
    const auto at = std::lower_bound(tails.begin(), tails.end(), m[i].second,
                                     [&](uint32_t t, uint32_t b) { return m[t].second < b; });
    if (at != tails.begin()) before[i] = *(at - 1);
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Match> chain;
  for (uint32_t i = tails.empty() ? kNoRow : tails.back(); i != kNoRow; i = before[i]) chain.push_back(m[i]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// Pairs of operators with the same name and sequence number, if these occur together once on each side.
std::vector<Match> AnchorsBySequenceNumber(const OpSequence& a, const OpSequence& b) {
  absl::flat_hash_map<std::pair<uint32_t, int64_t>, Places> places;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a.seq[i] < 0) continue;
    Places& p = places[{a.name[i], a.seq[i]}];
    ++p.count_a;
    p.a = i;
  }
  for (uint32_t i = 0; i < b.size(); ++i) {
    if (b.seq[i] < 0) continue;
    const auto p = places.find({b.name[i], b.seq[i]});
    if (p == places.end()) continue;
    ++p->second.count_b;
    p->second.b = i;
  }
  std::vector<Match> unique;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a.seq[i] < 0) continue;
    const Places& p = places.at({a.name[i], a.seq[i]});
    if (p.count_a == 1 && p.count_b == 1) unique.emplace_back(i, p.b);
  }
  return LongestChain(unique);
}

// For each position where a run of `k` names begins, the number of the run's kind. Equal runs have the same
// kind.
std::vector<uint32_t> RunKinds(const OpSequence& s, uint32_t k,
                               absl::flat_hash_map<std::vector<uint32_t>, uint32_t>* kinds) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i + k <= s.size(); ++i) {
    std::vector<uint32_t> run(s.name.begin() + static_cast<ptrdiff_t>(i),
                              s.name.begin() + static_cast<ptrdiff_t>(i + k));
    const uint32_t next = static_cast<uint32_t>(kinds->size());
    out.push_back(kinds->try_emplace(std::move(run), next).first->second);
  }
  return out;
}

std::vector<std::vector<uint32_t>> PlacesByKind(const std::vector<uint32_t>& kinds, size_t count) {
  std::vector<std::vector<uint32_t>> places(count);
  for (uint32_t i = 0; i < kinds.size(); ++i) places[kinds[i]].push_back(i);
  return places;
}

// Votes for each shift of b against a (index: shift + a's size): the number of pairs of equal runs of `k`
// names with that shift. The rarest runs vote first, to bound the effort.
std::vector<uint32_t> VoteShifts(const OpSequence& a, const OpSequence& b, uint32_t k) {
  constexpr uint64_t kMostVotes = 1 << 22;
  absl::flat_hash_map<std::vector<uint32_t>, uint32_t> kinds;
  const std::vector<uint32_t> kinds_a = RunKinds(a, k, &kinds);
  const std::vector<uint32_t> kinds_b = RunKinds(b, k, &kinds);
  const std::vector<std::vector<uint32_t>> in_a = PlacesByKind(kinds_a, kinds.size());
  const std::vector<std::vector<uint32_t>> in_b = PlacesByKind(kinds_b, kinds.size());
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (uint32_t i = 0; i < in_a.size(); ++i) {
    const uint64_t pairs = uint64_t{in_a[i].size()} * in_b[i].size();
    if (pairs > 0) order.emplace_back(pairs, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<uint32_t> votes(a.size() + b.size());
  uint64_t left = kMostVotes;
  for (const auto& [pairs, kind] : order) {
    // If a kind is too common, only its first places vote.
    const uint64_t most = std::max<uint64_t>(left / in_b[kind].size(), left == kMostVotes ? 1 : 0);
    const size_t places = static_cast<size_t>(std::min<uint64_t>(most, in_a[kind].size()));
    for (size_t i = 0; i < places; ++i) {
      for (const uint32_t j : in_b[kind]) ++votes[a.size() + j - in_a[kind][i]];
    }
    left -= std::min<uint64_t>(left, places * in_b[kind].size());
    if (left == 0 || places < in_a[kind].size()) break;
  }
  return votes;
}

// Matches in runs of at least `k` equal names, at the shift with the most votes. `windows`: the number of
// shifts with as many votes.
std::vector<Match> AnchorsByVote(const OpSequence& a, const OpSequence& b, uint32_t k, uint64_t* windows) {
  const std::vector<uint32_t> votes = VoteShifts(a, b, k);
  const auto best = std::max_element(votes.begin(), votes.end());
  if (best == votes.end() || *best == 0) return {};
  *windows = static_cast<uint64_t>(std::count(votes.begin(), votes.end(), *best));
  const int64_t shift = (best - votes.begin()) - static_cast<int64_t>(a.size());
  std::vector<Match> anchors;
  const int64_t from = std::max<int64_t>(0, -shift);
  const int64_t to =
      std::min<int64_t>(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()) - shift);
  for (int64_t i = from; i < to;) {
    int64_t end = i;
    while (end < to && a.name[static_cast<size_t>(end)] == b.name[static_cast<size_t>(end + shift)]) ++end;
    if (end - i >= k) {
      for (int64_t x = i; x < end; ++x) {
        anchors.emplace_back(static_cast<uint32_t>(x), static_cast<uint32_t>(x + shift));
      }
    }
    i = end + 1;
  }
  return anchors;
}

// A half-open range of each sequence.
struct Gap {
  uint32_t a, a_end, b, b_end;
};

// Myers' greedy algorithm for one gap, in pieces. After kMostEdits edits the aligner accepts the path that
// got furthest, and begins a new piece at the end of that path.
class GapAligner {
 public:
  GapAligner(const OpSequence& a, const OpSequence& b, std::vector<uint32_t>* to) : a_(a), b_(b), to_(*to) {}

  void Run(Gap g) {
    while (g.a < g.a_end && g.b < g.b_end && a_.name[g.a] == b_.name[g.b]) to_[g.a++] = g.b++;
    while (g.a < g.a_end && g.b < g.b_end && a_.name[g.a_end - 1] == b_.name[g.b_end - 1]) {
      to_[--g.a_end] = --g.b_end;
    }
    while (g.a < g.a_end && g.b < g.b_end) Piece(&g);
  }

 private:
  static constexpr int kMostEdits = 256;

  // Aligns one piece. `trace` has the furthest x on each diagonal after each number of edits.
  void Piece(Gap* g) {
    const int n = static_cast<int>(g->a_end - g->a), m = static_cast<int>(g->b_end - g->b);
    std::vector<std::vector<int>> trace;
    std::vector<int> v(2 * kMostEdits + 3, 0);
    const auto at = [&](int diagonal) -> int& { return v[static_cast<size_t>(diagonal + kMostEdits + 1)]; };
    int edits = 0, diagonal = 0;
    bool done = false;
    for (; !done && edits <= kMostEdits; ++edits) {
      trace.push_back(v);
      int furthest = -1;
      for (int k = -edits; k <= edits && !done; k += 2) {
        int x = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        int y = x - k;
        while (x < n && y < m && y >= 0 && Equal(*g, x, y)) ++x, ++y;
        at(k) = x;
        if (x > n || y > m) continue;  // outside the gap: no path ends here
        if (x + y > furthest) furthest = x + y, diagonal = k;
        done = x == n && y == m;
      }
    }
    Back(*g, trace, edits - 1, diagonal, at(diagonal));
    const int x = at(diagonal), y = x - diagonal;
    g->a += static_cast<uint32_t>(x);
    g->b += static_cast<uint32_t>(y);
  }

  bool Equal(const Gap& g, int x, int y) const {
    return a_.name[g.a + static_cast<uint32_t>(x)] == b_.name[g.b + static_cast<uint32_t>(y)];
  }

  // Records the matches of the path that ends at (x, x - k) after `edits` edits, from its end to its begin.
  void Back(const Gap& g, const std::vector<std::vector<int>>& trace, int edits, int k, int x) {
    for (int d = edits; d >= 0; --d) {
      const std::vector<int>& v = trace[static_cast<size_t>(d)];
      const auto at = [&](int diagonal) { return v[static_cast<size_t>(diagonal + kMostEdits + 1)]; };
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      const int from = d == 0 ? 0 : down ? at(k + 1) : at(k - 1) + 1;
      for (int y = x - k; x > from; --x, --y)
        to_[g.a + static_cast<uint32_t>(x - 1)] = g.b + static_cast<uint32_t>(y - 1);
      if (d == 0) return;
      k = down ? k + 1 : k - 1;
      x = at(k);
    }
  }

  const OpSequence& a_;
  const OpSequence& b_;
  std::vector<uint32_t>& to_;
};

// Before the first anchor and after the last one, only operators within this many positions can match.
constexpr uint32_t Reach(uint32_t ops) { return ops + ops / 4 + 64; }

void FillGaps(const OpSequence& a, const OpSequence& b, const std::vector<Match>& anchors, Alignment* out) {
  GapAligner aligner(a, b, &out->to);
  const uint32_t n = static_cast<uint32_t>(a.size()), m = static_cast<uint32_t>(b.size());
  const Match first = anchors.front(), last = anchors.back();
  const auto from = [](uint32_t end, uint32_t other) { return end > Reach(other) ? end - Reach(other) : 0; };
  aligner.Run({from(first.first, first.second), first.first, from(first.second, first.first), first.second});
  for (size_t i = 0; i + 1 < anchors.size(); ++i) {
    aligner.Run({anchors[i].first + 1, anchors[i + 1].first, anchors[i].second + 1, anchors[i + 1].second});
  }
  const uint32_t a_left = n - last.first - 1, b_left = m - last.second - 1;
  aligner.Run({last.first + 1, last.first + 1 + std::min(a_left, Reach(b_left)), last.second + 1,
               last.second + 1 + std::min(b_left, Reach(a_left))});
}

Alignment AlignAt(const OpSequence& a, const OpSequence& b, const std::vector<Match>& anchors) {
  Alignment out;
  out.to.assign(a.size(), kNoRow);
  if (anchors.empty()) return out;
  for (const Match& m : anchors) out.to[m.first] = m.second;
  FillGaps(a, b, anchors, &out);
  uint32_t first = kNoRow, last = 0;  // positions in a
  for (uint32_t i = 0; i < out.to.size(); ++i) {
    if (out.to[i] == kNoRow) continue;
    ++out.matched;
    first = std::min(first, i);
    last = i;
  }
  if (out.matched == 0) return out;
  out.span_a = last - first + 1;
  out.span_b = out.to[last] - out.to[first] + 1;
  return out;
}

}  // namespace

Alignment Align(const OpSequence& a, const OpSequence& b) {
  Alignment best = AlignAt(a, b, AnchorsBySequenceNumber(a, b));
  // Otherwise the sequence numbers may belong to other iterations.
  if (10 * best.matched >= 9 * a.size()) return best;
  for (const uint32_t k : {8u, 3u, 1u}) {
    if (k > a.size()) continue;
    uint64_t windows = 1;
    const std::vector<Match> anchors = AnchorsByVote(a, b, k, &windows);
    if (anchors.empty()) continue;
    Alignment voted = AlignAt(a, b, anchors);
    voted.windows = windows;
    if (voted.matched > best.matched) best = std::move(voted);
    break;
  }
  return best;
}

}  // namespace chakra::pytorch
