#include "trace/import/join/infer_peers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/median.h"

namespace chakra::pytorch {
namespace {

constexpr double kPeerErrors = 5.0, kPeerGain = 0.1;
// Two ranks that do not communicate have ends half as far apart as their begins, by chance, in one of two
// messages. This many bits more than for each other layout are not chance.
constexpr double kSurePeerBits = 12;
constexpr size_t kFewestMessages = 4;

// Rows of `stages` ranks that are `stride` apart.
struct Layout {
  uint32_t stages = 2, stride = 1;
  bool ring = false;
  std::string Words() const {
    return absl::StrCat(ring ? "rings of " : "rows of ", stages, " ranks, ", stride, " apart");
  }
};

std::vector<Layout> Layouts(uint32_t n) {
  std::vector<Layout> all;
  for (uint32_t stride = 1; stride < n; ++stride) {
    for (uint32_t stages = 2; stages * stride <= n; ++stages) {
      if (n % (stages * stride) != 0) continue;
      all.push_back({stages, stride, false});
      if (stages > 2) all.push_back({stages, stride, true});
    }
  }
  return all;
}

std::vector<uint32_t> Neighbours(const Layout& layout, uint32_t r) {
  const uint32_t place = r / layout.stride % layout.stages;
  std::vector<uint32_t> all;
  if (place > 0) all.push_back(r - layout.stride);
  if (place + 1 < layout.stages) all.push_back(r + layout.stride);
  if (layout.ring && place == 0) all.push_back(r + (layout.stages - 1) * layout.stride);
  if (layout.ring && place + 1 == layout.stages) all.push_back(r - place * layout.stride);
  return all;
}

class Matcher {
 public:
  Matcher(const std::vector<std::vector<PeerCall>>& calls, int64_t tolerance)
      : calls_(calls), tolerance_(tolerance), open_(calls.size()) {
    for (uint32_t r = 0; r < calls_.size(); ++r) {
      for (uint32_t i = 0; i < calls_[r].size(); ++i) {
        if (!calls_[r][i].send) receives_.push_back({r, i});
      }
    }
    std::sort(receives_.begin(), receives_.end(), [&](const auto& a, const auto& b) {
      return std::make_pair(End(a), a) < std::make_pair(End(b), b);
    });
  }

  // Matches all messages. False: the layout is ruled out.
  bool Match(const Layout& layout);
  // The number of bits by which the two sides of messages end closer than they begin. Only meaningful if
  // senders wait.
  double BitsOfEnds() const;
  // By receive: the distance of its end from the predicted end, ns.
  const std::vector<int64_t>& off() const { return off_; }
  std::vector<std::vector<uint32_t>> Take() { return std::move(peer_); }

 private:
  using Call = std::pair<uint32_t, uint32_t>;  // row and index of the call
  const PeerCall& At(const Call& c) const { return calls_[c.first][c.second]; }
  int64_t End(const Call& c) const { return At(c).end; }
  bool MatchOne(const Layout& layout, const Call& receive);
  void Predict();

