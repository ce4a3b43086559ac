#include "replay/sweep/search.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "replay/sweep/draw.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"

namespace chakra::sweep {
namespace {

constexpr uint32_t kDefaultStarts = 4;
constexpr int kDrawsOfStarts = 10000;
constexpr int kRoundsOfStarts = 8;

class Walk {
 public:
  Walk(const SearchProblem& problem, const proto::Search& options) : problem_(problem), options_(options) {}

  absl::StatusOr<SearchResult> Go() {
    RETURN_IF_ERROR(ChooseStarts());
    bool moved = true;
    while (moved && !exhausted_) {
      std::vector<GridPoint> round;
      for (const Walker& w : walkers_) {
        if (!w.active) continue;
        RETURN_IF_ERROR(Propose(w, &round));
      }
      RETURN_IF_ERROR(Evaluate(round));
      moved = false;
      for (Walker& w : walkers_) moved |= w.active && Move(&w);
    }
    result_.converged = !exhausted_;
    for (const auto& [point, cost] : known_) Offer(point, cost);
    return result_;
  }

 private:
  struct Walker {
    GridPoint at;
    size_t axis = 0;    // COORDINATE: the axis whose values are tried next
    size_t stayed = 0;  // number of consecutive axes on which no value was better
    bool active = true;
  };

  bool coordinate() const { return options_.method() == proto::Search::COORDINATE; }

  // Starts that fail are replaced by others, a limited number of times.
  absl::Status ChooseStarts() {
    Draw draw(options_.seed() > 0 ? options_.seed() : 1);
    const uint32_t wanted = options_.starts() > 0 ? options_.starts() : kDefaultStarts;
    GridPoint p;
    for (const uint64_t size : problem_.sizes) p.push_back((size - 1) / 2);
    int tries = 0;
    for (int round = 0; round < kRoundsOfStarts && walkers_.size() < wanted && !exhausted_; ++round) {
      std::vector<GridPoint> starts;
      for (; walkers_.size() + starts.size() < wanted && tries < kDrawsOfStarts; ++tries) {
        if (tries > 0) {
          for (size_t a = 0; a < p.size(); ++a) p[a] = draw.Below(problem_.sizes[a]);
        }
        ASSIGN_OR_RETURN(auto allowed, problem_.allowed(p));
        if (allowed && known_.count(p) == 0 && std::find(starts.begin(), starts.end(), p) == starts.end())
          starts.push_back(p);
      }
      if (starts.empty()) break;
      RETURN_IF_ERROR(Evaluate(starts));
      for (const GridPoint& start : starts) {
        const auto found = known_.find(start);
        if (found != known_.end() && found->second.has_value()) walkers_.push_back({start});
      }
    }
    if (known_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("search: no allowed point was found to start from in ", kDrawsOfStarts, " draws"));
    }
    result_.starts = static_cast<uint32_t>(walkers_.size());
    return absl::OkStatus();
  }

  // Adds the points that the walker tries next, if they are allowed and new.
  absl::Status Propose(const Walker& w, std::vector<GridPoint>* round) const {
    const auto add = [&](const GridPoint& p) -> absl::Status {
      if (known_.count(p) > 0 || std::find(round->begin(), round->end(), p) != round->end())
        return absl::OkStatus();
      auto allowed = problem_.allowed(p);
      if (allowed.ok() && *allowed) round->push_back(p);
      return allowed.status();
    };
    for (const GridPoint& p : Around(w)) {
      RETURN_IF_ERROR(add(p));
    }
    return absl::OkStatus();
  }

  std::vector<GridPoint> Around(const Walker& w) const {
    std::vector<GridPoint> out;
    if (coordinate()) {
      GridPoint p = w.at;
      for (p[w.axis] = 0; p[w.axis] < problem_.sizes[w.axis]; ++p[w.axis]) out.push_back(p);
      return out;
    }
    for (size_t a = 0; a < w.at.size(); ++a) {
      GridPoint p = w.at;
      if (p[a] > 0) {
        --p[a];
        out.push_back(p);
        ++p[a];
      }
      if (++p[a] < problem_.sizes[a]) out.push_back(p);
    }
    return out;
  }

  absl::Status Evaluate(std::vector<GridPoint> round) {
    const uint64_t room = options_.evaluations() - result_.evaluations;
    if (round.size() > room) {
      round.resize(room);
      exhausted_ = true;
    }
    if (round.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(auto costs, problem_.evaluate(round));
    for (size_t i = 0; i < round.size(); ++i) known_[round[i]] = costs[i];
    result_.evaluations += round.size();
    ++result_.rounds;
    return absl::OkStatus();
  }

  static bool Better(const std::optional<double>& a, const std::optional<double>& b) {
    return a.has_value() && (!b.has_value() || *a < *b);
  }

  // Moves to the best point tried; among equal points, to the first. False: the walk has ended.
  bool Move(Walker* w) {
    const GridPoint* best = nullptr;
    std::optional<double> cost;
    if (const auto here = known_.find(w->at); here != known_.end()) cost = here->second;
    const std::vector<GridPoint> around = Around(*w);
    for (const GridPoint& p : around) {
      const auto found = known_.find(p);
      if (found == known_.end() || !Better(found->second, cost)) continue;
      best = &found->first;
      cost = found->second;
    }
    if (best != nullptr) w->at = *best;
    if (coordinate()) {
      w->stayed = best != nullptr ? 0 : w->stayed + 1;
      w->axis = (w->axis + 1) % w->at.size();
      w->active = w->stayed < w->at.size();
    } else {
      w->active = best != nullptr;
    }
    return w->active;
  }

  void Offer(const GridPoint& p, const std::optional<double>& cost) {
    if (result_.best.empty() || Better(cost, result_.cost)) {
      result_.best = p;
      result_.cost = cost;
    }
  }

  const SearchProblem& problem_;
  const proto::Search& options_;
  std::vector<Walker> walkers_;
  std::map<GridPoint, std::optional<double>> known_;
  SearchResult result_;
  bool exhausted_ = false;
};

}  // namespace

absl::StatusOr<SearchResult> RunSearch(const SearchProblem& problem, const proto::Search& options) {
  return Walk(problem, options).Go();
}

std::string DescribeSearch(const SearchResult& result, const proto::Search& options) {
  return absl::StrCat(options.method() == proto::Search::COORDINATE ? "coordinate descent" : "hill climbing",
                      " from ", result.starts, result.starts == 1 ? " start" : " starts", ": ",
                      FormatCount(result.evaluations), " points in ", FormatCount(result.rounds),
                      result.rounds == 1 ? " round" : " rounds", ", ",
                      result.converged ? "until no neighbour was better" : "until its evaluations ran out");
}

}  // namespace chakra::sweep
