#include "test/validation/kernel_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/devices.h"
#include "replay/compute/interpolate.h"
#include "replay/compute/transfer.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

std::string Signed(double ratio) { return absl::StrFormat("%+.1f", 100 * (ratio - 1)); }

// The names of the rows, in order of first appearance.
template <typename T, typename Name>
std::vector<std::string> Names(const std::vector<T>& rows, Name name) {
  std::vector<std::string> names;
  for (const T& row : rows) {
    if (std::find(names.begin(), names.end(), name(row)) == names.end()) names.push_back(name(row));
  }
  return names;
}

// The label without the device, such as "FP16" or "train".
std::string KernelChoice(const MeasuredTable& t) { return t.label.substr(t.device.size()); }

// Errors of some rows, and the number of rows within their stated error.
class Figures {
 public:
  void Add(double ratio, double said) {
    errors_.push_back(std::abs(ratio - 1));
    // The stated error is a share of the found time.
    within_ += std::abs(1 / ratio - 1) <= said ? 1 : 0;
  }
  std::string Row() const {
    if (errors_.empty()) return "- | - | -";
    return absl::StrCat(Percent(Median(errors_)), " | ",
                        Percent(*std::max_element(errors_.begin(), errors_.end())), " | ",
                        Percent(static_cast<double>(within_) / static_cast<double>(errors_.size())));
  }
  size_t size() const { return errors_.size(); }

 private:
  std::vector<double> errors_;
  size_t within_ = 0;
};

}  // namespace

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::vector<LeftOut> LeaveOneOut(const std::vector<MeasuredTable>& tables) {
  std::vector<LeftOut> all;
  for (const MeasuredTable& t : tables) {
    for (int i = 0; i < t.table.row_size(); ++i) {
      proto::KernelTable others = t.table;
      others.mutable_row()->DeleteSubrange(i, 1);
      const proto::KernelRow& row = t.table.row(i);
      const KernelInterpolation::Result found = KernelInterpolation(others).Find(
          {row.name(), row.shapes(), row.dtypes(), row.operations(), row.bytes()});
      LeftOut left = {t.set, t.label, t.row[i], row.duration_us()};
      if (found.outcome == KernelInterpolation::Outcome::kAnswered) {
        left.ratio = found.duration.seconds() * 1e6 / row.duration_us();
        left.error = found.error;
      }
      all.push_back(std::move(left));
    }
  }
  return all;
}

absl::StatusOr<std::vector<Transferred>> TransferAll(const std::vector<MeasuredTable>& tables) {
  std::vector<Transferred> all;
  for (const MeasuredTable& from : tables) {
    for (const MeasuredTable& to : tables) {
      if (&from == &to || from.set != to.set || KernelChoice(from) != KernelChoice(to)) continue;
      const auto source = FindDevice(from.device);
      if (!source.ok()) return source.status();
      const auto target = FindDevice(to.device);
      if (!target.ok()) return target.status();
      TransferNotes notes;
      const auto moved = TransferTable(from.table, *source, *target, from.dtype, &notes);
      if (!moved.ok()) return moved.status();
      for (int i = 0; i < moved->row_size(); ++i) {
        const auto same = std::find(to.row.begin(), to.row.end(), from.row[i]);
        if (same == to.row.end()) continue;
        const double measured = to.table.row(static_cast<int>(same - to.row.begin())).duration_us();
        const proto::KernelRow& row = moved->row(i);
        all.push_back({from.set, from.label, to.label, from.row[i], measured, row.duration_us() / measured,
                       row.error()});
      }
    }
  }
  return all;
}

std::vector<double> Errors(const std::vector<LeftOut>& rows, const std::string& set) {
  std::vector<double> errors;
  for (const LeftOut& r : rows) {
    if (r.set == set && r.ratio.has_value()) errors.push_back(std::abs(*r.ratio - 1));
  }
  return errors;
}

