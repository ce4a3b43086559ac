#include "test/validation/power_limits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "replay/energy/model.h"

namespace chakra::validation {
namespace {

constexpr double kLimitBar = 0.06;
constexpr double kAtRest = 45;  // watts of a V100 that waits in a job

// Mean watts, and the seconds of an epoch, under a limit.
struct Limit {
  double cap, watts, seconds;
};

// A part of a job; without a limit it draws `watts` for `seconds`.
struct PartOfJob {
  double watts, seconds;
};

struct LimitedJob {
  const char* name;
  std::vector<PartOfJob> parts;
  std::vector<Limit> measured;
};

// Zeus (NSDI 2023), summary_power_v100.csv. The curve's three constants are fitted to BERT. The division of a
// job's time is also fitted, with one share for each job: 0.82 of BERT's time is at 245 W, 0.36 of
// DeepSpeech2's at 240 W. The power of the rest gives the measured mean without a limit.
const std::vector<LimitedJob>& Jobs() {
  static const auto* const kJobs = new std::vector<LimitedJob>{
      {"BERT-base, batch 128",
       {{245, 0.82 * 4115}, {122.8, 0.18 * 4115}},
       {{100, 100, 7724},
        {125, 123, 5918},
        {150, 147, 4939},
        {175, 169, 4627},
        {200, 189, 4433},
        {225, 206, 4209},
        {250, 223, 4115}}},
      {"DeepSpeech2, batch 192",
       {{240, 0.36 * 6182}, {116.6, 0.64 * 6182}},
       {{100, 98, 8478}, {150, 126, 6846}, {200, 144, 6353}, {250, 161, 6182}}},
      {"NCF, batch 16,384", {{36, 7.1}}, {{100, 36, 7.1}, {150, 36, 7.1}, {250, 36, 7.1}}}};
  return *kJobs;
}

// The law's mean watts and seconds of a job under a cap.
Limit Under(const std::vector<PartOfJob>& job, double cap, const proto::FrequencyCurve& curve) {
  Limit out = {cap, 0, 0};
  double joules = 0;
  for (const PartOfJob& part : job) {
    const double longer =
        part.watts > cap ? energy::SlowdownAt(curve, (cap - kAtRest) / (part.watts - kAtRest)) : 1;
    joules += std::min(part.watts, cap) * part.seconds * longer;
    out.seconds += part.seconds * longer;
  }
  out.watts = joules / out.seconds;
  return out;
}

}  // namespace

absl::StatusOr<std::string> PowerLimitTable(bool* holds) {
  const auto constants = energy::ConstantsOf(energy::BuiltInModel(), "V100-SXM-32GB");
  if (!constants.ok()) return constants.status();
  std::string out =
      "\n## Power limits\n\n"
      "V100, mean watts and seconds of an epoch at each limit (Zeus, NSDI 2023), against the law of "
      "`--power-cap`. "
      "Not independent: the curve's three\nconstants are fitted to BERT, and one share of each job's time "
      "is.\n\n"
      "| job | limit, W | measured W | law | error | measured s | law | error |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const LimitedJob& job : Jobs()) {
    for (const Limit& m : job.measured) {
      const Limit law = Under(job.parts, m.cap, constants->profile.frequency());
      const double watts = law.watts / m.watts - 1, seconds = law.seconds / m.seconds - 1;
      *holds = *holds && std::fabs(watts) <= kLimitBar && std::fabs(seconds) <= kLimitBar;
      absl::StrAppendFormat(&out, "| %s | %g | %g | %.0f | %+.1f %% | %g | %.4g | %+.1f %% |\n", job.name,
                            m.cap, m.watts, law.watts, 100 * watts, m.seconds, law.seconds, 100 * seconds);
    }
  }
  return out;
}

}  // namespace chakra::validation
