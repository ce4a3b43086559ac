#include "replay/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/calibrate/solve.h"
#include "trace/base/median.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kWorthIt = 0.01;  // moving a switch must lower the error by this for each row, on average
constexpr double kFarthest = 8;    // the maximum factor by which a switch of the library may move

// The rows of one collective and number of ranks, by size. All rows of one size share a label.
struct Series {
  std::vector<uint64_t> sizes;
  std::vector<std::vector<size_t>> rows;
  std::vector<std::string> label;
  std::vector<std::string> own;  // the labels of the library's choice
};

std::vector<Series> SeriesOf(const std::vector<Sample>& all) {
  std::map<int, std::map<uint64_t, std::vector<size_t>>> by;
  for (size_t i = 0; i < all.size(); ++i) by[all[i].series][all[i].bytes].push_back(i);
  std::vector<Series> out;
  for (const auto& [id, sizes] : by) {
    Series series;
    for (const auto& [bytes, rows] : sizes) {
      series.sizes.push_back(bytes);
      series.rows.push_back(rows);
      series.label.push_back(all[rows[0]].label);
    }
    series.own = series.label;
    out.push_back(std::move(series));
  }
  return out;
}

void Assign(const Series& series, std::vector<std::string>* label) {
  for (size_t i = 0; i < series.rows.size(); ++i) {
    for (const size_t row : series.rows[i]) (*label)[row] = series.label[i];
  }
}

// Whether each size has a label that the library uses for this size or for a size nearby.
bool Near(const Series& series) {
  for (size_t i = 0; i < series.sizes.size(); ++i) {
    bool near = false;
    for (size_t j = 0; j < series.sizes.size(); ++j) {
      const double ratio = static_cast<double>(series.sizes[i]) / static_cast<double>(series.sizes[j]);
      near = near || (series.own[j] == series.label[i] && ratio <= kFarthest && ratio >= 1 / kFarthest);
    }
    if (!near) return false;
  }
  return true;
}

// Moves the sizes at which one label switches to the next, as long as this lowers the error.
absl::Status MoveSwitches(Samples& samples, Series* series, std::vector<std::string>* label, Solution* best) {
  double worth = 0;
  for (const auto& rows : series->rows) worth += kWorthIt * static_cast<double>(rows.size());
  bool moved = true;
  for (int round = 0; moved && round < 20; ++round) {
    moved = false;
    const Series now = *series;
    for (size_t i = 1; i < now.sizes.size() && !moved; ++i) {
      if (now.label[i] == now.label[i - 1]) continue;
      // `by` > 0: sizes i .. i + by - 1 join the smaller sizes; `by` < 0: sizes i + by .. i - 1 join the
      // larger ones.
      for (const int by : {1, 2, 3, 4, -1, -2, -3, -4}) {
        Series trial = now;
        bool fits = true;
        for (int k = 0; k < std::abs(by) && fits; ++k) {
          const auto at = static_cast<std::ptrdiff_t>(i) + (by > 0 ? k : -1 - k);
          fits = at >= 0 && at < static_cast<std::ptrdiff_t>(now.sizes.size());
          if (fits) trial.label[static_cast<size_t>(at)] = now.label[by > 0 ? i - 1 : i];
        }
        if (!fits || !Near(trial)) continue;
        std::vector<std::string> assigned = *label;
        Assign(trial, &assigned);
        ASSIGN_OR_RETURN(Solution solution, Solve(samples, assigned));
        if (solution.cost > best->cost - worth) continue;
        *best = std::move(solution);
        *series = trial;
        *label = assigned;
        moved = true;
      }
    }
  }
  return absl::OkStatus();
}

// Writes the fitted constants of one label, and lists those that were not fitted. `sizes`: the sizes of the
// label's rows.
void Write(const std::string& name, const LabelStart& start, const LabelFit& fit,
           const std::set<uint64_t>& sizes, Fit* out) {
  auto* terms = out->cluster.mutable_collectives()->mutable_library()->mutable_term();
  proto::LibraryTerm* term = nullptr;
  for (proto::LibraryTerm& t : *terms) {
    if (t.algorithm() == start.algorithm && t.protocol() == std::string(Name(start.protocol))) term = &t;
  }
  for (size_t j = 0; j < kConstants; ++j) {
    const bool share = j == kSlow || j == kNetworkSlow;
    const auto shown = [&](double v) { return share ? 1 / v : v; };
    std::string was = FourDigits(shown(start.start[j]));
    if (start.least[j] < start.start[j]) was = absl::StrCat(FourDigits(shown(start.least[j])), " to ", was);
    if (!fit.identified[j]) {
      if (!fit.reason[j].empty()) {
        out->kept.push_back(absl::StrCat(name, " ", kConstantNames[j], " stays ", was, ": ", fit.reason[j]));
      }
      continue;
    }
    if (term == nullptr) {
      term = terms->Add();
      term->set_algorithm(start.algorithm);
      term->set_protocol(std::string(Name(start.protocol)));
    }
    const double value = shown(fit.value[j]);
    if (j == kBase) term->set_base_us(value);
    if (j == kStep) term->set_step_us(value);
    if (j == kNetworkStep) term->set_network_step_us(value);
    if (j == kSlow) term->set_bus_share(value);
    if (j == kNetworkSlow) term->set_network_share(value);
    out->fitted.push_back(
        absl::StrCat(name, " ", kConstantNames[j], ": ", was, " -> ", FourDigits(value),
                     fit.bounded[j] && share ? " (the rows are faster: the links carry no more)" : ""));
    if (sizes.size() == 1) {
      out->warnings.push_back(
          absl::StrCat(name, " ", kConstantNames[j], " is fitted to only one size, ", *sizes.begin(),
                       " bytes; the value for other sizes is a guess; measure more sizes"));
    }
  }
}