std::string LeftOutCsv(const std::vector<LeftOut>& rows) {
  std::string out = "set,table,row,measured_us,found_us,error_percent,said_percent\n";
  for (const LeftOut& r : rows) {
    absl::StrAppend(&out, "\"", r.set, "\",", r.table, ",", r.row, ",",
                    absl::StrFormat("%.6g", r.measured_us), ",");
    if (r.ratio.has_value()) {
      absl::StrAppend(&out, absl::StrFormat("%.4g,", *r.ratio * r.measured_us), Signed(*r.ratio), ",",
                      absl::StrFormat("%.1f", 100 * r.error));
    } else {
      absl::StrAppend(&out, "outside,,");
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

std::string TransferredCsv(const std::vector<Transferred>& rows) {
  std::string out = "set,from,to,row,measured_us,found_us,error_percent,said_percent\n";
  for (const Transferred& r : rows) {
    absl::StrAppend(&out, "\"", r.set, "\",", r.from, ",", r.to, ",", r.row, ",",
                    absl::StrFormat("%.6g,%.4g,", r.measured_us, r.ratio * r.measured_us), Signed(r.ratio),
                    ",", absl::StrFormat("%.1f", 100 * r.error), "\n");
  }
  return out;
}

std::string KernelsMarkdown(const std::vector<LeftOut>& left_out,
                            const std::vector<Transferred>& transferred) {
  std::string out =
      "# Kernel tables: interpolation and transfer against measurements\n\n"
      "Written by `build/test/kernels_validation` from published measurements; `kernels.csv` and\n"
      "`kernel_transfers.csv` have every row. An error is |found / measured - 1|. \"As said\": rows that are "
      "off by\n"
      "no more than the error that came with the answer.\n\n"
      "## Interpolation: each row left out and found from the others\n\n"
      "Rows that lie outside of the others are refused, and have no error.\n\n"
      "| set | table | rows | answered | median | largest | as said |\n|---|---|---|---|---|---|---|\n";
  const auto add = [&](const std::string& set, const std::string& table) {
    Figures figures;
    size_t rows = 0;
    for (const LeftOut& r : left_out) {
      if (r.set != set || (!table.empty() && r.table != table)) continue;
      ++rows;
      if (r.ratio.has_value()) figures.Add(*r.ratio, r.error);
    }
    absl::StrAppend(&out, "| ", set, " | ", table.empty() ? "**all**" : table, " | ", rows, " | ",
                    figures.size(), " | ", figures.Row(), " |\n");
  };
  for (const std::string& set : Names(left_out, [](const LeftOut& r) { return r.set; })) {
    std::vector<LeftOut> of_set;
    std::copy_if(left_out.begin(), left_out.end(), std::back_inserter(of_set),
                 [&](const LeftOut& r) { return r.set == set; });
    for (const std::string& table : Names(of_set, [](const LeftOut& r) { return r.table; })) add(set, table);
    add(set, "");
  }
  absl::StrAppend(&out,
                  "\n## Transfer: each table made that of another device\n\n"
                  "All pairs of devices on which the same was measured, by the device that was predicted.\n\n"
                  "| set | to | from | rows | median | largest | as said |\n|---|---|---|---|---|---|---|\n");
  const auto add_transfer = [&](const std::string& set, const std::string& to) {
    Figures figures;
    std::vector<Transferred> rows;
    for (const Transferred& r : transferred) {
      if (r.set != set || (!to.empty() && r.to != to)) continue;
      figures.Add(r.ratio, r.error);
      rows.push_back(r);
    }
    const size_t sources = Names(rows, [](const Transferred& r) { return r.from; }).size();
    absl::StrAppend(&out, "| ", set, " | ", to.empty() ? "**all**" : to, " | ", sources,
                    sources == 1 ? " table | " : " tables | ", figures.size(), " | ", figures.Row(), " |\n");
  };
  for (const std::string& set : Names(transferred, [](const Transferred& r) { return r.set; })) {
    std::vector<std::string> targets;
    for (const Transferred& r : transferred) {
      if (r.set == set && std::find(targets.begin(), targets.end(), r.to) == targets.end())
        targets.push_back(r.to);
    }
    std::sort(targets.begin(), targets.end());
    for (const std::string& to : targets) add_transfer(set, to);
    add_transfer(set, "");
  }
  return out;
}

}  // namespace chakra::validation
