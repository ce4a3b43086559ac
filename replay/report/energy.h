// The energy of a run in its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/report.pb.h"
#include "replay/economics/tree.h"
#include "replay/energy/bill.h"
#include "replay/energy/meter.h"
#include "replay/energy/model.h"
#include "replay/energy/site.h"
#include "replay/report/training.h"
#include "trace/base/text_page.h"
#include "trace/model/trace.h"

namespace chakra {

// A run that was metered. Nothing is owned.
struct MeteredRun {
  const TraceSet& traces;
  const energy::PowerMeter& meter;  // finished
  const energy::Constants& constants;
  const energy::Bill& bill;
  const energy::Places& places;
  double bits = 0;  // that crossed ports of switches
  uint64_t capped = 0;
  const RowPhases* phases = nullptr;  // null or empty: unknown
  Time makespan;
};

// Fills Report::energy and the energy of ranks. If the run has a Report::training, it must be set before.
void AddEnergy(const MeteredRun& run, proto::Report* report);

// Adds the energy of a run to `tree`, by cause.
void ExplainEnergy(const proto::EnergyReport& energy, economics::Tree* tree);

// Returns "" if the report has no energy.
std::string PrintEnergy(const proto::Report& report, TextPage* page);

}  // namespace chakra