  const std::vector<std::vector<PeerCall>>& calls_;
  const int64_t tolerance_;
  std::vector<Call> receives_;  // sorted by end
  // By row and key: sends without a receive, the last one first.
  std::vector<std::map<uint64_t, std::vector<uint32_t>>> open_;
  std::vector<std::vector<uint32_t>> peer_;
  std::map<Call, Call> last_;                   // by (from, to): last send and its receive
  std::vector<std::pair<Call, Call>> matched_;  // send and receive, in the order of receives_
  std::vector<int64_t> off_;
};

bool Matcher::MatchOne(const Layout& layout, const Call& receive) {
  const PeerCall& r = At(receive);
  uint32_t best = 0;
  int64_t nearest = INT64_MAX;
  for (const uint32_t from : Neighbours(layout, receive.first)) {
    const auto it = open_[from].find(r.key);
    if (it == open_[from].end() || it->second.empty()) continue;
    const PeerCall& s = calls_[from][it->second.back()];
    if (s.begin > r.end + tolerance_ || std::abs(s.end - r.end) >= nearest) continue;
    nearest = std::abs(s.end - r.end);
    best = from;
  }
  if (nearest == INT64_MAX) return false;
  std::vector<uint32_t>& sends = open_[best][r.key];
  const Call send = {best, sends.back()};
  sends.pop_back();
  const auto [it, fresh] = last_.try_emplace({best, receive.first}, send.second, receive.second);
  if (!fresh) {  // messages from one rank to another do not overtake each other
    if (it->second.first > send.second || it->second.second > receive.second) return false;
    it->second = {send.second, receive.second};
  }
  peer_[send.first][send.second] = receive.first;
  peer_[receive.first][receive.second] = send.first;
  matched_.push_back({send, receive});
  return true;
}

// Compares the time from the later begin to the end of each receive with the median for its key.
void Matcher::Predict() {
  std::map<uint64_t, std::vector<int64_t>> after;
  off_.clear();
  for (const auto& [send, receive] : matched_) {
    off_.push_back(At(receive).end - std::max(At(send).begin, At(receive).begin));
    after[At(receive).key].push_back(off_.back());
  }
  std::map<uint64_t, int64_t> middle;
  for (auto& [key, times] : after) middle[key] = Median(std::move(times));
  for (size_t i = 0; i < off_.size(); ++i) off_[i] = std::abs(off_[i] - middle[At(matched_[i].second).key]);
}

double Matcher::BitsOfEnds() const {
  constexpr double kNearNs = 500, kMostBits = 8;
  double bits = 0;
  for (const auto& [send, receive] : matched_) {
    const auto begins = static_cast<double>(std::abs(At(send).begin - At(receive).begin));
    const auto ends = static_cast<double>(std::abs(At(send).end - At(receive).end));
    bits += std::clamp(std::log2((begins + kNearNs) / (ends + kNearNs)), -kMostBits, kMostBits);
  }
  return bits;
}

bool Matcher::Match(const Layout& layout) {
  peer_.clear();
  last_.clear();
  matched_.clear();
  size_t sends = 0;
  for (uint32_t r = 0; r < calls_.size(); ++r) {
    open_[r].clear();
    peer_.emplace_back(calls_[r].size());
    for (uint32_t i = static_cast<uint32_t>(calls_[r].size()); i-- > 0;) {
      if (!calls_[r][i].send) continue;
      open_[r][calls_[r][i].key].push_back(i);
      ++sends;
    }
  }
  if (sends != receives_.size()) return false;
  for (const Call& receive : receives_) {
    if (!MatchOne(layout, receive)) return false;
  }
  Predict();
  return true;
}

// How much worse `worse` is: in standard errors, and in the mean.
std::pair<double, double> BetterBy(const std::vector<int64_t>& worse, const std::vector<int64_t>& better) {
  constexpr int64_t kResolutionNs = 500;
  const auto scale = static_cast<double>(std::max(Median(better), kResolutionNs));
  double sum = 0, squares = 0;
  const auto cost = [&](int64_t off) { return std::log1p(std::pow(static_cast<double>(off) / scale, 2)); };
  for (size_t i = 0; i < better.size(); ++i) {
    const double d = cost(worse[i]) - cost(better[i]);
    sum += d;
    squares += d * d;
  }
  const auto n = static_cast<double>(better.size());
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean) * n / std::max(1.0, n - 1);
  return {mean / (std::sqrt(variance / n) + 1e-3), mean};
}

// Facts about the messages between two clocks.
struct Between {
  bool forth = false, back = false;
  int64_t apart = 0;  // the greatest difference between the ends of a message on its two sides, ns
};

// Whether the messages show that clocks with different numbers are the same clock. `peer`: see
// InferredPeers::peer.
bool ShowOneClock(const std::vector<std::vector<PeerCall>>& calls,
                  const std::vector<std::vector<uint32_t>>& peer, const std::vector<uint32_t>& clock,
                  int64_t tolerance_ns) {
  if (clock.empty()) return true;
  // By pair of clocks, the lower one first.
  std::map<std::pair<uint32_t, uint32_t>, Between> links;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<int64_t>> sent;  // ends, by sender and receiver
  for (uint32_t r = 0; r < calls.size(); ++r) {
    for (size_t i = 0; i < calls[r].size(); ++i) {
      if (calls[r][i].send) sent[{r, peer[r][i]}].push_back(calls[r][i].end);
    }
  }
  std::map<std::pair<uint32_t, uint32_t>, size_t> next;
  for (uint32_t r = 0; r < calls.size(); ++r) {
    for (size_t i = 0; i < calls[r].size(); ++i) {
      if (calls[r][i].send) continue;
      const uint32_t from = peer[r][i], a = clock[from], b = clock[r];
      const int64_t end = sent[{from, r}][next[{from, r}]++];
      if (a == b) continue;
      Between& link = links[{std::min(a, b), std::max(a, b)}];
      (a < b ? link.forth : link.back) = true;
      link.apart = std::max(link.apart, std::abs(calls[r][i].end - end));
    }
  }
  return std::all_of(links.begin(), links.end(), [&](const auto& link) {
    const Between& b = link.second;
    return (b.forth && b.back) || b.apart <= tolerance_ns;
  });
}

}  // namespace

