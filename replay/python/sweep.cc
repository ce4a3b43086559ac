#include "replay/python/sweep.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/python/errors.h"
#include "replay/python/results.h"
#include "replay/python/table.h"
#include "replay/python/watch.h"
#include "replay/sweep/points.h"
#include "replay/sweep/spec.h"
#include "replay/sweep/sweep.h"
#include "trace/base/stop.h"
#include "trace/base/threads.h"
#include "trace/io/proto_io.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// A sweep's spec, with its points.
struct SweepSpec {
  sweep::Spec spec;
  std::optional<sweep::Space> space;
};

std::shared_ptr<SweepSpec> Expand(sweep::Spec spec) {
  auto out = std::make_shared<SweepSpec>();
  out->spec = std::move(spec);
  auto space = sweep::Space::Make(out->spec.sweep);
  if (!space.ok()) ThrowIf(sweep::InSpec(out->spec, space.status()));
  out->space = *std::move(space);
  return out;
}

std::shared_ptr<SweepSpec> SpecOfText(const std::string& text, const std::string& name) {
  sweep::Spec spec;
  spec.source = name;
  spec.text = text;
  ThrowIf(ParseMessage(text, name, &spec.sweep));
  if (spec.sweep.name().empty()) spec.sweep.set_name(name);
  return Expand(std::move(spec));
}

// Points that other processes run.
class PointsSource {
 public:
  PointsSource(sweep::TaskSource* source, const sweep::Space* space) : source_(source), space_(space) {}

  // (token, words), or None: no point is left. A point whose words cannot be made fails at once.
  py::object Take() {
    sweep::Task task;
    while (source_->Take(&task)) {
      auto words = space_->Words(task.place);
      if (words.ok()) {
        taken_[task.number] = task;
        return py::make_tuple(task.number, *words);
      }
      const absl::Status failed = words.status();
      source_->Finish(task, sweep::RunToRecord(
                                [&](const auto&) {
                                  return sweep::Outcome{failed, {}, "", {}};
                                },
                                {}));
    }
    return py::none();
  }

  void Finish(uint64_t token, const std::string& record) {
    const auto found = taken_.find(token);
    if (found == taken_.end()) return;  // a worker that was thought dead has finished it before
    proto::PointRecord parsed;
    if (!parsed.ParseFromString(record)) ThrowInvalid("a worker of another version takes part in the sweep");
    source_->Finish(found->second, std::move(parsed));
    taken_.erase(found);
  }

  void Fail(uint64_t token, const std::string& error) {
    proto::PointRecord record;
    record.set_error(error);
    Finish(token, record.SerializeAsString());
  }

  bool Done() { return source_->Done(); }
  py::tuple Progress() {
    const sweep::RunnerProgress p = source_->progress();
    return py::make_tuple(p.done, p.failed, p.total, p.seconds);
  }
  // Returns the points that did not finish, so that the sweep can end early.
  void GiveBackAll() {
    for (auto& [token, task] : taken_) source_->GiveBack(std::move(task));
    taken_.clear();
  }

 private:
  sweep::TaskSource* source_;
  const sweep::Space* space_;
  std::map<uint64_t, sweep::Task> taken_;
};

// Points that threads of Python run.
class LentPoints {
 public:
  LentPoints(size_t kept, int threads, sweep::SweepPoints::Places sent)
      : points_(kept, threads, std::move(sent)) {}
  proto::PointRecord Run(const std::vector<std::string>& words) {
    const StopScope scope(&stop_);
    return sweep::RunToRecord([this](const std::vector<std::string>& w) { return points_.Run(w); }, words);
  }
  void Stop() { stop_ = true; }

 private:
  sweep::SweepPoints points_;
  std::atomic<bool> stop_{false};
};

struct RunArguments {
  std::string folder;
  int jobs = 1;
  bool retry_failed = false, continue_changed = false;
  uint64_t limit = 0;
  size_t trace_cache = 2;
};

py::dict SummaryOf(const sweep::SweepSummary& summary) {
  py::dict d;
  d["points"] = summary.points;
  d["done_before"] = summary.done_before;
  d["run"] = summary.run;
  d["failed"] = summary.failed;
  d["left"] = summary.left;
  d["search"] = summary.search;
  d["seconds"] = summary.seconds;
  return d;
}

