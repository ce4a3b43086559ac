#include "replay/calibrate/samples.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/collective_runner.h"
#include "replay/library/choose.h"
#include "replay/library/price.h"
#include "replay/library/rates.h"

namespace chakra {
namespace {

std::string Lower(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

absl::Status At(const MeasuredRow& row, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(row.file, ":", row.line, ": ", what));
}

}  // namespace

absl::StatusOr<Samples> Samples::Make(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) {
  Samples out;
  for (const MeasuredRow& row : rows) {
    if (absl::Status s = out.Add(cluster, row); !s.ok()) return s;
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
    return At(row, absl::StrCat(row.ranks, " ranks on ", row.nodes, " nodes, but the cluster lays them on ",
                                nodes, "; give the cluster that was measured (gpus_per_node=N)"));
  }
  Sample sample;
  sample.measured_us = row.time_us;
  sample.launch_us = library.launch_us;
  sample.devices_per_thread =
      row.devices_per_thread > 0 ? row.devices_per_thread : series.table->devices_per_thread();
  sample.series = static_cast<int>(s);
  sample.bytes = row.bytes;
  const std::vector<Candidate> candidates = Candidates(library, row.type, row.bytes, series.table->shape());
  std::string rule = RuleFor(library, row.type, row.bytes, row.ranks, "");
  if (!row.algorithm.empty() && !row.protocol.empty()) {
    rule = absl::StrCat(Lower(row.algorithm), "/", Lower(row.protocol));
    sample.told = true;
  }
  const absl::StatusOr<Choice> choice = Choose(candidates, rule, [&](const Candidate& c) {
    return PriceUncontended(series.table->fabric(),
                            ForceChoice(series.table->cluster().collectives, row.type, c), row.type,
                            row.bytes, 0, series.table->members());
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
  const Rates rates(*series.table->cluster().collectives.library, series.table->shape(), c.algorithm);
  const nccl::Algorithm family = FamilyOf(c.algorithm);
  label.algorithm = c.algorithm;
  label.protocol = c.protocol;
  label.start[kBase] = rates.Base(family, c.protocol);
  label.start[kStep] = std::max(label.start[kStep], rates.Step(family, c.protocol, false));
  label.start[kNetworkStep] = std::max(label.start[kNetworkStep], rates.Step(family, c.protocol, true));
  const auto& terms = series.table->cluster().collectives.library->terms;
  const auto found = terms.find({c.algorithm, c.protocol});
  const LibraryTerm given = found == terms.end() ? LibraryTerm() : found->second;
  label.start[kSlow] = 1 / given.bus_share.value_or(1);
  label.start[kNetworkSlow] = 1 / given.network_share.value_or(1);
}

absl::StatusOr<double> Samples::DeviceTime(const Series& series, uint64_t bytes, const LabelStart& label,
                                           const Constants& constants) const {
  CollectiveCosts costs = series.table->cluster().collectives;
  auto library = std::make_shared<LibraryModel>(*costs.library);
  LibraryTerm& term = library->terms[{label.algorithm, label.protocol}];
  term = {constants[kBase], constants[kStep], constants[kNetworkStep], 1 / constants[kSlow],
          1 / constants[kNetworkSlow]};
  library->choice = {{std::string(Name(series.type)),
                      absl::StrCat(label.algorithm, "/", std::string(Name(label.protocol)))}};
  costs.library = std::move(library);
  const bool grows = BufferBytes(series.type, 1, 2) == 2;
  const auto ranks = static_cast<uint64_t>(series.ranks);
  const uint64_t comm_size = grows ? std::max<uint64_t>(1, bytes / ranks) : bytes;
  const absl::StatusOr<Time> time =
      PriceUncontended(series.table->fabric(), costs, series.type, comm_size, 0, series.table->members());
  if (!time.ok()) return time.status();
  return static_cast<double>(time->picos()) * 1e-6;
}

absl::StatusOr<Linear> Samples::AsLabel(size_t i, const std::string& name) {
  const Sample& sample = samples_[i];
  Series& series = series_[static_cast<size_t>(sample.series)];
  const auto known = series.known.find({sample.bytes, name});
  if (known != series.known.end()) return known->second;
  const LabelStart& label = labels_.at(name);
  Linear linear;
  const absl::StatusOr<double> fixed = DeviceTime(series, sample.bytes, label, label.start);
  if (!fixed.ok()) return fixed.status();
  linear.fixed = *fixed;
  // The time is linear in each constant but for rounding, so one difference gives the slope.
  constexpr Constants kStepOf = {10, 1, 1, 0.125, 0.125};
  for (size_t j = 0; j < kConstants; ++j) {
    Constants moved = label.start;
    moved[j] += kStepOf[j];
    const absl::StatusOr<double> time = DeviceTime(series, sample.bytes, label, moved);
    if (!time.ok()) return time.status();
    linear.slope[j] = (*time - *fixed) / kStepOf[j];
  }
  series.known.emplace(std::make_pair(sample.bytes, name), linear);
  return linear;
}

}  // namespace chakra
