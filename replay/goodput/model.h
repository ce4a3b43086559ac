// What becomes of a long run: rates of failure, checkpoints, and the effective time that follows from them.
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
// A preset ("llama3", "rsc-1", "rsc-2", "cloud", "none") or a file. Errors: a name that is neither, with the nearest preset;
// rates that are negative or absent, times that are negative; each by field.
absl::StatusOr<proto::Reliability> LoadReliability(const std::string& preset_or_file);

// "mode=blocking,gbytes=912,...": proto::Checkpoint. Errors: by key; an unknown mode.
absl::StatusOr<proto::Checkpoint> ParseCheckpoint(absl::string_view text);

// The run: so many steps of so many devices.
struct LongRun {
  double devices = 0;
  double step_seconds = 0;  // without failures and saves
  double steps = 0;
  double parameters = 0;    // of the model; 0: not known
};

// Of a run with its failures. Its energy, $ and kg are left to the caller. Errors: no size of a checkpoint; a checkpoint larger
// than its storage; a save that takes longer than the interval that was asked for.
absl::StatusOr<proto::GoodputReport> GoodputOf(const LongRun& run, const proto::Reliability& reliability,
                                               const proto::Checkpoint& checkpoint, uint64_t seed);

// What a run of that report draws, costs and emits, with and without failures. While it works it draws `working_watts`,
// else `resting_watts`.
struct Footing {
  double working_watts = 0, resting_watts = 0;
  double step_seconds = 0;
  double step_kwh = 0;
  const proto::CostReport* cost = nullptr;      // null: not asked for
  const proto::CarbonReport* carbon = nullptr;  // likewise
};
void AddFooting(const Footing& footing, proto::GoodputReport* report);

}  // namespace chakra::goodput
