// The sources of predictions: each source is a column of the table.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/run/collective_table.h"
#include "test/validation/measured.h"

namespace chakra::validation {

struct Prediction {
  std::string algorithm;  // "ring"
  std::string protocol;   // "ll128"
  double time_us = 0;
};

// One source's answer to each measured row.
struct PredictedColumn {
  std::string name;
  std::vector<std::optional<Prediction>> rows;  // by index of the row; none: not predicted

  // Predicted / measured - 1. Precondition: rows[i] has a value.
  double Error(const std::vector<MeasuredRow>& measured, size_t i) const {
    return rows[i]->time_us / measured[i].time_us - 1;
  }
};

// Presets as machines; keeps the table of each for later sizes.
class Machines {
 public:
  // The time of an all-reduce as nccl-tests measures it; `rule` and `devices_per_thread` as in MeasuredRow.
  // Errors: those of CollectiveTable.
  absl::StatusOr<Prediction> Price(const std::string& preset, int ranks, const std::string& rule,
                                   uint64_t bytes, int devices_per_thread = 1);

 private:
  std::map<std::tuple<std::string, int, std::string, int>, CollectiveTable> tables_;
};

// Predictions of the presets, without any fit to the rows. Skips rows that are left out.
absl::StatusOr<PredictedColumn> PresetColumn(const std::vector<MeasuredRow>& rows, Machines& machines);

}  // namespace chakra::validation
