#include "replay/calibrate/transport_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/calibrate/samples.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr uint64_t kSmall = 8 << 10;
constexpr uint64_t kMiddleFrom = 16 << 10, kMiddleTo = 256 << 10;
constexpr uint64_t kLarge = 1 << 20;
constexpr size_t kLargestSizes = 4;  // number of a series' largest sizes that determine the rate
constexpr uint64_t kSmallToPeer = 1 << 10;
constexpr size_t kFewestRows = 3;
constexpr int kMostRounds = 10;
constexpr double kSettled = 0.001;    // the fit ends after a round that changes no value by more than this
constexpr double kLeastTold = 0.01;   // minimum effect on a row that determines a field: of the whole field,
                                      // or of 1 us
constexpr double kLeastByRate = 0.3;  // minimum share of the rate in the time of a row that determines the
                                      // rate
constexpr double kTooUncertain = 0.2;
constexpr double kPeersApart = 0.2;  // minimum relative difference of two rows that determine post_us by the
                                     // difference of their peers
constexpr size_t kMostPaired = 400;
constexpr double kLaunchBound = 1.08;  // a row up to this factor above its launches shows the host's time
constexpr double kLeastShare = 1e-3;
// Terms are fitted to all rows if they halve the median error and lower it by at least this.
constexpr double kWorthTerms = 0.02;

enum Field { kMessage, kRate, kLargeUs, kPost, kExchange };
constexpr int kTransportFields = 5;
// Values in the form in which the time is linear: for the rate, its reciprocal.
using Values = std::array<double, kTransportFields>;

struct Info {
  const char* name;
  double step;      // a change that is visible in times
  double least_us;  // a smaller uncertainty is ignored; 0: only the relative uncertainty counts
  const char* needs;
};
constexpr Info kInfo[kTransportFields] = {
    {"message_us", 1, 1, "rows of two node counts, at most 8 KiB, of a collective of rings or trees"},
    {"rate_share", 0.03, 0, "rows between nodes whose time is the time of the NICs, of 1 MiB and more"},
    {"large_us", 1, 1, "rows between nodes of 16 KiB to 256 KiB, of a collective of rings or trees"},
    {"post_us", 0.5, 0.2, "rows of all_to_all between nodes, below 1 KiB to a peer"},
    {"exchange_us", 1, 1, "rows of all_to_all on two counts of several nodes, below 1 KiB to a peer"}};

double Shown(Field f, double value) { return f == kRate ? 1 / value : value; }

// Formats sizes as "8 KiB" or "100 bytes".
std::string Size(uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return absl::StrCat(bytes >> 20, " MiB");
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return absl::StrCat(bytes >> 10, " KiB");
  return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
}

// Formats sets as "2", "2 and 4", or "2, 4 and 8".
template <typename T>
std::string Listed(const std::set<T>& of) {
  std::string out;
  size_t at = 0;
  for (const T& each : of) {
    absl::StrAppend(&out, at == 0 ? "" : at + 1 == of.size() ? " and " : ", ", each);
    ++at;
  }
  return out;
}

// The value of a field according to one row. `weight`: the share of 1 of the field in the row's time.
struct Told {
  size_t row;
  double value;
  double weight;
  double slope;    // us for a change of 1 of the field
  double missing;  // us by which the row takes longer than with the current values
};

// Values of rows, each with its weight.
using Weighted = std::vector<std::pair<double, double>>;

double WeightedMedian(Weighted of) {
  std::sort(of.begin(), of.end());
  const double all = std::accumulate(of.begin(), of.end(), 0.0,
                                     [](double sum, const auto& value) { return sum + value.second; });
  double below = 0;
  for (const auto& [value, weight] : of) {
    below += weight;
    if (2 * below >= all) return value;
  }
  return of.empty() ? 0 : of.back().first;
}

double WeightedMean(const Weighted& of) {
  double sum = 0, all = 0;
  for (const auto& [value, weight] : of) {
    sum += value * weight;
    all += weight;
  }
  return all > 0 ? sum / all : 0;
}

