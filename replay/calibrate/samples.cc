#include "replay/calibrate/samples.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "replay/engine/price.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/rates.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kMaxShare = 1000;  // the maximum share that BuildLibrary() accepts
constexpr double kMaxSlow = 1e6;

std::string Lower(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

absl::Status At(const MeasuredRow& row, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(row.file, ":", row.line, ": ", what));
}

// The fields, indexed by Constant.
constexpr std::optional<double> LibraryTerm::*kFields[kConstants] = {
    &LibraryTerm::base_us, &LibraryTerm::step_us, &LibraryTerm::network_step_us, &LibraryTerm::bus_share,
    &LibraryTerm::network_share};

bool HasAny(const LibraryTerm& term) {
  return std::any_of(std::begin(kFields), std::end(kFields),
                     [&](const auto field) { return (term.*field).has_value(); });
}

// The maximum share, at which messages use their links fully. LL sends as many bytes of flags as of data; in
// LL128, 8 of 128 bytes are flags.
double MostShare(const LibraryModel& library, CollectiveType type, const GroupShape& shape,
                 const Candidate& c) {
  LibraryModel plain = library;
  plain.terms.clear();
  LibraryModel ideal = plain;
  for (LibraryLevel& level : ideal.levels) {
    level.efficiency = level.carried = level.transport.exchange_share = 1;
    level.transport.crowding = 0;
    if (level.in_switch_efficiency > 0) level.in_switch_efficiency = 1;
    level.in_switch_channels = 1;
  }
  Candidate all = c;  // a candidate that uses a whole link
  all.protocol = Protocol::kSimple;
  if (c.algorithm == "tree") all.algorithm = all.plan = "ring";
  if (c.algorithm == "pat") all.algorithm = all.plan = "direct";
  const CallCosts with = CostsOf(plain, type, 1, shape, c);
  const CallCosts without = CostsOf(ideal, type, 1, shape, all);
  const double data = c.protocol == Protocol::kLL ? 0.5 : c.protocol == Protocol::kLL128 ? 120.0 / 128 : 1;
  double most = kMaxShare;
  for (const int level : shape.levels) {
    const auto l = static_cast<size_t>(level);
    most = std::min(most, data * without.RateOf(l) / with.RateOf(l));
  }
  return most;
}

// The library without the additions of NICs and their transport to a step. A term's network_step_us replaces
// only the library's constant; these additions apply in both cases.
LibraryModel WithoutCards(LibraryModel library) {
  for (LibraryLevel& level : library.levels) level.nic_latency_us = level.transport.message_us = 0;
  return library;
}

}  // namespace

absl::StatusOr<Samples> Samples::Make(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) {
  Samples out;
  for (const MeasuredRow& row : rows) {
    RETURN_IF_ERROR(out.Add(cluster, row));
  }
  if (out.samples_.empty()) return absl::InvalidArgumentError("no measurements to fit");
  out.library_ = out.series_[0].table->cluster().collectives.library.get();
  return out;
}

absl::Status Samples::Add(const proto::Cluster& cluster, const MeasuredRow& row) {
  size_t s = 0;
  while (s < series_.size() && (series_[s].type != row.type || series_[s].ranks != row.ranks)) ++s;
  if (s == series_.size()) {
    TableOptions options;
    options.type = row.type;
    options.ranks = row.ranks;
    absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(cluster, options);
    if (!table.ok()) return At(row, std::string(table.status().message()));
    if (table->cluster().collectives.library == nullptr) {
      return absl::InvalidArgumentError(
          "the cluster has no collectives.library to fit; start from a preset, or add one to the file");
    }
    series_.push_back({row.type, row.ranks, std::make_unique<CollectiveTable>(*std::move(table)), {}});
  }
  const Series& series = series_[s];
  const LibraryModel& library = *series.table->cluster().collectives.library;
  const int nodes = Rates(library, series.table->shape()).nodes();
  if (row.nodes > 0 && row.nodes != nodes) {
    return At(row, absl::StrCat(row.ranks, " ranks on ", row.nodes, " nodes, but the cluster places them on ",
                                nodes, "; give the cluster that was measured (gpus_per_node=N)"));
  }
  Sample sample;
  sample.measured_us = row.time_us;
  sample.gap_us = library.kernel_gap_us;
  sample.devices_per_thread =
      row.devices_per_thread > 0 ? row.devices_per_thread : series.table->devices_per_thread();
  sample.series = static_cast<int>(s);
  sample.nodes = nodes;
  sample.bytes = row.bytes;
  const std::vector<Candidate> candidates = Candidates(library, row.type, row.bytes, series.table->shape());
  std::string rule = RuleFor(library, row.type, row.bytes, row.ranks, "");
  if (!row.algorithm.empty() && !row.protocol.empty()) {
    rule = absl::StrCat(Lower(row.algorithm), "/", Lower(row.protocol));
    sample.told = true;
  }
  const absl::StatusOr<Choice> choice = Choose(candidates, rule, [&](const Candidate& c) {
    return PriceUncontended(series.table->machine(),
                            ForceChoice(series.table->cluster().collectives, row.type, c), row.type,
                            CommSize(row.type, row.bytes, row.ranks), 0, series.table->members());
  });
  if (!choice.ok()) return At(row, std::string(choice.status().message()));
  sample.label = choice->candidate.Label();
  for (const Candidate& c : candidates) {
    if (c.unfit.empty() || c.Label() == sample.label) Start(series, c);
  }
  samples_.push_back(std::move(sample));
  return absl::OkStatus();
}

