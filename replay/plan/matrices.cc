#include "replay/plan/matrices.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/base/status_macros.h"
#include "trace/generate/hosts.h"
#include "trace/generate/optimizer/update.h"

namespace chakra::planning {
namespace {

using generate::MatrixUpdate;
using generate::StepPlan;
using generate::UpdateList;

// Kernels, and then an exchange, if the list ends in one.
struct ListTimes {
  double kernels = 0, exchange = 0;
};

class UpdateTimes {
 public:
  UpdateTimes(const StepPlan& step, Prices* prices) : step_(step), prices_(prices) {}

  absl::StatusOr<MatrixTimes> Of(const generate::StepUpdate& update) {
    RETURN_IF_ERROR(Serial(update.before, 1));
    for (const MatrixUpdate& m : update.matrices) {
      if (m.middle.empty()) {
        RETURN_IF_ERROR(Serial(m.start, m.times));
        continue;
      }
      ListTimes parts[3];
      const UpdateList* lists[3] = {&m.start, &m.middle, &m.end};
      for (int i = 0; i < 3; ++i) {
        ASSIGN_OR_RETURN(parts[i], TimesOf(*lists[i], m.times));
      }
      for (int64_t i = 0; i < m.times; ++i) Next(parts);
      while (!first_.empty() || !second_.empty()) Advance();
    }
    RETURN_IF_ERROR(Serial(update.after, 1));
    return MatrixTimes{free_, host_};
  }

 private:
  // The times of a list, and, added to those of the host, its launches `times` times.
  absl::StatusOr<ListTimes> TimesOf(const UpdateList& list, int64_t times) {
    const generate::HostCosts& host = step_.training.host;
    ListTimes out;
    for (const generate::UpdateWork& work : list) {
      const auto takes = work.collective ? prices_->OfCollective(work.type, work.bytes,
                                                                 prices_->GroupsOf(work.group, step_.split))
                                         : prices_->OfOperator(work.op);
      if (!takes.ok()) return takes.status();
      const bool exchange = work.collective && &work == &list.back();
      (exchange ? out.exchange : out.kernels) += *takes;
      const int64_t ns = (work.collective ? host.call_ns : generate::LaunchNs(host, work.op)) +
                         work.launches * generate::LoopKernelNs(host);
      host_ += 1e3 * static_cast<double>(ns * times);
    }
    return out;
  }

  absl::Status Serial(const UpdateList& list, int64_t times) {
    ASSIGN_OR_RETURN(const ListTimes all, TimesOf(list, times));
    free_ += static_cast<double>(times) * (all.kernels + all.exchange);
    return absl::OkStatus();
  }

  // A task whose last exchange ends at `at`; `rest`: its further lists.
  struct Task {
    const ListTimes* rest;
    double at;
  };

  // Runs a list on the device when it is ready, and then its exchange; returns the end.
  double Run(const ListTimes& list, double ready) {
    free_ = std::max(free_, ready) + list.kernels;
    if (list.exchange == 0) return free_;
    exchanged_ = std::max(exchanged_, free_) + list.exchange;
    return exchanged_;
  }

  void Next(const ListTimes* parts) {
    const Task task = {parts + 1, Run(parts[0], 0)};
    Advance();
    first_.push_back(task);
  }
  void Advance() {
    const std::vector<Task> ended = std::exchange(second_, {});
    for (const Task& task : std::exchange(first_, {}))
      second_.push_back({task.rest + 1, Run(*task.rest, task.at)});
    for (const Task& task : ended) Run(*task.rest, task.at);
  }

  const StepPlan& step_;
  Prices* prices_;
  double free_ = 0, exchanged_ = 0, host_ = 0;
  std::vector<Task> first_, second_;
};

}  // namespace

absl::StatusOr<MatrixTimes> TimeOfUpdate(const StepPlan& step, const std::vector<generate::Parameter>& all,
                                         Prices* prices) {
  return UpdateTimes(step, prices).Of(generate::DescribeUpdate(step, all));
}

}  // namespace chakra::planning
