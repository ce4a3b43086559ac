// What a report says of the energy of a run.
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

// A run that was metered. All is the caller's.
struct MeteredRun {
  const TraceSet& traces;
  const energy::PowerMeter& meter;  // finished
  const energy::Constants& constants;
  const energy::Bill& bill;
  const energy::Places& places;
  double bits = 0;  // that crossed ports of switches
  uint64_t capped = 0;
  const RowPhases* phases = nullptr;  // null or empty: not known
  Time makespan;
};

// Fills Report::energy and what ranks drew. Report::training, if there is one, is there already.
void AddEnergy(const MeteredRun& run, proto::Report* report);

// The energy of a run as a tree, by cause.
void ExplainEnergy(const proto::EnergyReport& energy, economics::Tree* tree);

// "": the report has none.
std::string PrintEnergy(const proto::Report& report, TextPage* page);

}  // namespace chakra