// `serve`: None, or called with the PointsSource instead of running points on threads of this process.
py::dict RunSweep(const SweepSpec& swept, const RunArguments& arguments, const std::string& version,
                  const py::object& progress, const py::object& serve) {
  const int jobs = std::max(1, arguments.jobs);
  sweep::SweepPoints points(arguments.trace_cache, std::max(1, DefaultThreads() / jobs));
  Watch watch(progress);
  absl::StatusOr<sweep::SweepSummary> summary = absl::UnknownError("");
  std::exception_ptr raised;
  absl::StatusOr<std::vector<size_t>> slow = absl::UnknownError("");
  Watch{py::none()}.Run([&] { slow = sweep::CheckPoints(*swept.space, &points); });
  if (!slow.ok()) ThrowIf(sweep::InSpec(swept.spec, slow.status()));
  {
    const py::gil_scoped_release released;
    sweep::SweepOptions options;
    options.folder = arguments.folder;
    options.version = version;
    options.retry_failed = arguments.retry_failed;
    options.continue_changed = arguments.continue_changed;
    options.limit = arguments.limit;
    options.slow_axes = *slow;
    options.runner.jobs = serve.is_none() ? jobs : 0;
    options.runner.stop = watch.stop();
    options.runner.progress = [&](const sweep::RunnerProgress& p) {
      watch.Tell(p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 1, p.done,
                 p.total);
      watch.Look();
    };
    if (!serve.is_none()) {
      options.runner.serve = [&](sweep::TaskSource* source) {
        const py::gil_scoped_acquire held;
        auto handed = std::make_shared<PointsSource>(source, &*swept.space);
        try {
          serve(handed);
        } catch (...) {
          raised = std::current_exception();
        }
        handed->GiveBackAll();
      };
    }
    summary = sweep::RunSweep(
        swept.spec, *swept.space, [&](const std::vector<std::string>& words) { return points.Run(words); },
        options);
  }
  if (raised) std::rethrow_exception(raised);
  watch.End();
  return SummaryOf(OrThrow(std::move(summary)));
}

py::dict ReadRecord(const std::string& bytes) {
  proto::PointRecord record;
  if (!record.ParseFromString(bytes)) ThrowInvalid("a worker of another version takes part in the sweep");
  py::dict metrics, out;
  for (const proto::PointValue& v : record.metric()) metrics[py::str(v.name())] = v.value();
  out["metrics"] = metrics;
  out["error"] = Text(record.error());
  out["seconds"] = record.wall_s();
  return out;
}

void BindPoints(py::module_& module) {
  module.def("read_record", &ReadRecord);
  py::class_<PointsSource, std::shared_ptr<PointsSource>>(module, "PointsSource",
                                                          "Points that other processes or threads run.")
      .def("take", &PointsSource::Take)
      .def("finish", &PointsSource::Finish)
      .def("fail", &PointsSource::Fail)
      .def("done", &PointsSource::Done)
      .def("progress", &PointsSource::Progress);
  py::class_<LentPoints, std::shared_ptr<LentPoints>>(
      module, "SweepPoints", "Runs points. Points with the same traces share them in memory.")
      .def(py::init<size_t, int, sweep::SweepPoints::Places>(), py::arg("kept") = 2, py::arg("threads") = 1,
           py::arg("sent") = sweep::SweepPoints::Places())
      .def("run",
           [](LentPoints& points, const std::vector<std::string>& words) {
             std::string record;
             {
               const py::gil_scoped_release released;
               record = points.Run(words).SerializeAsString();
             }
             return py::bytes(record);
           })
      .def("stop", &LentPoints::Stop, "Stops running points soon. Their error has no meaning.");
}

}  // namespace

void BindSweep(py::module_& module) {
  py::class_<SweepSpec, std::shared_ptr<SweepSpec>>(module, "SweepSpec", "A sweep's spec, with its points.")
      .def_static("read", [](const std::string& path) { return Expand(OrThrow(sweep::ReadSpec(path))); })
      .def_static("of_text", &SpecOfText)
      .def_property_readonly("name", [](const SweepSpec& s) { return Text(s.spec.sweep.name()); })
      .def_property_readonly("traces",
                             [](const SweepSpec& s) {
                               std::vector<std::string> all(s.spec.sweep.trace().begin(),
                                                            s.spec.sweep.trace().end());
                               for (const sweep::SweepAxis& axis : s.space->axes()) {
                                 for (const sweep::AxisValue& value : axis.values)
                                   if (axis.option == "TRACE") all.push_back(value.text);
                               }
                               return all;
                             })
      .def_property_readonly("searches", [](const SweepSpec& s) { return s.spec.sweep.has_search(); })
      .def("to_text", [](const SweepSpec& s) { return Text(s.spec.sweep.DebugString()); })
      .def("__len__", [](const SweepSpec& s) { return s.space->points().size(); })
      .def("words", [](const SweepSpec& s, size_t point) {
        if (point >= s.space->points().size())
          throw py::index_error(absl::StrCat("point ", point, " of ", s.space->points().size()));
        return OrThrow(s.space->Words(s.space->points()[point]));
      });
  module.def("run_sweep",
             [](const SweepSpec& spec, const std::string& folder, int jobs, bool retry_failed,
                bool continue_changed, uint64_t limit, size_t trace_cache, const std::string& version,
                const py::object& progress, const py::object& serve) {
               return RunSweep(spec, {folder, jobs, retry_failed, continue_changed, limit, trace_cache},
                               version, progress, serve);
             });
  BindPoints(module);
  BindResults(module);
}

}  // namespace chakra::python
