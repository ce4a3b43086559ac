// Errors of interpolation and transfer on measured tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/kernel_tables.h"

namespace chakra::validation {

std::string Percent(double share);  // "12.3 %"

// A row found from the others of its table.
struct LeftOut {
  std::string set, table, row;
  double measured_us = 0;
  std::optional<double>
      ratio;  // found over measured; nullopt: refused, because the row is outside of the others
  double error = 0;             // the relative error that the time source states
};

// Each row of a table, predicted from the other rows.
std::vector<LeftOut> LeaveOneOut(const std::vector<MeasuredTable>& tables);

// A row of one device, found from the row of another device.
struct Transferred {
  std::string set, from, to, row;
  double measured_us = 0;
  double ratio = 0;  // found over measured
  double error = 0;  // the relative error that the transfer states
};

// All pairs of tables of one set that differ only in the device: each row that both have. Errors: an unknown
// device.
absl::StatusOr<std::vector<Transferred>> TransferAll(const std::vector<MeasuredTable>& tables);

// |found / measured - 1| of the answered rows of a set.
std::vector<double> Errors(const std::vector<LeftOut>& rows, const std::string& set);

std::string LeftOutCsv(const std::vector<LeftOut>& rows);
std::string TransferredCsv(const std::vector<Transferred>& rows);
std::string KernelsMarkdown(const std::vector<LeftOut>& left_out,
                            const std::vector<Transferred>& transferred);

}  // namespace chakra::validation