void Samples::Start(const Series& series, const Candidate& c) {
  LabelStart& label = labels_[c.Label()];
  const LibraryModel library = WithoutCards(*series.table->cluster().collectives.library);
  const Rates rates(library, series.table->shape(), c.algorithm);
  const nccl::Algorithm family = FamilyOf(c.algorithm);
  if (label.algorithm.empty()) {
    label.lower = {0, 0, 0, 1 / kMaxShare, 1 / kMaxShare};
    label.upper = {kMostMicros, kMostMicros, kMostMicros, kMaxSlow, kMaxSlow};
  }
  label.algorithm = c.algorithm;
  label.protocol = c.protocol;
  const auto found = library.terms.find({c.algorithm, c.protocol});
  const LibraryTerm none;
  const LibraryTerm& given = found == library.terms.end() ? none : found->second;
  const Constants start = {rates.Base(family, c.protocol), rates.Step(family, c.protocol, false),
                           rates.Step(family, c.protocol, true), 1 / given.bus_share.value_or(1),
                           1 / given.network_share.value_or(1)};
  for (size_t j = 0; j < kConstants; ++j) {
    label.start[j] = std::max(label.start[j], start[j]);
    if (start[j] > 0) label.least[j] = label.least[j] > 0 ? std::min(label.least[j], start[j]) : start[j];
  }
  const Constant share = rates.nodes() > 1 ? kNetworkSlow : kSlow;
  const LibraryModel& whole = *series.table->cluster().collectives.library;
  const double most = std::min(MostShare(whole, series.type, series.table->shape(), c), kMaxShare);
  label.lower[share] = std::min(std::max(label.lower[share], 1 / most), start[share]);
}

absl::StatusOr<double> Samples::DeviceTime(const Series& series, uint64_t bytes, const LabelStart& label,
                                           const LibraryTerm& term,
                                           const std::function<void(LibraryModel*)>& change) const {
  CollectiveCosts costs = series.table->cluster().collectives;
  auto library = std::make_shared<LibraryModel>(*costs.library);
  if (HasAny(term)) {
    LibraryTerm& to = library->terms[{label.algorithm, label.protocol}];
    for (size_t j = 0; j < kConstants; ++j) {
      if (const auto& field = term.*kFields[j]) to.*kFields[j] = field;
    }
  }
  library->choice = {{std::string(Name(series.type)),
                      absl::StrCat(label.algorithm, "/", std::string(Name(label.protocol)))}};
  if (change) change(library.get());
  costs.library = std::move(library);
  ASSIGN_OR_RETURN(const Time time,
                   PriceUncontended(series.table->machine(), costs, series.type,
                                    CommSize(series.type, bytes, series.ranks), 0, series.table->members()));
  return static_cast<double>(time.picos()) * 1e-6;
}

absl::StatusOr<double> Samples::Price(size_t i) const {
  const Sample& sample = samples_[i];
  return DeviceTime(series_[static_cast<size_t>(sample.series)], sample.bytes, labels_.at(sample.label), {});
}

absl::StatusOr<double> Samples::PriceWith(size_t i, const std::function<void(LibraryModel*)>& change) const {
  const Sample& sample = samples_[i];
  return DeviceTime(series_[static_cast<size_t>(sample.series)], sample.bytes, labels_.at(sample.label), {},
                    change);
}

absl::StatusOr<Linear> Samples::AsLabel(size_t i, const std::string& name) {
  const Sample& sample = samples_[i];
  Series& series = series_[static_cast<size_t>(sample.series)];
  const auto known = series.known.find({sample.bytes, name});
  if (known != series.known.end()) return known->second;
  const LabelStart& label = labels_.at(name);
  Linear linear;
  ASSIGN_OR_RETURN(const double fixed, DeviceTime(series, sample.bytes, label, {}));
  linear.fixed = fixed;
  // Except for rounding, the time is linear in each constant, so two values determine the line.
  constexpr Constants kStepOf = {10, 1, 1, 0.125, 0.125};
  for (size_t j = 0; j < kConstants; ++j) {
    std::array<double, 2> us{};
    for (const int moved : {0, 1}) {
      const double value = label.start[j] + moved * kStepOf[j];
      LibraryTerm term;
      term.*kFields[j] = j == kSlow || j == kNetworkSlow ? 1 / value : value;
      ASSIGN_OR_RETURN(us[static_cast<size_t>(moved)], DeviceTime(series, sample.bytes, label, term));
    }
    linear.slope[j] = (us[1] - us[0]) / kStepOf[j];
    linear.start[j] = label.start[j];
    if (linear.slope[j] > 0) linear.start[j] -= (us[0] - fixed) / linear.slope[j];
  }
  series.known.emplace(std::make_pair(sample.bytes, name), linear);
  return linear;
}

}  // namespace chakra