// Writes a rule for each run of sizes whose label differs from the library's choice. The ends of a run are
// halfway (in the logarithm) to the next sizes. All other sizes keep the library's rules.
void WriteChoice(const Series& series, CollectiveType type, int ranks, const LibraryModel& library,
                 Fit* out) {
  auto& choice = *out->cluster.mutable_collectives()->mutable_library()->mutable_choice();
  const std::string collective(Name(type));
  std::map<uint64_t, std::string> moved = {{0, ""}};  // by first size; "": the library's choice
  std::string last;
  for (size_t i = 0; i < series.sizes.size(); ++i) {
    const std::string label = series.label[i] == series.own[i] ? "" : series.label[i];
    if (label == last) continue;
    last = label;
    const double below = i > 0 ? static_cast<double>(series.sizes[i - 1]) : 0;
    moved[static_cast<uint64_t>(std::ceil(std::sqrt(below * static_cast<double>(series.sizes[i]))))] = last;
  }
  LibraryModel others = library;  // the library without the rules that are replaced
  std::set<uint64_t> from;
  for (const auto& entry : moved) from.insert(entry.first);
  for (const auto& [text, rule] : library.choice) {
    const ChoiceKey key = *ParseChoiceKey(text);
    if (key.collective != collective || !key.group.empty()) continue;
    if (key.ranks != 0 && key.ranks != ranks) continue;
    from.insert(key.from);
    if (key.ranks == 0) continue;
    others.choice.erase(text);
    choice.erase(text);
  }
  std::optional<std::string> written;
  for (const uint64_t bytes : from) {
    const std::string& label = std::prev(moved.upper_bound(bytes))->second;
    const std::string rule = label.empty() ? RuleFor(library, type, bytes, ranks, "") : label;
    if (rule == (written ? *written : RuleFor(others, type, bytes, ranks, ""))) continue;
    written = rule;
    const std::string key = absl::StrCat(collective, ":", ranks, "@", bytes);
    choice[key] = rule;
    if (const auto given = library.choice.find(key); given != library.choice.end() && given->second == rule)
      continue;
    out->fitted.push_back(absl::StrCat(key, ": ", rule));
  }
}

}  // namespace

std::optional<size_t> NetworkLevel(const proto::CollectiveLibrary& library) {
  for (int i = library.level_size(); i-- > 0;) {
    if (library.level(i).link() == proto::LibraryLevel::NET) return static_cast<size_t>(i);
  }
  return std::nullopt;
}

std::string FourDigits(double value) { return absl::StrFormat("%.4g", value); }

double MedianError(const Fit& fit, bool after) {
  std::vector<double> errors;
  for (const FittedRow& r : fit.rows) {
    errors.push_back(std::abs((after ? r.after_us : r.before_us) / r.measured.time_us - 1));
  }
  return UpperMedian(std::move(errors));
}

absl::StatusOr<std::vector<FittedRow>> PriceRows(const proto::Cluster& before, const proto::Cluster& after,
                                                 const std::vector<MeasuredRow>& rows) {
  std::vector<FittedRow> out;
  for (const MeasuredRow& row : rows) out.push_back({row, "", 0, 0});
  for (const bool is_after : {false, true}) {
    ASSIGN_OR_RETURN(Samples samples, Samples::Make(is_after ? after : before, rows));
    for (size_t i = 0; i < rows.size(); ++i) {
      const Sample& s = samples.all()[i];
      ASSIGN_OR_RETURN(const double device_us, samples.Price(i));
      const double launches = samples.library().enqueue_us * s.devices_per_thread;
      const double us = std::max(s.gap_us + device_us, launches);
      (is_after ? out[i].after_us : out[i].before_us) = us;
      out[i].label = us == launches ? "launch" : s.label;
    }
  }
  return out;
}

