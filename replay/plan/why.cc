#include "replay/plan/why.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/report/training.h"

namespace chakra::planning {
namespace {

constexpr size_t kMostParts = 3;     // maximum number of parts in the text
constexpr double kLeastShare = 0.1;  // minimum share of the largest part for a part to be in the text

void AddPart(const std::string& name, int64_t ps, proto::PlanRow* row) {
  proto::PlanPart& part = *row->add_part();
  part.set_name(name);
  part.set_mean_ps(ps);
}

std::string InWords(const std::string& part) {
  if (part == "forward" || part == "backward") return part + " pass";
  if (part == "recompute") return "recomputation";
  if (part == "step") return "optimizer";
  if (part == "bubble") return "pipeline bubble";
  if (part == "other") return "host and memory operations";
  return absl::StrCat("exposed communication (", part, ")");
}

std::string Signed(int64_t ps) {
  return absl::StrCat(ps < 0 ? "-" : "+", FormatTime(Time::Picos(std::llabs(ps))));
}

}  // namespace

void SetReplayed(const proto::Report& report, proto::PlanRow* row) {
  const proto::TrainingReport& t = report.training();
  const int64_t makespan = report.makespan_ps();
  const auto time = static_cast<double>(makespan);
  row->set_time_ps(makespan);
  if (makespan > 0) row->set_off(static_cast<double>(row->estimate_ps()) / time - 1);
  row->set_mfu(t.mfu());
  row->set_tokens_per_s(t.tokens_per_s());
  row->set_tokens_per_s_per_device(t.tokens_per_s_per_device());
  row->set_bubble_share(t.bubble_share());
  row->set_joules(static_cast<double>(report.energy().microjoules()) * 1e-6);
  row->set_dollars(report.cost().dollars_per_step());
  row->set_kg_co2e(report.carbon().operational_kg() + report.carbon().embodied_footprint_kg());
  int64_t rest = makespan, exposed = 0;
  for (const proto::PhaseReport& p : t.phase()) {
    AddPart(p.name(), p.mean_ps(), row);
    rest -= p.mean_ps();
  }
  for (const proto::ExposedReport& e : t.exposed()) {
    AddPart(e.kind() == "other" ? "other communication" : e.kind(), e.mean_ps(), row);
    exposed += e.mean_ps();
  }
  rest -= exposed;
  row->set_exposed_share(makespan > 0 ? static_cast<double>(exposed) / time : 0);
  const auto bubble = static_cast<int64_t>(t.bubble_share() * time);
  AddPart("bubble", bubble, row);
  // A smaller remainder is rounding of the means.
  if (rest - bubble > makespan / 1'000'000) AddPart("other", rest - bubble, row);
}

void SetEstimated(const proto::PlanReport& plan, const proto::Device& device, const generate::StepPlan& step,
                  proto::PlanRow* row) {
  const double seconds = static_cast<double>(row->estimate_ps()) * 1e-12, devices = plan.ranks();
  if (seconds <= 0) return;
  row->set_tokens_per_s(plan.tokens() / seconds);
  row->set_tokens_per_s_per_device(plan.tokens() / seconds / devices);
  std::string dtype = DtypeName(step.training.dtype);
  if (const double peak = PeakFlops(device, &dtype); peak > 0)
    row->set_mfu(plan.model_flops() / seconds / devices / peak);
}

std::string WhySlower(const proto::PlanRow& best, const proto::PlanRow& row) {
  std::map<std::string, int64_t> parts;
  for (const proto::PlanPart& p : row.part()) parts[p.name()] += p.mean_ps();
  for (const proto::PlanPart& p : best.part()) parts[p.name()] -= p.mean_ps();
  std::vector<std::pair<std::string, int64_t>> sorted(parts.begin(), parts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return std::llabs(a.second) > std::llabs(b.second); });
  const int64_t more = row.time_ps() - best.time_ps();
  if (more == 0)
    return row.peak_memory_bytes() > best.peak_memory_bytes() ? "as fast, with more memory" : "as fast";
  std::string out =
      absl::StrFormat("%.1f %% slower (%s)",
                      100 * static_cast<double>(more) / static_cast<double>(best.time_ps()), Signed(more));
  std::vector<std::string> told;
  for (const auto& [name, ps] : sorted) {
    if (told.size() == kMostParts || ps == 0) break;
    if (std::llabs(ps) < kLeastShare * static_cast<double>(std::llabs(sorted[0].second))) break;
    told.push_back(absl::StrCat(InWords(name), " ", Signed(ps)));
  }
  return told.empty() ? out : absl::StrCat(out, ": ", absl::StrJoin(told, ", "));
}

}  // namespace chakra::planning