class Fitter {
 public:
  Fitter(const Samples& samples, const std::vector<MeasuredRow>& rows, size_t level, const Transport& start)
      : samples_(samples), rows_(rows), level_(level) {
    start_ = {start.message_us, 1 / start.rate_share, start.large_us, start.post_us,
              start.small_bytes > 0 ? start.small_exchange_us : start.exchange_us};
    values_ = start_;
    small_bytes_ = start.small_bytes;
    for (const Sample& s : samples.all()) {
      sizes_[static_cast<size_t>(s.series)].insert(s.bytes);
      one_node_ = one_node_ || s.nodes == 1;
    }
    others_ = std::any_of(rows.begin(), rows.end(), [](const MeasuredRow& row) {
      return row.type != CollectiveType::kAllToAll && row.bytes >= kLarge;
    });
  }

  absl::Status Run(bool rate) {
    for (int round = 0; round < kMostRounds; ++round) {
      double moved = 0;
      for (int i = 0; i < kTransportFields; ++i) {
        const auto f = static_cast<Field>(i);
        if (f == kRate && !rate) continue;
        const double was = values_[f];
        RETURN_IF_ERROR(Estimate(f));
        moved = std::max(moved, std::abs(values_[f] - was) / std::max(was, 1e-3));
      }
      if (moved <= kSettled) break;
    }
    return DropWhatHelpsNot();
  }

  // The rows that determine the field; empty: no rows do.
  const std::string& TellsOf(Field f) const { return tells_[f]; }
  const std::string& WhyNot(Field f) const { return why_not_[f]; }
  double Start(Field f) const { return Shown(f, start_[f]); }
  double Value(Field f) const { return Shown(f, values_[f]); }
  bool small() const { return small_bytes_ > 0; }
  // The exchange field for messages of at most small_bytes has another name.
  const char* NameOf(Field f) const {
    return f == kExchange && small_bytes_ > 0 ? "small_exchange_us" : kInfo[f].name;
  }

 private:
  // Whether the row may determine the field, by its kind and size.
  bool Concerns(Field f, size_t i) const {
    const Sample& s = samples_.all()[i];
    if (s.nodes < 2) return false;
    const bool to_all = rows_[i].type == CollectiveType::kAllToAll;
    const bool steps = absl::StartsWith(s.label, "ring/") || absl::StartsWith(s.label, "tree/");
    const uint64_t to_peer = s.bytes / static_cast<uint64_t>(std::max(1, rows_[i].ranks));
    switch (f) {
      case kMessage:
        return steps && s.bytes <= kSmall;
      case kLargeUs:
        return steps && s.bytes >= kMiddleFrom && s.bytes <= kMiddleTo;
      case kPost:
      case kExchange:
        return to_all && to_peer < kSmallToPeer &&
               (small_bytes_ <= 0 || static_cast<double>(to_peer) <= small_bytes_);
      case kRate:
        break;
    }
    const std::set<uint64_t>& sizes = sizes_.at(static_cast<size_t>(s.series));
    const auto larger = std::distance(sizes.upper_bound(s.bytes), sizes.end());
    return s.bytes >= kLarge && static_cast<size_t>(larger) < kLargestSizes && (!to_all || !others_);
  }

  // The time of row `i` with `values`, as in the table of calls.
  absl::StatusOr<double> Price(size_t i, const Values& values) const {
    const Sample& s = samples_.all()[i];
    ASSIGN_OR_RETURN(const double us, samples_.PriceWith(i, [&](LibraryModel* library) {
      if (level_ >= library->levels.size()) return;  // a group of one node may not have this level
      LibraryLevel& level = library->levels[level_];
      level.transport.message_us = values[kMessage];
      if (values[kRate] != start_[kRate]) level.carried = level.transport.rate_share = 1 / values[kRate];
      level.transport.large_us = values[kLargeUs];
      level.transport.post_us = values[kPost];
      (small_bytes_ > 0 ? level.transport.small_exchange_us : level.transport.exchange_us) =
          values[kExchange];
    }));
    return std::max(s.gap_us + us, samples_.library().enqueue_us * s.devices_per_thread);
  }