namespace {

// Clears the fields of terms about transfers other than the bandwidth and, if `channels`, also those about
// channels. Returns false if no such field was set.
bool Simplify(bool channels, proto::Cluster* cluster) {
  bool any = false;
  for (proto::LibraryTerm& t : *cluster->mutable_collectives()->mutable_library()->mutable_term()) {
    any |= (channels && t.channel_gbytes_per_s() > 0) || t.own_gbytes_per_s() > 0 || t.fill_share() > 0 ||
           t.by_chunk() || t.step_overlaps();
    if (channels) {
      t.clear_channel_gbytes_per_s();
      t.clear_step_share();
    }
    t.clear_own_gbytes_per_s();
    t.clear_fill_bytes();
    t.clear_fill_share();
    t.clear_own_bytes();
    t.clear_step_overlaps();
    t.clear_by_chunk();
  }
  return any;
}

// The option with which nccl-tests was started.
std::string Launch(int devices_per_thread) {
  return devices_per_thread == 0 ? "an unknown -g" : absl::StrCat("-g ", devices_per_thread);
}

// Checks that all rows were launched in the same way. Small sizes measure the host if one thread launches on
// many devices, and the kernel if each device has its own thread.
absl::Status CheckLaunches(const std::vector<MeasuredRow>& rows) {
  for (const MeasuredRow& row : rows) {
    if (row.devices_per_thread == rows[0].devices_per_thread) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(row.file, ":", row.line, ": launched with ", Launch(row.devices_per_thread), ", but ",
                     rows[0].file, ":", rows[0].line, " with ", Launch(rows[0].devices_per_thread),
                     "; calibrate logs of different launches separately"));
  }
  return absl::OkStatus();
}

// The fit of `cluster`'s constants, and its cost: the sum of the rows' absolute logarithmic errors.
absl::StatusOr<std::pair<Fit, double>> FitOnce(const proto::Cluster& cluster,
                                               const std::vector<MeasuredRow>& rows) {
  ASSIGN_OR_RETURN(Samples made, Samples::Make(cluster, rows));
  Samples& samples = made;
  const std::vector<Sample>& all = samples.all();
  std::vector<std::string> label;
  for (const Sample& s : all) label.push_back(s.label);
  ASSIGN_OR_RETURN(Solution best, Solve(samples, label));

  Fit fit;
  fit.cluster = cluster;
  for (Series& series : SeriesOf(all)) {
    const bool told = std::any_of(series.rows.begin(), series.rows.end(),
                                  [&](const auto& rows_of) { return all[rows_of[0]].told; });
    if (told) continue;
    RETURN_IF_ERROR(MoveSwitches(samples, &series, &label, &best));
    if (series.label == series.own) continue;
    const MeasuredRow& any = rows[series.rows[0][0]];
    WriteChoice(series, any.type, any.ranks, samples.library(), &fit);
  }
  std::map<std::string, std::set<uint64_t>> sizes;
  for (size_t i = 0; i < all.size(); ++i) sizes[label[i]].insert(all[i].bytes);
  for (const auto& [name, of] : best.labels) Write(name, samples.labels().at(name), of, sizes[name], &fit);
  auto* library = fit.cluster.mutable_collectives()->mutable_library();
  if (best.enqueue_identified || best.enqueue_us != samples.library().enqueue_us) {
    fit.fitted.push_back(absl::StrCat(
        "enqueue_us: ", FourDigits(samples.library().enqueue_us), " -> ", FourDigits(best.enqueue_us),
        best.enqueue_identified ? "" : " (no row may be shorter than its launches)"));
    library->set_enqueue_us(std::min(best.enqueue_us, kMostMicros));
  } else {
    fit.kept.push_back(
        absl::StrCat("enqueue_us stays ", FourDigits(best.enqueue_us),
                     ": no two of the smallest sizes take the same time; measure small sizes"));
  }
  if (fit.fitted.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "these ", rows.size(), " rows identify no constant; measure more sizes, small and large"));
  }
  return std::pair(std::move(fit), best.cost);
}

}  // namespace

absl::Status JudgeFit(const proto::Cluster& before, const std::vector<MeasuredRow>& rows, Fit* fit) {
  ASSIGN_OR_RETURN(fit->rows, PriceRows(before, fit->cluster, rows));
  if (const double off = MedianError(*fit, /*after=*/true); off > kFarOff) {
    fit->warnings.push_back(absl::StrFormat(
        "the fitted cluster is still %.0f %% off its rows in the median: it does not explain them; look at "
        "the rows "
        "(another algorithm, other links than the cluster's, or a job at the same time as the measurement)",
        100 * off));
  }
  return absl::OkStatus();
}

absl::StatusOr<Fit> Calibrate(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) {
  RETURN_IF_ERROR(CheckLaunches(rows));
  absl::StatusOr<std::pair<Fit, double>> best = FitOnce(cluster, rows);
  if (!best.ok()) return best.status();
  // Older libraries and other machines follow simpler laws.
  for (const bool channels : {false, true}) {
    proto::Cluster plain = cluster;
    if (!Simplify(channels, &plain)) continue;
    absl::StatusOr<std::pair<Fit, double>> simpler = FitOnce(plain, rows);
    if (!simpler.ok() || simpler->second >= best->second) continue;
    best = std::move(simpler);
    best->first.fitted.push_back(
        absl::StrCat("terms: ", channels ? "channel_gbytes_per_s, " : "",
                     "own_gbytes_per_s and fill_share are dropped; the rows follow only the ",
                     channels ? "bandwidth" : "bandwidth and the channels"));
  }
  Fit fit = std::move(best->first);
  RETURN_IF_ERROR(JudgeFit(cluster, rows, &fit));
  return fit;
}

}  // namespace chakra
