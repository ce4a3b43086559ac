#include "replay/cli/edit_options.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

using Script = absl::StatusOr<proto::EditScript>;

absl::Status Expected(absl::string_view value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", value, "\", expected ", what));
}

bool ParseNumber(absl::string_view text, double* out) {
  return absl::SimpleAtod(text, out) && *out >= 0 && *out < 1e18;
}

// "NAME=0.5": what is before the last '=' and the number after it.
bool SplitNumber(const std::string& value, std::string* what, double* number) {
  const size_t at = value.rfind('=');
  if (at == std::string::npos || at == 0) return false;
  *what = value.substr(0, at);
  return ParseNumber(absl::string_view(value).substr(at + 1), number);
}

// "25MiB", "1e6", "64KB".
bool ParseSize(absl::string_view text, uint64_t* out) {
  double number = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &number, &unit) || number >= 1e18) return false;
  const double bytes = number * (unit.empty() ? 1 : BytesOfUnit(unit));
  if (bytes < 1 || bytes > 9e18) return false;
  *out = static_cast<uint64_t>(bytes + 0.5);
  return true;
}

// "10ms", "3.5us"; microseconds.
bool ParseMicros(absl::string_view text, double* out) {
  double number = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &number, &unit) || number >= 1e18) return false;
  *out = number * (PicosOfUnit(unit) / 1e6);
  return *out > 0;
}

Script One(proto::Edit edit) {
  proto::EditScript script;
  *script.add_edit() = std::move(edit);
  return script;
}

Script Do(const std::string& value) {
  proto::Edit edit;
  RETURN_IF_ERROR(ParseTextMessage(value, "edit", &edit));
  return One(std::move(edit));
}

// What a part of a run takes: "device" its kernels, "host" the host's nodes and the gaps before them.
proto::EditScript ScalePart(const std::string& part, double factor) {
  proto::EditScript script;
  proto::Edit& times = *script.add_edit();
  times.set_name(part);
  times.mutable_select()->add_type(part);
  times.mutable_duration()->set_factor(factor);
  if (part != "host") return script;
  proto::Edit& gaps = *script.add_edit();
  gaps.set_name("gaps of the host");
  gaps.mutable_select()->add_type(part);
  gaps.mutable_delay()->set_factor(factor);
  return script;
}

Script Scale(const std::string& value) {
  proto::Edit edit;
  double factor = 0;
  std::string what;
  if (!SplitNumber(value, &what, &factor))
    return Expected(value, "device=FACTOR, host=FACTOR, or NAME=FACTOR, as gemm=0.5");
  for (const char* part : {"device", "host", "memory"}) {
    if (what == part) return ScalePart(part, factor);
  }
  edit.mutable_select()->set_name(what);
  edit.mutable_duration()->set_factor(factor);
  return One(std::move(edit));
}

Script ScaleBytes(const std::string& value) {
  proto::Edit edit;
  std::string kind;
  double factor = 0;
  if (!SplitNumber(value, &kind, &factor)) return Expected(value, "COLLECTIVE=FACTOR, as all_reduce=0.5");
  edit.mutable_select()->add_collective(kind);
  edit.mutable_bytes()->set_factor(factor);
  return One(std::move(edit));
}

// An edit of the nodes whose name matches.
proto::Edit OfName(const std::string& name) {
  proto::Edit edit;
  edit.mutable_select()->set_name(name);
  return edit;
}

Script RemoveNodes(const std::string& value) {
  proto::Edit edit = OfName(value);
  edit.mutable_remove();
  return One(std::move(edit));
}

Script FuseNodes(const std::string& value) {
  proto::Edit edit = OfName(value);
  edit.mutable_fuse()->set_drop_launches(true);
  return One(std::move(edit));
}

Script Bucket(const std::string& value) {
  proto::Edit edit;
  uint64_t bytes = 0;
  if (!ParseSize(value, &bytes)) return Expected(value, "a size, as 25MiB");
  edit.mutable_select()->add_collective("all_reduce");
  edit.mutable_merge_collectives()->set_bucket_bytes(bytes);
  return One(std::move(edit));
}

Script SlowRanks(const std::string& value) {
  proto::Edit edit;
  std::string ranks;
  double factor = 0;
  if (!SplitNumber(value, &ranks, &factor)) return Expected(value, "RANKS=FACTOR, as 3=1.5 or 0-7=1.2");
  edit.mutable_select()->add_ranks(ranks);
  for (const char* type : {"device", "host"}) edit.mutable_select()->add_type(type);
  edit.mutable_duration()->set_factor(factor);
  return One(std::move(edit));
}

Script DelayRanks(const std::string& value) {
  proto::Edit edit;
  const size_t at = value.rfind('=');
  double us = 0;
  if (at == std::string::npos || at == 0 || !ParseMicros(absl::string_view(value).substr(at + 1), &us))
    return Expected(value, "RANKS=TIME, as 3=10ms or 0-7=50us");
  edit.mutable_select()->add_ranks(value.substr(0, at));
  edit.mutable_delay_rank()->set_us(us);
  return One(std::move(edit));
}