  absl::StatusOr<std::vector<Told>> Ask(Field f) const {
    std::vector<Told> told;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Sample& s = samples_.all()[i];
      const double launches = samples_.library().enqueue_us * s.devices_per_thread;
      if (!Concerns(f, i) || s.measured_us < kLaunchBound * launches) continue;
      Values moved = values_;
      const double step = kInfo[f].step * (f == kRate ? values_[f] : 1);
      moved[f] += step;
      const absl::StatusOr<double> now = Price(i, values_), then = Price(i, moved);
      if (!now.ok()) return now.status();
      if (!then.ok()) return then.status();
      const double slope = (*then - *now) / step;
      const double effect = slope * (f == kRate ? values_[f] : std::max(values_[f], 1.0)) / s.measured_us;
      if (effect < (f == kRate ? kLeastByRate : kLeastTold)) continue;
      const double missing = s.measured_us - *now;
      told.push_back({i, values_[f] + missing / slope, slope / s.measured_us, slope, missing});
    }
    return told;
  }

  // The values of post_us from pairs of rows with different numbers of peers. Differences cancel the time
  // that a call takes once.
  Weighted OfPairs(const std::vector<Told>& told) const {
    Weighted out;
    const size_t n = std::min(told.size(), kMostPaired);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double slope = told[i].slope - told[j].slope;
        if (std::abs(slope) < kPeersApart * std::max(told[i].slope, told[j].slope)) continue;
        const double measured =
            samples_.all()[told[i].row].measured_us + samples_.all()[told[j].row].measured_us;
        out.push_back(
            {values_[kPost] + (told[i].missing - told[j].missing) / slope, std::abs(slope) / measured});
      }
    }
    return out;
  }

  absl::Status Estimate(Field f) {
    ASSIGN_OR_RETURN(const std::vector<Told> told, Ask(f));
    Weighted values;
    std::set<int> nodes;
    if (one_node_ && f == kMessage) nodes.insert(1);
    for (const Told& t : told) {
      nodes.insert(samples_.all()[t.row].nodes);
      values.push_back({t.value, t.weight});
    }
    if (f == kPost) {
      if (Weighted pairs = OfPairs(told); !pairs.empty()) values = std::move(pairs);
    }
    values_[f] = start_[f];
    tells_[f].clear();
    const bool two_counts = f == kMessage || f == kExchange;
    if (told.size() < kFewestRows || (two_counts && nodes.size() < 2)) {
      why_not_[f] = absl::StrCat(
          "not determined: needs ", kInfo[f].needs,
          told.empty() ? ""
                       : absl::StrCat(" (found ", told.size(), told.size() == 1 ? " row on " : " rows on ",
                                      Listed(nodes), " nodes)"));
      return absl::OkStatus();
    }
    const double value = WeightedMedian(values);
    for (auto& [off, weight] : values) off = std::abs(off - value);
    // For normal errors: the standard deviation from their mean absolute value, and the error of a median
    // from the standard deviation.
    const double error = 1.2533 * 1.2533 * WeightedMean(values) / std::sqrt(static_cast<double>(told.size()));
    if (error > std::max(kTooUncertain * std::abs(value), kInfo[f].least_us)) {
      why_not_[f] = absl::StrCat(
          "not determined: its ", told.size(), " rows scatter too much: ",
          absl::StrFormat("%.3g +- %.2g", Shown(f, value), f == kRate ? error / (value * value) : error));
      return absl::OkStatus();
    }
    values_[f] = f == kRate ? std::clamp(value, 1.0, 1 / kLeastShare) : std::clamp(value, 0.0, kMostMicros);
    tells_[f] = Describe(told);
    if (value < values_[f]) tells_[f] += "; they are faster than any value allows";
    return absl::OkStatus();
  }

  // The sum of the absolute logarithmic errors of all rows between nodes.
  absl::StatusOr<double> Cost(const Values& values) const {
    double cost = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Sample& s = samples_.all()[i];
      if (s.nodes < 2) continue;
      ASSIGN_OR_RETURN(const double us, Price(i, values));
      cost += std::abs(std::log(std::max(us, 1e-3) / s.measured_us));
    }
    return cost;
  }

  // A field changes the times of more rows than those that determine it. It keeps its old value if all rows
  // together are then nearer.
  absl::Status DropWhatHelpsNot() {
    absl::StatusOr<double> cost = Cost(values_);
    if (!cost.ok()) return cost.status();
    for (int i = 0; i < kTransportFields; ++i) {
      const auto f = static_cast<Field>(i);
      if (tells_[f].empty() || values_[f] == start_[f]) continue;
      Values without = values_;
      without[f] = start_[f];
      const absl::StatusOr<double> then = Cost(without);
      if (!then.ok()) return then.status();
      if (*then >= *cost) continue;
      why_not_[f] = absl::StrCat("all rows between nodes fit better with this value than with ",
                                 FourDigits(Shown(f, values_[f])), ", ", std::exchange(tells_[f], ""));
      values_ = without;
      cost = then;
    }
    return absl::OkStatus();
  }

  // Formats "by 12 rows of all_reduce on 2 and 4 nodes, 8 bytes to 8 KiB".
  std::string Describe(const std::vector<Told>& told) const {
    std::set<std::string> kinds;
    std::set<int> nodes;
    uint64_t least = UINT64_MAX, most = 0;
    for (const Told& t : told) {
      kinds.insert(std::string(Name(rows_[t.row].type)));
      nodes.insert(samples_.all()[t.row].nodes);
      least = std::min(least, rows_[t.row].bytes);
      most = std::max(most, rows_[t.row].bytes);
    }
    return absl::StrCat("determined by ", told.size(), " rows of ", Listed(kinds), " on ", Listed(nodes),
                        " nodes, ", Size(least), most > least ? absl::StrCat(" to ", Size(most)) : "");
  }

  const Samples& samples_;
  const std::vector<MeasuredRow>& rows_;
  size_t level_;
  Values start_{}, values_{};
  std::array<std::string, kTransportFields> tells_, why_not_;
  std::map<size_t, std::set<uint64_t>> sizes_;  // by series
  double small_bytes_ = 0;
  bool one_node_ = false;
  bool others_ = false;  // whether there are large rows of collectives other than all_to_all
};

