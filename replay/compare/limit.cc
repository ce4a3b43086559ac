#include "replay/compare/limit.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

struct Subject {
  const char* name;
  const char* section;
  const char* measure;
  bool reports, traces;
};

constexpr Subject kSubjects[] = {
    {"makespan", "run", "makespan_ps", true, false},
    {"duration", "run", "duration_ps", false, true},
    {"span", "run", "span_ps", false, true},
    {"jobs", "jobs", "makespan_ps", true, false},
    {"ranks", "ranks", "end_ps", true, false},
    {"ranks", "ranks", "duration_ps", false, true},
    {"collectives", "collectives", "time_ps", true, false},
    {"collectives", "collectives", "duration_ps", false, true},
    {"operators", "operators", "time_ps", true, false},
    {"kernels", "kernels", "duration_ps", false, true},
    {"operators", "operators", "duration_ps", false, true},
    // Host and device operations are in separate sections.
    {"operators", "kernels", "duration_ps", false, true},
    {"lanes", "lanes", "time_ps", true, false},
    {"lanes", "lanes", "duration_ps", false, true},
    {"steps", "steps", "replayed_ps", true, false},
    {"steps", "run", "mean_step_ps", false, true},
    {"time_sources", "time_sources", "time_ps", true, false},
};

absl::StatusOr<std::vector<Subject>> FindSubjects(const std::string& name, bool reports) {
  std::vector<Subject> found;
  for (const Subject& s : kSubjects) {
    if (s.name == name && (reports ? s.reports : s.traces)) found.push_back(s);
  }
  if (!found.empty()) return found;
  const std::vector<std::string> names = LimitSubjects(reports);
  return absl::InvalidArgumentError(absl::StrCat("--fail-on: \"", name, "\" is not compared in ",
                                                 reports ? "reports" : "traces", SuggestName(name, names)));
}

bool IsOver(const SlowdownLimit& limit, bool both_ways, int64_t a, int64_t b) {
  __int128 slower = __int128{b} - a;
  if (both_ways && slower < 0) slower = -slower;
  if (slower <= 0) return false;
  if (!limit.relative) return slower > limit.ps;
  if (a == 0) return true;
  return 100 * static_cast<long double>(slower) > limit.percent * std::fabs(static_cast<long double>(a));
}

void CheckChange(const SlowdownLimit& limit, bool both_ways, const Subject& subject,
                 const proto::Section& section, const proto::Change& change, proto::Comparison* out) {
  if ((change.only_in() == "a" && section.cut_b()) || (change.only_in() == "b" && section.cut_a())) return;
  for (const proto::MeasureChange& m : change.measure()) {
    if (m.name() != subject.measure || !IsOver(limit, both_ways, m.a(), m.b())) continue;
    proto::Failure* failure = out->add_failure();
    failure->set_subject(change.name() == "run" ? subject.name : change.name());
    failure->set_measure(m.name());
    failure->set_a(m.a());
    failure->set_b(m.b());
    if (m.has_percent()) failure->set_percent(m.percent());
  }
}

}  // namespace

absl::StatusOr<SlowdownLimit> ParseSlowdownLimit(absl::string_view text) {
  SlowdownLimit limit;
  limit.text = std::string(absl::StripAsciiWhitespace(text));
  double value = 0;
  absl::string_view unit;
  const bool number = SplitQuantity(limit.text, &value, &unit);
  limit.relative = unit == "%";
  const double ps = std::round(value * PicosOfUnit(unit));
  if (number && (limit.relative || PicosOfUnit(unit) > 0) && ps < 9.2e18) {
    limit.percent = limit.relative ? value : 0;
    limit.ps = static_cast<int64_t>(ps);
    return limit;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text,
                   "\" is not a limit; expected a number that is not negative and "
                   "%, s, ms, us, ns or ps, such as 2% or 5ms"));
}

std::vector<std::string> LimitSubjects(bool reports) {
  std::vector<std::string> names;
  for (const Subject& s : kSubjects) {
    if ((reports ? s.reports : s.traces) && (names.empty() || names.back() != s.name))
      names.push_back(s.name);
  }
  return names;
}

absl::Status CheckLimit(const SlowdownLimit& limit, const std::vector<std::string>& subjects, bool both_ways,
                        bool reports, proto::Comparison* comparison) {
  comparison->set_limit(limit.text);
  for (const std::string& name : subjects) {
    ASSIGN_OR_RETURN(const auto subjects_of_name, FindSubjects(name, reports));
    for (const Subject& subject : subjects_of_name) {
      for (const proto::Section& section : comparison->section()) {
        if (section.name() != subject.section) continue;
        for (const proto::Change& change : section.change())
          CheckChange(limit, both_ways, subject, section, change, comparison);
      }
    }
  }
  std::stable_sort(comparison->mutable_failure()->begin(), comparison->mutable_failure()->end(),
                   [](const proto::Failure& x, const proto::Failure& y) {
                     return std::fabs(static_cast<double>(x.b()) - static_cast<double>(x.a())) >
                            std::fabs(static_cast<double>(y.b()) - static_cast<double>(y.a()));
                   });
  return absl::OkStatus();
}

}  // namespace chakra
