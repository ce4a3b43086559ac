#include "replay/report/metering.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/economics/carbon.h"
#include "replay/economics/cost.h"
#include "replay/economics/tables.h"
#include "replay/economics/tree.h"
#include "replay/report/energy.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {

absl::StatusOr<std::unique_ptr<Metering>> Metering::Make(const RunOptions& options,
                                                         const ClusterModel& cluster, const TraceSet& traces,
                                                         const SymmetricRanks* symmetric,
                                                         std::vector<ComputeTimes>* times, bool keep) {
  auto out = std::unique_ptr<Metering>(new Metering);
  ASSIGN_OR_RETURN(const auto model, energy::LoadEnergyModel(options.energy_file));
  ASSIGN_OR_RETURN(out->constants_, energy::ConstantsOf(model, cluster.proto.device().name()));
  if (!options.power_cap.empty()) {
    RETURN_IF_ERROR(energy::SetCap(options.power_cap, &out->constants_));
  }
  out->traces_ = &traces;
  out->options_ = &options;
  RETURN_IF_ERROR(out->LoadTables());
  const proto::NodePower& node = out->constants_.profile.node();
  out->bill_ = energy::BillOf(cluster.topology, node);
  out->places_ = energy::PlacesOf(cluster.device_of, traces.ranks.size(), node);
  out->powers_ = energy::PowerOfRows(traces, *times, cluster.proto.device(), out->constants_);
  if (!out->powers_.times.empty()) *times = std::move(out->powers_.times);
  const DistinctGraphs distinct(traces);
  out->graph_of_.assign(distinct.of_rank.begin(), distinct.of_rank.end());
  out->meter_ = std::make_unique<energy::PowerMeter>(energy::LevelsOf(out->constants_), out->powers_.rows,
                                                     out->graph_of_, out->places_, keep, symmetric);
  if (options.fabric_options.threads > 1)
    out->thread_ = std::make_unique<energy::MeterThread>(out->meter_.get());
  return out;
}

void Metering::Finish(Time makespan) {
  makespan_ = makespan;
  if (thread_ != nullptr) thread_->Stop();
  meter_->Finish(makespan);
}

absl::Status Metering::LoadTables() {
  if (!options_->prices.empty()) {
    ASSIGN_OR_RETURN(prices_, economics::LoadPrices(options_->prices));
  }
  if (options_->grid.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(grid_, economics::LoadGrid(options_->grid));
  const std::string& start = options_->grid_start.empty() ? grid_->first_hour() : options_->grid_start;
  if (start.empty()) return absl::OkStatus();
  const auto moment = economics::ParseMoment(start);
  if (!moment.ok())
    return absl::InvalidArgumentError(absl::StrCat("--grid-start: ", moment.status().message()));
  start_ = *moment;
  return absl::OkStatus();
}

std::vector<std::pair<std::string, std::string>> Metering::Files() const {
  std::vector<std::pair<std::string, std::string>> files;
  std::error_code error;
  for (const auto& [file, role] :
       {std::pair{options_->energy_file, "energy"}, {options_->prices, "prices"}, {options_->grid, "grid"}}) {
    if (!file.empty() && std::filesystem::is_regular_file(file, error)) files.emplace_back(file, role);
  }
  return files;
}

double Metering::RestingWatts() const {
  const energy::Site site(constants_, bill_, places_.nodes, 0);
  return site.AllPower(makespan_).Of(energy::LevelsOf(constants_).resident *
                                     static_cast<int64_t>(graph_of_.size()));
}

absl::Status Metering::AddEconomics(proto::Report* report) const {
  const economics::PricedStep step = {bill_,
                                      constants_,
                                      report->energy(),
                                      makespan_.seconds(),
                                      report->training().tokens(),
                                      report->training().samples()};
  economics::Tree tree;
  economics::Tree* const told = options_->explain ? &tree : nullptr;
  if (told != nullptr) ExplainEnergy(report->energy(), told);
  if (prices_.has_value()) {
    ASSIGN_OR_RETURN(*report->mutable_cost(), economics::CostOf(step, *prices_, told));
  }
  if (grid_.has_value()) {
    ASSIGN_OR_RETURN(*report->mutable_carbon(), economics::CarbonOf(step, *grid_, start_, told));
  }
  for (const proto::Explained& line : tree.lines()) *report->add_explained() = line;
  return absl::OkStatus();
}

absl::Status Metering::AddTo(const std::vector<DimensionTraffic>& traffic, const RowPhases* phases,
                             proto::Report* report) const {
  double bits = 0;
  for (size_t d = 1; d < traffic.size(); ++d) bits += 8 * static_cast<double>(traffic[d].bytes);
  AddEnergy({*traces_, *meter_, constants_, bill_, places_, bits, powers_.slowed, phases, makespan_}, report);
  if (constants_.assumed) {
    report->add_warning(
        absl::StrCat("--energy: the power that operations add on ", constants_.profile.device(),
                     " was not measured; it is assumed to be the same share of the rated power as on H100"));
  }
  return AddEconomics(report);
}

}  // namespace chakra