void Set(Field f, double value, bool small, proto::NetworkTransport* to) {
  if (f == kMessage) to->set_message_us(value);
  if (f == kRate) to->set_rate_share(value);
  if (f == kLargeUs) to->set_large_us(value);
  if (f == kPost) to->set_post_us(value);
  if (f == kExchange) small ? to->set_small_exchange_us(value) : to->set_exchange_us(value);
}

void WriteRow(const Fitter& fitter, bool rate, size_t index, TransportFit* out) {
  proto::LibraryLevel* level =
      out->cluster.mutable_collectives()->mutable_library()->mutable_level(static_cast<int>(index));
  std::vector<std::string> names;
  for (int i = 0; i < kTransportFields; ++i) {
    const auto f = static_cast<Field>(i);
    const std::string name = absl::StrCat("transport.", fitter.NameOf(f));
    if (f == kRate && !rate) {
      out->kept.push_back(
          absl::StrCat(name, " is not used: level[", index, "].carried is given, which replaces it"));
    } else if (fitter.TellsOf(f).empty()) {
      out->kept.push_back(absl::StrCat(name, " stays ", FourDigits(fitter.Start(f)), ": ", fitter.WhyNot(f)));
    } else {
      out->fitted.push_back(absl::StrCat(name, ": ", FourDigits(fitter.Start(f)), " -> ",
                                         FourDigits(fitter.Value(f)), ", ", fitter.TellsOf(f)));
      Set(f, fitter.Value(f), fitter.small(), level->mutable_transport());
      names.push_back(fitter.NameOf(f));
    }
  }
  if (names.empty()) return;
  level->mutable_transport()->set_source(
      absl::StrCat(level->transport().source(), level->transport().source().empty() ? "" : "; ",
                   absl::StrJoin(names, ", "), " fitted to rows between nodes"));
}

}  // namespace

