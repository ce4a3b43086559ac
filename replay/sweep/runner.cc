#include "replay/sweep/runner.h"

#include <new>
#include <thread>
#include <utility>

#include "trace/base/parallel.h"
#include "trace/base/stop.h"
#include "trace/base/utf8.h"

namespace chakra::sweep {
namespace {

constexpr std::chrono::milliseconds kProgressEvery(200);

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

proto::PointRecord RunToRecord(const RunPoint& run, const std::vector<std::string>& words) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome;
  try {
    outcome = run(words);
  } catch (const std::bad_alloc&) {
    outcome = {absl::ResourceExhaustedError("there is not enough memory for it"), {}, ""};
  }
  proto::PointRecord out;
  out.set_wall_s(SecondsSince(begin));
  out.set_inputs(outcome.inputs);
  *out.mutable_file() = std::move(outcome.files);
  if (!outcome.status.ok()) {
    const std::string message = ToUtf8(outcome.status.message());
    out.set_error(message.empty() ? "it failed without a message" : message);
    return out;
  }
  for (const auto& [name, value] : outcome.metrics) {
    proto::PointValue* v = out.add_metric();
    v->set_name(name);
    v->set_value(value);
  }
  return out;
}

TaskSource::TaskSource(std::deque<Task> tasks, const RunnerOptions& options, JournalWriter* journal)
    : tasks_(std::move(tasks)),
      total_(tasks_.size()),
      options_(options),
      journal_(journal),
      begin_(std::chrono::steady_clock::now()) {}

bool TaskSource::Take(Task* task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tasks_.empty() || !failure_.ok() || (options_.stop != nullptr && options_.stop->load())) return false;
  *task = std::move(tasks_.front());
  tasks_.pop_front();
  ++under_way_;
  return true;
}

void TaskSource::GiveBack(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_front(std::move(task));
  --under_way_;
  changed_.notify_all();
}

void TaskSource::Finish(const Task& task, proto::PointRecord record) {
  record.set_number(task.number);
  record.set_id(task.id);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (journal_ != nullptr && failure_.ok()) failure_ = journal_->Append(record);
  record.clear_file();
  ++done_;
  failed_ += record.error().empty() ? 0 : 1;
  records_[task.id] = std::move(record);
  --under_way_;
  changed_.notify_all();
}

bool TaskSource::DoneLocked() const {
  const bool stopped = options_.stop != nullptr && options_.stop->load();
  return under_way_ == 0 && (tasks_.empty() || !failure_.ok() || stopped);
}

bool TaskSource::Done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return DoneLocked();
}

void TaskSource::Wait(std::chrono::milliseconds most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, most, [this] { return DoneLocked(); });
}

RunnerProgress TaskSource::progress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {done_, failed_, total_, SecondsSince(begin_)};
}

void Runner::Work(TaskSource* source) const {
  const StopScope scope(options_.stop);
  Task task;
  while (source->Take(&task)) {
    const auto words = space_.Words(task.place);
    proto::PointRecord record = words.ok() ? RunToRecord(run_, *words)
                                           : RunToRecord(
                                                 [&](const auto&) {
                                                   return Outcome{words.status(), {}, ""};
                                                 },
                                                 {});
    // A point that was cut off has no result, and has not failed.
    if (!record.error().empty() && StopRequested()) return source->GiveBack(std::move(task));
    source->Finish(task, std::move(record));
  }
}

absl::StatusOr<std::map<std::string, proto::PointRecord>> Runner::Run(std::vector<Task> tasks) {
  TaskSource source(
      std::deque<Task>(std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end())),
      options_, journal_);
  std::vector<std::thread> threads;
  StartThreads(
      options_.jobs, [&](int) { Work(&source); }, &threads);
  if (threads.empty() && !options_.serve) Work(&source);
  if (options_.serve) {
    options_.serve(&source);
  } else {
    while (!source.Done()) {
      if (options_.progress) options_.progress(source.progress());
      source.Wait(kProgressEvery);
    }
  }
  for (std::thread& t : threads) t.join();
  if (options_.progress) options_.progress(source.progress());
  if (journal_ != nullptr) source.failure_.Update(journal_->Flush());
  if (!source.failure_.ok()) return source.failure_;
  if (source.under_way_ > 0) return absl::UnavailableError("a process that ran points of the sweep was lost");
  if (!source.tasks_.empty()) return absl::CancelledError("the sweep was stopped");
  return std::move(source.records_);
}

}  // namespace chakra::sweep
