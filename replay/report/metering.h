// The meter of a run, and what is computed from it: energy, cost and carbon in the report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/fabric_report.h"
#include "proto/economics.pb.h"
#include "proto/report.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/energy/bill.h"
#include "replay/energy/meter.h"
#include "replay/energy/meter_thread.h"
#include "replay/energy/model.h"
#include "replay/energy/row_power.h"
#include "replay/report/training.h"
#include "replay/run/cluster_model.h"
#include "replay/run/options.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

class Metering {
 public:
  // Reads the constants. With a power cap, slows `times`. The arguments must outlive the object. `symmetric`:
  // as for PowerMeter. `keep`: keep each device's power over time, for timelines. Errors: those of
  // energy::LoadEnergyModel(), ConstantsOf(), SetCap(), economics::LoadPrices() and LoadGrid().
  static absl::StatusOr<std::unique_ptr<Metering>> Make(const RunOptions& options,
                                                        const ClusterModel& cluster, const TraceSet& traces,
                                                        const SymmetricRanks* symmetric,
                                                        std::vector<ComputeTimes>* times, bool keep);

  RunObserver* observer() {
    return thread_ != nullptr ? static_cast<RunObserver*>(thread_.get()) : meter_.get();
  }
  const energy::PowerMeter& meter() const { return *meter_; }
  const energy::Constants& constants() const { return constants_; }
  const energy::Bill& bill() const { return bill_; }
  // Files that were read, with their roles: "energy", "prices", "grid".
  std::vector<std::pair<std::string, std::string>> Files() const;
  // Power of the site while all devices are idle.
  double RestingWatts() const;
  // Call after the run.
  void Finish(Time makespan);
  // Adds energy, cost and carbon. `phases`: null if there is no generated step. Errors: those of
  // economics::CostOf() and CarbonOf().
  absl::Status AddTo(const std::vector<DimensionTraffic>& traffic, const RowPhases* phases,
                     proto::Report* report) const;

 private:
  Metering() = default;

  absl::Status LoadTables();
  absl::Status AddEconomics(proto::Report* report) const;

  const TraceSet* traces_ = nullptr;
  const RunOptions* options_ = nullptr;
  std::optional<proto::Prices> prices_;
  std::optional<proto::Grid> grid_;
  double start_ = 0;  // start of the run, in seconds since 1970
  energy::Constants constants_;
  energy::RowPowers powers_;
  energy::Bill bill_;
  energy::Places places_;
  std::vector<uint32_t> graph_of_;
  std::unique_ptr<energy::PowerMeter> meter_;
  std::unique_ptr<energy::MeterThread> thread_;  // null: the run has one thread
  Time makespan_;
};

}  // namespace chakra
