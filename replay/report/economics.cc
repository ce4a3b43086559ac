#include "replay/report/economics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/row_table.h"

namespace chakra {

std::string PrintCost(const proto::Report& report, TextPage* page) {
  if (!report.has_cost()) return "";
  const proto::CostReport& c = report.cost();
  std::string out = absl::StrFormat(
      "\nCost (prices: %s)\n  a step   $%.6g owned, from %.6g to %.6g; $%.3g a device and hour\n", c.prices(),
      c.dollars_per_step(), c.low_dollars_per_step(), c.high_dollars_per_step(), c.dollars_per_device_hour());
  if (c.dollars_per_million_tokens() > 0) {
    absl::StrAppendFormat(&out, "  tokens   $%.4g a million, from %.4g to %.4g\n",
                          c.dollars_per_million_tokens(), c.low_dollars_per_million_tokens(),
                          c.high_dollars_per_million_tokens());
  }
  if (c.has_dollars_per_million_samples()) {
    absl::StrAppendFormat(&out, "  samples  $%.4g a million, from %.4g to %.4g\n",
                          c.dollars_per_million_samples(), c.low_dollars_per_million_samples(),
                          c.high_dollars_per_million_samples());
  }
  if (c.rented_dollars_per_step() > 0) {
    absl::StrAppendFormat(&out, "  rented   $%.6g a step, from %.6g to %.6g\n", c.rented_dollars_per_step(),
                          c.low_rented_dollars_per_step(), c.high_rented_dollars_per_step());
  }
  absl::StrAppendFormat(&out, "  to buy   $%.4g for the machine that was simulated\n", c.capital_dollars());
  if (c.part_size() > 0) {
    absl::StrAppendFormat(&out, "  most of  the cost is %s: %.1f %%\n", c.part(0).name(),
                          100 * c.part(0).share());
  }
  RowTable<proto::CostShare> table;
  for (const proto::CostShare& part : c.part()) table.Add(part);
  return absl::StrCat(out, "\n", table.Print(page));
}

std::string PrintCarbon(const proto::Report& report, TextPage* page) {
  if (!report.has_carbon()) return "";
  const proto::CarbonReport& c = report.carbon();
  std::string out = absl::StrFormat(
      "\nCarbon (grid: %s, %.4g g/kWh by location, %.4g by contracts)\n"
      "  a step   %.6g kg CO2e: %.6g operational by location (%.6g by contracts), %.6g embodied by product "
      "footprints\n"
      "  by ACT   %.6g kg embodied in place of those footprints; the whole machine: %.4g kg by ACT, %.4g by "
      "footprints\n",
      c.grid(), c.grams_per_kwh(), c.market_grams_per_kwh(), c.kg(), c.operational_kg(), c.market_kg(),
      c.embodied_footprint_kg(), c.embodied_act_kg(), c.machine_act_kg(), c.machine_footprint_kg());
  if (c.grams_per_million_tokens() > 0)
    absl::StrAppendFormat(&out, "  tokens   %.4g g a million\n", c.grams_per_million_tokens());
  if (c.has_grams_per_million_samples())
    absl::StrAppendFormat(&out, "  samples  %.4g g a million\n", c.grams_per_million_samples());
  RowTable<proto::CarbonShare> table;
  for (const proto::CarbonShare& part : c.part()) table.Add(part);
  return absl::StrCat(out, "\n", table.Print(page));
}

std::string PrintExplained(const proto::Report& report) {
  if (report.explained_size() == 0) return "";
  std::string out = "\nHow these were computed\n";
  for (const proto::Explained& line : report.explained()) {
    absl::StrAppendFormat(&out, "  %s%s: %.6g%s%s", std::string(static_cast<size_t>(2 * line.depth()), ' '),
                          line.name(), line.value(), line.unit().empty() ? "" : " ", line.unit());
    if (!line.how().empty()) absl::StrAppend(&out, " = ", line.how(), " of");
    if (!line.source().empty()) absl::StrAppend(&out, " (", line.source(), ")");
    out += '\n';
  }
  return out;
}

}  // namespace chakra
