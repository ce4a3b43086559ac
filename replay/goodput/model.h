// Failures and checkpoints of a long run, and its effective time.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/reliability.pb.h"
#include "proto/report.pb.h"
#include "replay/goodput/renewal.h"

namespace chakra::goodput {

std::vector<std::string> ReliabilityPresets();
// A preset ("llama3", "rsc-1", "rsc-2", "cloud", "none") or a file. Errors: a name that is neither, with the
// nearest preset; rates that are negative or absent, times that are negative. Errors name the field.
absl::StatusOr<proto::Reliability> LoadReliability(const std::string& preset_or_file);

// Reads "mode=blocking,gbytes=912,..." (proto::Checkpoint). Errors: unknown keys and wrong values, by key; an
// unknown mode.
absl::StatusOr<proto::Checkpoint> ParseCheckpoint(absl::string_view text);

// A long run: a number of steps on a number of devices.
struct LongRun {
  double devices = 0;
  double step_seconds = 0;  // without failures and saves
  double steps = 0;
  double parameters = 0;  // of the model; 0: unknown
};

// The effective time of a run with failures. Leaves energy, $ and kg to AddFooting(). Errors: an unknown size
// of a checkpoint; a checkpoint larger than its storage; a save that takes longer than the requested
// interval.
absl::StatusOr<proto::GoodputReport> GoodputOf(const LongRun& run, const proto::Reliability& reliability,
                                               const proto::Checkpoint& checkpoint, uint64_t seed);

// Adds the energy, cost and emissions of a run with and without failures. The run draws `working_watts` while
// it works (also on work that is lost), else `resting_watts`.
struct Footing {
  double working_watts = 0, resting_watts = 0;
  double step_seconds = 0;
  double step_kwh = 0;
  const proto::CostReport* cost = nullptr;      // null: not requested
  const proto::CarbonReport* carbon = nullptr;  // null: not requested
};
void AddFooting(const Footing& footing, proto::GoodputReport* report);

}  // namespace chakra::goodput