Script RepeatIteration(const std::string& value) {
  proto::Edit edit;
  int times = 0;
  if (!absl::SimpleAtoi(value, &times)) return Expected(value, "a number of iterations");
  edit.mutable_repeat()->set_times(times);
  return One(std::move(edit));
}

Script Replicas(const std::string& value) {
  proto::Edit edit;
  const size_t at = value.rfind('=');
  int to = 0;
  if (!absl::SimpleAtoi(at == std::string::npos ? value : value.substr(at + 1), &to))
    return Expected(value, "N, or GROUP=N with one group of data parallelism");
  if (at != std::string::npos) edit.mutable_rescale()->add_groups(value.substr(0, at));
  edit.mutable_rescale()->set_to(to);
  return One(std::move(edit));
}

// What is wrong with the edit that `value` of the option `name` stands for, whatever it is applied to; "":
// nothing.
std::string Fault(Script (*read)(const std::string&), const std::string& name, const std::string& value) {
  const Script script = read(value);
  if (!script.ok()) return std::string(script.status().message());
  const auto plan = edit::EditPlan::Make({{name, *script, ""}});
  absl::string_view message = plan.status().message();
  absl::ConsumePrefix(&message, absl::StrCat(name, ": "));
  return plan.ok() ? "" : std::string(message);
}

}  // namespace

void EditOptions::Add(CLI::App* app, const std::string& name, const std::string& type,
                      const std::string& help, const std::string& group, Script (*read)(const std::string&)) {
  Given& g = *given_.emplace_back(std::make_unique<Given>());
  g.read = read;
  g.option = app->add_option(name, g.values, help)->type_name(type)->group(group)->expected(1)->take_all();
  if (read == nullptr) return;  // files are data, the others are the command line
  g.option->check(
      CLI::Validator([read, name](const std::string& value) { return Fault(read, name, value); }, ""));
}

void EditOptions::AddTo(CLI::App* app, const std::string& script, const std::string& group) {
  app_ = app;
  Add(app, script, "FILE", "A script of edits (proto/edit.proto, text format or JSON); may be repeated",
      group, nullptr);
  Add(app, "--do", "EDIT", "One edit in text format: \"select { name: 'gemm' } duration { factor: 0.5 }\"",
      group, Do);
  Add(app, "--scale", "WHAT=FACTOR",
      "Durations: device=0.8 of kernels, host=0.8 of the host and its gaps, memory=0.8 of copies and "
      "storage; "
      "any other WHAT is a name (RE2), whatever runs it: gemm=0.8",
      group, Scale);
  Add(app, "--scale-bytes", "KIND=FACTOR", "Bytes of a kind of collective: all_reduce=0.5", group,
      ScaleBytes);
  Add(app, "--remove", "NAME", "Take nodes away whose name matches", group, RemoveNodes);
  Add(app, "--fuse", "NAME", "Neighbours on a lane whose names match become one, with one launch", group,
      FuseNodes);
  Add(app, "--bucket", "SIZE", "Merge all-reduces up to a size: 25MiB", group, Bucket);
  Add(app, "--slow-ranks", "RANKS=FACTOR", "Durations of some ranks, on device and host: 3=1.5", group,
      SlowRanks);
  Add(app, "--delay-ranks", "RANKS=TIME", "Ranks begin late: 3=10ms", group, DelayRanks);
  Add(app, "--repeat", "N", "The whole trace N times", group, RepeatIteration);
  Add(app, "--replicas", "N",
      "So many data-parallel replicas; GROUP=N where the traces have several dimensions. Of one trace only "
      "beside --ranks",
      group, Replicas);
}

std::vector<std::string> EditOptions::TakeReplicas() {
  std::vector<std::string> taken;
  for (const auto& g : given_) {
    if (g->read == Replicas) taken.swap(g->values);
  }
  return taken;
}

bool EditOptions::any() const {
  return std::any_of(given_.begin(), given_.end(), [](const auto& g) { return !g->values.empty(); });
}

absl::Status EditOptions::Prepare() {
  std::map<const CLI::Option*, size_t> used;
  std::vector<edit::Script> scripts;
  for (const CLI::Option* option : app_->parse_order()) {
    const auto it =
        std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g->option == option; });
    if (it == given_.end()) continue;
    const size_t i = used[option]++;
    if (i >= (*it)->values.size()) continue;
    const std::string& value = (*it)->values[i];
    const std::string name = "--" + option->get_lnames().front();
    if ((*it)->read == nullptr) {
      ASSIGN_OR_RETURN(edit::Script script, edit::ReadScript(value));
      files_.push_back(value);
      scripts.push_back(std::move(script));
      continue;
    }
    Script script = (*it)->read(value);
    if (!script.ok()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", script.status().message()));
    scripts.push_back({name, *std::move(script), ""});
  }
  ASSIGN_OR_RETURN(edit::EditPlan plan, edit::EditPlan::Make(scripts));
  plan_ = std::make_unique<edit::EditPlan>(std::move(plan));
  return absl::OkStatus();
}

}  // namespace chakra::cli