InferredPeers InferPeers(const std::vector<std::vector<PeerCall>>& calls, int64_t tolerance_ns,
                         const std::vector<uint32_t>& clock) {
  InferredPeers out;
  Matcher matcher(calls, tolerance_ns);
  struct Left {
    Layout layout;
    std::vector<int64_t> off;
    double bits = 0;
    std::vector<std::vector<uint32_t>> peer;
  };
  std::vector<Left> left;
  const std::vector<Layout> layouts = Layouts(static_cast<uint32_t>(calls.size()));
  size_t best = 0;
  for (const Layout& layout : layouts) {
    if (!matcher.Match(layout)) continue;
    const double bits = matcher.BitsOfEnds();
    left.push_back({layout, matcher.off(), bits, matcher.Take()});
    if (Median(left.back().off) < Median(left[best].off)) best = left.size() - 1;
  }
  const std::string tried = absl::StrCat(layouts.size(), " layouts of the ranks in rows and rings");
  if (left.empty()) {
    out.evidence = absl::StrCat("times and sizes contradict all ", tried);
    return out;
  }
  const size_t messages = left[best].off.size();
  bool clear = messages >= kFewestMessages, together = clear;
  for (size_t i = 0; i < left.size(); ++i) {
    // A ring whose first and last rank exchange nothing is the same as the row.
    if (i == best || left[i].peer == left[best].peer) continue;
    const auto [errors, mean] = BetterBy(left[i].off, left[best].off);
    clear = clear && errors >= kPeerErrors && mean >= kPeerGain;
    together = together && left[best].bits >= std::max(0.0, left[i].bits) + kSurePeerBits;
  }
  clear = clear || (together && left[best].bits >= kSurePeerBits);
  const std::string words = left[best].layout.Words();
  if (!clear) {
    out.evidence =
        absl::StrCat(messages, " messages do not show which of ", left.size(), " of ", tried, " is right");
    return out;
  }
  if (!ShowOneClock(calls, left[best].peer, clock, tolerance_ns)) {
    out.evidence = absl::StrCat(words, ", but nothing shows that the ranks have one clock");
    return out;
  }
  out.sure = true;
  out.peer = std::move(left[best].peer);
  out.evidence =
      absl::StrCat(words, ": ", messages, " receives end as the later begin predicts, within ",
                   Median(left[best].off) / 1000, " us; sizes and times leave ", left.size(), " of ", tried);
  return out;
}

}  // namespace chakra::pytorch