absl::StatusOr<TransportFit> FitTransport(const proto::Cluster& cluster,
                                          const std::vector<MeasuredRow>& rows) {
  ASSIGN_OR_RETURN(const Samples samples, Samples::Make(cluster, rows));
  TransportFit out;
  out.cluster = cluster;
  const std::optional<size_t> index = NetworkLevel(cluster.collectives().library());
  const bool crossed =
      std::any_of(samples.all().begin(), samples.all().end(), [](const Sample& s) { return s.nodes > 1; });
  if (!index || !crossed) return out;
  const proto::LibraryLevel& level = cluster.collectives().library().level(static_cast<int>(*index));
  ASSIGN_OR_RETURN(const Transport start,
                   BuildTransport(level.transport(), absl::StrCat("level[", *index, "].transport.")));
  const bool rate = level.carried() <= 0;
  Fitter fitter(samples, rows, *index, start);
  RETURN_IF_ERROR(fitter.Run(rate));
  WriteRow(fitter, rate, *index, &out);
  return out;
}

namespace {

void Append(const std::vector<std::string>& from, std::vector<std::string>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// The rows of one node.
absl::StatusOr<std::vector<MeasuredRow>> OfOneNode(const proto::Cluster& cluster,
                                                   const std::vector<MeasuredRow>& rows) {
  ASSIGN_OR_RETURN(const Samples samples, Samples::Make(cluster, rows));
  std::vector<MeasuredRow> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (samples.all()[i].nodes == 1) out.push_back(rows[i]);
  }
  return out;
}

}  // namespace

absl::StatusOr<Fit> CalibrateApart(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredRow> one, OfOneNode(cluster, rows));
  if (one.size() == rows.size()) return Calibrate(cluster, rows);
  Fit fit;
  fit.cluster = cluster;
  if (!one.empty()) {
    absl::StatusOr<Fit> inside = Calibrate(cluster, one);
    if (inside.ok())
      fit = *std::move(inside);
    else
      fit.kept.push_back(absl::StrCat("terms of one node: ", std::string(inside.status().message())));
  } else {
    fit.kept.push_back("the library's terms stay: not determined: needs rows of one node");
  }
  ASSIGN_OR_RETURN(TransportFit between, FitTransport(fit.cluster, rows));
  const bool told = !between.fitted.empty();
  fit.cluster = between.cluster;
  Append(between.fitted, &fit.fitted);
  Append(between.kept, &fit.kept);
  RETURN_IF_ERROR(JudgeFit(cluster, rows, &fit));
  const double off = MedianError(fit, true);
  if (told && off < kWorthTerms) return fit;
  absl::StatusOr<Fit> terms = Calibrate(told ? fit.cluster : cluster, rows);
  if (!terms.ok()) return told ? absl::StatusOr<Fit>(std::move(fit)) : terms.status();
  const double then = MedianError(*terms, true);
  if (told && (2 * then > off || off - then < kWorthTerms)) return fit;
  if (told) {
    terms->warnings.push_back(
        absl::StrFormat("with the fitted transport, the rows are still %.0f %% off in the median; terms of "
                        "the library are fitted to them too",
                        100 * off));
    Append(fit.fitted, &terms->fitted);
    // The times before all fits, not only before the fit of terms.
    ASSIGN_OR_RETURN(terms->rows, PriceRows(cluster, terms->cluster, rows));
  }
  Append(between.kept, &terms->kept);
  return terms;
}

}  // namespace chakra
