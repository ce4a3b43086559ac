// kernel_laws FOLDER: fits the laws of kernels on published measurements (data/kernels) and prints their
// errors. kernel_laws FOLDER --out TABLES PAGE: writes the tables of constants and residuals, fitted on all
// rows, and the page. kernel_laws FOLDER --check: judges the tables in the binary, without a fit; the exit
// status is 1 if a figure misses its limit.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/kernel_laws/fit.h"
#include "trace/io/compressed_file.h"

namespace chakra::kernel_laws {
namespace {

struct Figures {
  size_t rows = 0;
  double median = 0, signed_median = 0, near = 0,
         covered = 0;  // shares; near: within 20 %; covered: by its range
};

Figures FiguresOf(const std::vector<const Judged*>& judged) {
  std::vector<double> off, size;
  Figures f;
  f.rows = judged.size();
  for (const Judged* j : judged) {
    off.push_back(j->predicted / j->us - 1);
    size.push_back(std::abs(off.back()));
    f.near += size.back() <= 0.2;
    f.covered += j->low <= j->us && j->us <= j->high;
  }
  std::sort(off.begin(), off.end());
  std::sort(size.begin(), size.end());
  f.median = size[size.size() / 2];
  f.signed_median = off[off.size() / 2];
  f.near /= static_cast<double>(f.rows);
  f.covered /= static_cast<double>(f.rows);
  return f;
}

// By family; by family and device; by family, device, kernel and dtype.
std::map<std::string, Figures> Table(const std::vector<Judged>& judged) {
  std::map<std::string, std::vector<const Judged*>> by;
  for (const Judged& j : judged) {
    by[absl::StrCat(j.family, " | all | | ")].push_back(&j);
    by[absl::StrCat(j.family, " | ", j.device, " | | ")].push_back(&j);
    by[absl::StrCat(j.family, " | ", j.device, " | ", j.kernel, " | ", j.dtype)].push_back(&j);
  }
  std::map<std::string, Figures> out;
  for (const auto& [key, rows] : by) out[key] = FiguresOf(rows);
  return out;
}

std::string Section(const char* title, const std::vector<Judged>& judged) {
  std::string out =
      absl::StrCat("## ", title,
                   "\n\n| family | device | kernel | dtype | rows | median | signed | within 20 % |\n"
                   "|---|---|---|---|---|---|---|---|\n");
  for (const auto& [key, f] : Table(judged)) {
    absl::StrAppendFormat(&out, "| %s | %d | %.1f %% | %+.1f %% | %.1f %% |\n", key, f.rows, 100 * f.median,
                          100 * f.signed_median, 100 * f.near);
  }
  return out + "\n";
}

absl::StatusOr<std::string> Page(const Rows& rows, const Fits& fits) {
  std::string out =
      "# Laws of kernels, fitted and judged\n\n"
      "Made by `bench/kernel_laws` from the published rows in data/kernels (ai-dynamo/aiconfigurator). The "
      "error is predicted /\n"
      "measured - 1; median is that of its absolute value.\n\n";
  const auto add = [&](const char* title, const absl::StatusOr<std::vector<Judged>>& judged) {
    if (judged.ok()) out += Section(title, *judged);
    return judged.status();
  };
  absl::Status s = add("A fifth of the shapes held out: law and residuals", JudgeHeldOut(rows, fits, true));
  s.Update(add("A fifth of the shapes held out: the law alone", JudgeHeldOut(rows, fits, false)));
  s.Update(
      add("Twice the batch, hidden size or sequence: recorded time x ratio of the model, to shapes held out",
          JudgeDoubled(rows, fits, false)));
  s.Update(add("The same with the recorded time scaled with the operations", JudgeDoubled(rows, fits, true)));
  s.Update(add("Each device left out: the laws of the generations beside it, its own data sheet",
               JudgeAcross(rows, fits, false)));
  s.Update(add("Each device left out, three rows of its own", JudgeAcross(rows, fits, true)));
  if (!s.ok()) return s;
  return out;
}

struct Bar {
  const char* family;
  double median, near;
};

// Returns 1 if a figure of the binary's tables misses its limit, on the rows of their fit.
int Check(const Rows& rows) {
  constexpr Bar kBars[] = {{"gemm", 0.05, 0.90}, {"attention", 0.07, 0.90}, {"moe", 0.10, 0.90}};
  const absl::StatusOr<std::vector<Judged>> judged = JudgeShipped(rows);
  if (!judged.ok()) {
    std::fprintf(stderr, "%s\n", std::string(judged.status().message()).c_str());
    return 1;
  }
  int wrong = 0;
  const std::map<std::string, Figures> table = Table(*judged);
  std::fputs(Section("Tables of the binary", *judged).c_str(), stdout);
  for (const Bar& bar : kBars) {
    const Figures& f = table.at(absl::StrCat(bar.family, " | all | | "));
    const bool ok = f.median <= bar.median && f.near >= bar.near && f.covered >= 0.90;
    std::printf(
        "%s: %zu rows, median %.1f %% (at most %.0f), within 20 %%: %.1f %% (at least %.0f), in their range: "
        "%.1f %% "
        "(at least 90)%s\n",
        bar.family, f.rows, 100 * f.median, 100 * bar.median, 100 * f.near, 100 * bar.near, 100 * f.covered,
        ok ? "" : ": MISSED");
    wrong += !ok;
  }
  return wrong > 0 ? 1 : 0;
}

absl::Status Write(const Rows& rows, const Fits& held_out, const std::string& folder,
                   const std::string& page) {
  // Spreads come from rows that the fit left out; constants and residuals are then fitted on all rows.
  absl::StatusOr<Fits> fits = FitAll(rows, false);
  if (!fits.ok()) return fits.status();
  TakeSpreads(held_out, &*fits);
  for (const FitText& t : WriteFits(*fits)) {
    if (absl::Status s = WriteFile(absl::StrCat(folder, "/", t.name), t.content); !s.ok()) return s;
  }
  const absl::StatusOr<std::string> text = Page(rows, held_out);
  return text.ok() ? WriteFile(page, *text) : text.status();
}

constexpr int kNoData = 77;  // ctest: skipped

int Main(const std::vector<std::string>& args) {
  const bool check = args.size() == 2 && args[1] == "--check";
  const bool write = args.size() == 4 && args[1] == "--out";
  if (!check && !write && args.size() != 1) {
    std::fprintf(stderr, "usage: kernel_laws FOLDER [--check | --out TABLES PAGE]\n");
    return 2;
  }
  absl::Status status;
  const absl::StatusOr<Rows> rows = ReadRows(args[0]);
  if (!rows.ok()) {
    status = rows.status();
  } else if (check) {
    return Check(*rows);
  } else {
    const absl::StatusOr<Fits> fits = FitAll(*rows, true);
    status = fits.status();
    if (status.ok() && write) status = Write(*rows, *fits, args[2], args[3]);
    if (status.ok() && !write) {
      const absl::StatusOr<std::string> page = Page(*rows, *fits);
      status = page.status();
      if (page.ok()) std::fputs(page->c_str(), stdout);
    }
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : absl::IsNotFound(status) ? kNoData : 1;
}

}  // namespace
}  // namespace chakra::kernel_laws

int main(int argc, char** argv) { return chakra::kernel_laws::Main({argv + 1, argv + argc}); }
