#include "replay/python/traces.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/ranks.h"
#include "replay/python/watch.h"
#include "trace/base/status_macros.h"
#include "trace/generate/importer.h"
#include "trace/generate/write.h"
#include "trace/io/options.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

constexpr size_t kRecent = 16;  // cached arguments of runs
constexpr size_t kDomains = 4;  // cached steps of other domains

// Errors: an option that has nothing to do with traces.
absl::Status CheckOfTraces(const proto::Run& told) {
  for (const MessageOption& option : MessageOption::Of(*proto::Run::descriptor())) {
    if (MayBeOfTraces(option) || option.name() == "threads" || !option.Given(told)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option.shown(), " does not apply to traces; expected it in a call of replay"));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedTraces> LoadWatched(const TraceOptions& options) {
  absl::StatusOr<LoadedTraces> out = absl::UnknownError("");
  Watch{py::none()}.Run([&] { out = LoadTraces(options); });
  return out;
}

}  // namespace

std::shared_ptr<Traces> Traces::Load(proto::Run told, const Folder& folder) {
  auto out = std::make_shared<Traces>();
  folder.ReachIn(&told);
  out->told_ = std::move(told);
  ThrowIf(CheckRun(out->told_));
  ThrowIf(CheckOfTraces(out->told_));
  out->resolved_ = OrThrow(ResolveRun(out->told_));
  TraceOptions& options = out->resolved_.traces;
  options.keep_symmetric = true;
  out->loaded_ = std::make_shared<const LoadedTraces>(OrThrow(LoadWatched(options)));
  if (generate::AreWorkload(options.inputs)) {
    const auto step = generate::PlanOf(out->loaded_->set);
    out->goes_by_domain_ = step.ok() && step->has_value() && (*step)->split.ep > 1;
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const LoadedTraces>> Traces::LoadedFor(int domain) const {
  if (!goes_by_domain_ || domain == resolved_.traces.read.domain) return loaded_;
  const std::lock_guard<std::mutex> lock(domains_mutex_);
  const auto found =
      std::find_if(domains_.begin(), domains_.end(), [&](const auto& d) { return d.first == domain; });
  if (found != domains_.end()) {
    domains_.splice(domains_.begin(), domains_, found);
    return domains_.front().second;
  }
  TraceOptions of_machine = OptionsHere();
  of_machine.read.domain = domain;
  ASSIGN_OR_RETURN(auto loaded, LoadTraces(of_machine));
  domains_.emplace_front(domain, std::make_shared<const LoadedTraces>(std::move(loaded)));
  if (domains_.size() > kDomains) domains_.pop_back();
  return domains_.front().second;
}

TraceOptions Traces::OptionsHere() const {
  TraceOptions here = resolved_.traces;
  if (generate::AreWorkload(here.inputs)) return here;
  for (std::string& input : here.inputs) input = folder_.Reach(input);
  return here;
}

std::shared_ptr<const TraceSet> Traces::whole() const {
  if (loaded_->symmetric.empty()) return {loaded_, &loaded_->set};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (whole_ == nullptr) {
    auto whole = std::make_shared<TraceSet>(loaded_->set);
    ExpandSymmetricRanks(loaded_->symmetric, whole.get());
    whole_ = std::move(whole);
  }
  return whole_;
}

std::shared_ptr<const ResolvedRun> Traces::RunOf(const proto::Run& more) {
  const std::string key = more.SerializeAsString();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = recent_.begin(); it != recent_.end(); ++it) {
      if (it->first != key) continue;
      recent_.splice(recent_.begin(), recent_, it);
      return recent_.front().second;
    }
  }
  proto::Run told = told_;
  told.MergeFrom(more);
  ThrowIf(CheckRun(told));
  if (TraceKey(told) != TraceKey(told_)) {
    ThrowInvalid(
        absl::StrCat(absl::StrJoin(PrintWords(more), " "),
                     ": changes the traces, which are read already; expected in the call of load or model"));
  }
  auto run = std::make_shared<const ResolvedRun>(OrThrow(ResolveRun(told)));
  const std::lock_guard<std::mutex> lock(mutex_);
  recent_.emplace_front(key, run);
  if (recent_.size() > kRecent) recent_.pop_back();
  return run;
}

absl::StatusOr<LoadedTraces> Traces::LoadUnedited(int domain) const {
  TraceOptions plain = OptionsHere();
  if (goes_by_domain_) plain.read.domain = domain;
  plain.edits = nullptr;
  plain.edit_files.clear();
  return LoadTraces(plain);
}

std::shared_ptr<Table> Traces::Nodes() const { return NodesOf(*whole()); }

void BindTraces(py::module_& module) {
  py::class_<Traces, std::shared_ptr<Traces>>(module, "Traces", "Traces in memory, from load() or model().")
      .def_static(
          "load",
          [](const std::string& told, const std::string& folder) {
            return Traces::Load(MessageOf<proto::Run>(told), folder.empty() ? Folder() : Folder(folder));
          },
          py::arg("told"), py::arg("folder") = "")
      .def_property_readonly("told", [](const Traces& t) { return py::bytes(t.told().SerializeAsString()); })
      .def_property_readonly("told_here",
                             [](const Traces& t) {
                               proto::Run told = t.told();
                               t.folder().ReachIn(&told);
                               return py::bytes(told.SerializeAsString());
                             })
      .def_property_readonly("folder", [](const Traces& t) { return PathText(t.folder().path()); })
      .def_property_readonly("ranks", [](const Traces& t) { return t.loaded().set.ranks.size(); })
      .def_property_readonly("node_count", [](const Traces& t) { return t.loaded().set.nodes(); })
      .def_property_readonly("distinct_graphs",
                             [](const Traces& t) { return t.loaded().set.distinct_graphs(); })
      .def_property_readonly("groups", [](const Traces& t) { return t.loaded().set.groups; })
      .def_property_readonly("group_source",
                             [](const Traces& t) { return Text(t.loaded().set.group_source); })
      .def_property_readonly("warnings",
                             [](const Traces& t) {
                               py::list out;
                               for (const std::string& w : t.loaded().set.warnings) out.append(Text(w));
                               return out;
                             })
      .def_property_readonly("assumptions",
                             [](const Traces& t) {
                               py::list out;
                               for (const std::string& a : t.loaded().set.assumptions) out.append(Text(a));
                               return out;
                             })
      .def_property_readonly("inputs",
                             [](const Traces& t) {
                               py::list out;
                               for (const InputFile& i : t.loaded().set.inputs) {
                                 py::dict d;
                                 d["path"] = PathText(i.path);
                                 d["sha256"] = i.sha256;
                                 d["bytes"] = i.bytes;
                                 d["role"] = i.role;
                                 out.append(d);
                               }
                               return out;
                             })
      .def("rank",
           [](const Traces& t, size_t rank) {
             const auto whole = t.whole();
             if (rank >= whole->ranks.size())
               throw py::index_error(
                   absl::StrCat("rank ", rank, "; the traces have ranks 0 to ", whole->ranks.size() - 1));
             return RankOf(whole, rank);
           })
      .def("nodes", [](const Traces& t) {
        std::shared_ptr<Table> nodes;
        Watch{py::none()}.Run([&] { nodes = t.Nodes(); });
        return nodes;
      });
  BindRanks(module);
}

}  // namespace chakra::python
