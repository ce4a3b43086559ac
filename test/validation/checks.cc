#include "test/validation/checks.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "test/validation/summary.h"

namespace chakra::validation {
namespace {

Finding MedianFinding(const std::string& what, std::optional<double> median, size_t rows, double bound) {
  if (!median) return {absl::StrCat(what, ": no rows; expected at least one"), false};
  return {absl::StrFormat("%s: median |error| %.1f %% of %d rows; expected at most %.0f %%", what,
                          100 * *median, rows, 100 * bound),
          *median <= bound};
}

// Sizes or ranks, and the chosen label at each.
struct Choices {
  std::vector<uint64_t> at;
  std::vector<std::string> label;

  // The first index from which all labels begin with `wanted`; none if there is no such change.
  std::optional<size_t> ChangeTo(absl::string_view wanted) const {
    size_t first = label.size();
    while (first > 0 && absl::StartsWith(label[first - 1], wanted)) --first;
    if (first == 0 || first == label.size()) return std::nullopt;
    return first;
  }
};

absl::Status Add(Machines& machines, const std::string& preset, int ranks, uint64_t bytes, uint64_t at,
                 Choices* choices) {
  absl::StatusOr<Prediction> p = machines.Price(preset, ranks, "", bytes);
  if (!p.ok()) return p.status();
  choices->at.push_back(at);
  choices->label.push_back(absl::StrCat(p->algorithm, "/", p->protocol));
  return absl::OkStatus();
}

absl::StatusOr<Finding> NvlsBySize(Machines& machines) {
  constexpr uint64_t kMeasured = uint64_t{2} << 20;
  Choices choices;
  for (uint64_t bytes = 1024; bytes <= uint64_t{8} << 30; bytes *= 2) {
    if (absl::Status s = Add(machines, "dgx-h200", 8, bytes, bytes, &choices); !s.ok()) return s;
  }
  const std::string head = "dgx-h200, 8 GPUs: to nvls ";
  const std::string expected =
      absl::StrCat("; measured at ", SizeText(kMeasured), ", at most one doubling off");
  const std::optional<size_t> change = choices.ChangeTo("nvls/");
  if (!change) return Finding{absl::StrCat(head, "never or from the smallest size on", expected), false};
  const std::string& before = choices.label[*change - 1];
  const uint64_t at = choices.at[*change];
  return Finding{absl::StrCat(head, "at ", SizeText(at), ", from ", before, expected),
                 at >= kMeasured / 2 && at <= kMeasured * 2 &&
                     (absl::StartsWith(before, "ring/") || absl::StartsWith(before, "tree/"))};
}

absl::StatusOr<Finding> NvlsByRanks(Machines& machines, const std::string& preset, int measured) {
  Choices choices;
  for (int ranks = 2; ranks <= 8; ++ranks) {
    if (absl::Status s =
            Add(machines, preset, ranks, uint64_t{8} << 30, static_cast<uint64_t>(ranks), &choices);
        !s.ok())
      return s;
  }
  const std::string head = absl::StrCat(preset, ", 8 GiB: to nvls ");
  const std::string expected = absl::StrCat("; measured from ", measured, ", at most one GPU off");
  const std::optional<size_t> change = choices.ChangeTo("nvls/");
  if (!change) return Finding{absl::StrCat(head, "at no number of GPUs from 3 to 8", expected), false};
  const int at = static_cast<int>(choices.at[*change]);
  return Finding{absl::StrCat(head, "from ", at, " GPUs", expected), std::abs(at - measured) <= 1};
}

// The row, of rows by size, whose bus bandwidth exceeds that of its predecessor most.
template <typename BusBandwidth>
size_t LargestJump(const std::vector<size_t>& by_size, const BusBandwidth& busbw) {
  size_t best = 1;
  for (size_t i = 1; i < by_size.size(); ++i) {
    const auto jump = [&](size_t j) { return busbw(by_size[j]) - busbw(by_size[j - 1]); };
    if (jump(i) > jump(best)) best = i;
  }
  return best;
}

// vTrain's curves on DGX-1: at the change to ring/simple, the time per byte falls.
absl::StatusOr<Finding> SimpleBySize(const std::vector<MeasuredRow>& rows, const PredictedColumn& column,
                                     int ranks) {
  const std::vector<Subset> subsets = Subsets(rows);
  const auto curve = std::find_if(subsets.begin(), subsets.end(), [&](const Subset& s) {
    return s.preset == "dgx-v100" && s.source == "vTrain" && s.ranks == ranks;
  });
  if (curve == subsets.end() || curve->rows.size() < 2) {
    return absl::NotFoundError(absl::StrCat("no curve of vTrain on V100 with ", ranks, " GPUs"));
  }
  const std::vector<size_t>& by_size = curve->rows;
  const size_t measured = LargestJump(by_size, [&](size_t i) { return rows[i].busbw; });
  Choices choices;
  for (size_t i : by_size) {
    if (!column.rows[i])
      return absl::NotFoundError(
          absl::StrCat(curve->Label(), ": ", column.name, " has no answer at ", SizeText(rows[i].bytes)));
    choices.at.push_back(rows[i].bytes);
    choices.label.push_back(absl::StrCat(column.rows[i]->algorithm, "/", column.rows[i]->protocol));
  }
  const auto span = [&](size_t to) {
    return absl::StrCat(SizeText(rows[by_size[to - 1]].bytes), " to ", SizeText(rows[by_size[to]].bytes));
  };
  const std::string head = absl::StrCat(curve->Label(), ": to ring/simple ");
  const std::string expected = absl::StrCat("; measured from ", span(measured), ", at most one doubling off");
  const std::optional<size_t> change = choices.ChangeTo("ring/simple");
  if (!change) return Finding{absl::StrCat(head, "never or from the smallest size on", expected), false};
  const uint64_t at = choices.at[*change], wanted = rows[by_size[measured]].bytes;
  const auto per_byte = [&](size_t k) {
    return column.rows[by_size[k]]->time_us / static_cast<double>(rows[by_size[k]].bytes);
  };
  return Finding{absl::StrCat(head, "from ", span(*change), ", from ", choices.label[*change - 1], expected),
                 at >= wanted / 2 && at <= wanted * 2 && per_byte(*change) < per_byte(*change - 1)};
}

}  // namespace

std::vector<Finding> CheckMedians(const std::vector<MeasuredRow>& rows, const PredictedColumn& column,
                                  const MedianBounds& bounds) {
  std::vector<Finding> findings;
  const Medians all = MediansOf(column, rows, Compared(rows));
  findings.push_back(MedianFinding(absl::StrCat(column.name, ", all from 1 MiB up"), all.large,
                                   all.large_rows, bounds.large));
  if (bounds.small > 0) {
    findings.push_back(MedianFinding(absl::StrCat(column.name, ", all below 1 MiB"), all.small,
                                     all.small_rows, bounds.small));
  }
  if (bounds.subset > 0) {
    for (const Subset& s : Subsets(rows)) {
      const Medians m = MediansOf(column, rows, s.rows);
      findings.push_back(MedianFinding(absl::StrCat(column.name, ", ", s.Label(), ", from 1 MiB up"), m.large,
                                       m.large_rows, bounds.subset));
    }
  }
  return findings;
}

absl::StatusOr<std::vector<Finding>> CheckSwitches(const std::vector<MeasuredRow>& rows,
                                                   const PredictedColumn& column, Machines& machines) {
  std::vector<absl::StatusOr<Finding>> found;
  found.push_back(NvlsBySize(machines));
  found.push_back(NvlsByRanks(machines, "dgx-h200", 5));
  found.push_back(NvlsByRanks(machines, "dgx-b200", 6));
  for (int ranks : {8, 7, 4}) found.push_back(SimpleBySize(rows, column, ranks));
  std::vector<Finding> findings;
  for (absl::StatusOr<Finding>& f : found) {
    if (!f.ok()) return f.status();
    findings.push_back(*std::move(f));
  }
  return findings;
}

}  // namespace chakra::validation
