#include "replay/run/edits.h"

#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/edit.pb.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"
#include "trace/io/options.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

using Script = absl::StatusOr<proto::EditScript>;

absl::Status ExpectedForm(absl::string_view value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", value, "\", expected ", what));
}

bool ParseNumber(absl::string_view text, double* out) {
  return absl::SimpleAtod(text, out) && *out >= 0 && *out < 1e18;
}

// "NAME=0.5": splits the text before the last '=' and the number after it.
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

// "10ms", "3.5us"; returns microseconds.
bool ParseMicros(absl::string_view text, double* out) {
  double number = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &number, &unit) || number >= 1e18) return false;
  *out = number * (PicosOfUnit(unit) / 1e6);
  return *out > 0;
}

Script OneEdit(proto::Edit edit) {
  proto::EditScript script;
  *script.add_edit() = std::move(edit);
  return script;
}

Script ReadDo(const std::string& value) {
  proto::Edit edit;
  RETURN_IF_ERROR(ParseTextMessage(value, "edit", &edit));
  return OneEdit(std::move(edit));
}

// Scales a part of a run: "device" its kernels, "memory" its memory nodes, "host" its host nodes and the gaps
// before them.
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

Script ReadScale(const std::string& value) {
  proto::Edit edit;
  double factor = 0;
  std::string what;
  if (!SplitNumber(value, &what, &factor))
    return ExpectedForm(value, "device=FACTOR, host=FACTOR, or NAME=FACTOR, as gemm=0.5");
  for (const char* part : {"device", "host", "memory"}) {
    if (what == part) return ScalePart(part, factor);
  }
  edit.mutable_select()->set_name(what);
  edit.mutable_duration()->set_factor(factor);
  return OneEdit(std::move(edit));
}

Script ReadScaleBytes(const std::string& value) {
  proto::Edit edit;
  std::string kind;
  double factor = 0;
  if (!SplitNumber(value, &kind, &factor)) return ExpectedForm(value, "COLLECTIVE=FACTOR, as all_reduce=0.5");
  edit.mutable_select()->add_collective(kind);
  edit.mutable_bytes()->set_factor(factor);
  return OneEdit(std::move(edit));
}

// An edit that selects the nodes whose name matches.
proto::Edit OfName(const std::string& name) {
  proto::Edit edit;
  edit.mutable_select()->set_name(name);
  return edit;
}

Script RemoveNodes(const std::string& value) {
  proto::Edit edit = OfName(value);
  edit.mutable_remove();
  return OneEdit(std::move(edit));
}

Script FuseNodes(const std::string& value) {
  proto::Edit edit = OfName(value);
  edit.mutable_fuse()->set_drop_launches(true);
  return OneEdit(std::move(edit));
}

Script ReadBucket(const std::string& value) {
  proto::Edit edit;
  uint64_t bytes = 0;
  if (!ParseSize(value, &bytes)) return ExpectedForm(value, "a size, as 25MiB");
  edit.mutable_select()->add_collective("all_reduce");
  edit.mutable_merge_collectives()->set_bucket_bytes(bytes);
  return OneEdit(std::move(edit));
}

Script SlowRanks(const std::string& value) {
  proto::Edit edit;
  std::string ranks;
  double factor = 0;
  if (!SplitNumber(value, &ranks, &factor)) return ExpectedForm(value, "RANKS=FACTOR, as 3=1.5 or 0-7=1.2");
  edit.mutable_select()->add_ranks(ranks);
  for (const char* type : {"device", "host"}) edit.mutable_select()->add_type(type);
  edit.mutable_duration()->set_factor(factor);
  return OneEdit(std::move(edit));
}

Script DelayRanks(const std::string& value) {
  proto::Edit edit;
  const size_t at = value.rfind('=');
  double us = 0;
  if (at == std::string::npos || at == 0 || !ParseMicros(absl::string_view(value).substr(at + 1), &us))
    return ExpectedForm(value, "RANKS=TIME, as 3=10ms or 0-7=50us");
  edit.mutable_select()->add_ranks(value.substr(0, at));
  edit.mutable_delay_rank()->set_us(us);
  return OneEdit(std::move(edit));
}

Script RepeatIteration(const std::string& value) {
  proto::Edit edit;
  int times = 0;
  if (!absl::SimpleAtoi(value, &times)) return ExpectedForm(value, "a number of iterations");
  edit.mutable_repeat()->set_times(times);
  return OneEdit(std::move(edit));
}

Script ReadReplicas(const std::string& value) {
  proto::Edit edit;
  const size_t at = value.rfind('=');
  int to = 0;
  if (!absl::SimpleAtoi(at == std::string::npos ? value : value.substr(at + 1), &to))
    return ExpectedForm(value, "N, or GROUP=N with one group of data parallelism");
  if (at != std::string::npos) edit.mutable_rescale()->add_groups(value.substr(0, at));
  edit.mutable_rescale()->set_to(to);
  return OneEdit(std::move(edit));
}

// How the text of a field of EditText becomes edits.
struct Form {
  int field;
  Script (*read)(const std::string& text);
};
constexpr Form kForms[] = {{proto::EditText::kDoFieldNumber, ReadDo},
                           {proto::EditText::kScaleFieldNumber, ReadScale},
                           {proto::EditText::kScaleBytesFieldNumber, ReadScaleBytes},
                           {proto::EditText::kRemoveFieldNumber, RemoveNodes},
                           {proto::EditText::kFuseFieldNumber, FuseNodes},
                           {proto::EditText::kBucketFieldNumber, ReadBucket},
                           {proto::EditText::kSlowRanksFieldNumber, SlowRanks},
                           {proto::EditText::kDelayRanksFieldNumber, DelayRanks},
                           {proto::EditText::kRepeatFieldNumber, RepeatIteration},
                           {proto::EditText::kReplicasFieldNumber, ReadReplicas}};

// Reads an edit that is a short form, not a script's file.
absl::StatusOr<edit::Script> ReadForm(const proto::EditText& text) {
  static const auto* const kOptions =
      new std::vector<MessageOption>(MessageOption::Of(*proto::EditText::descriptor()));
  const MessageOption& option = (*kOptions)[static_cast<size_t>(text.edit_case()) - 1];
  for (const Form& form : kForms) {
    if (form.field != text.edit_case()) continue;
    Script script = form.read(option.Values(text)[0]);
    if (script.ok()) return edit::Script{option.shown(), *std::move(script), ""};
    return absl::InvalidArgumentError(absl::StrCat(option.shown(), ": ", script.status().message()));
  }
  return absl::InvalidArgumentError("empty edit");
}

}  // namespace

absl::Status CheckEdits(const EditTexts& edits) {
  for (const proto::EditText& text : edits) {
    if (text.has_edit_file() || text.has_script()) continue;
    ASSIGN_OR_RETURN(const edit::Script script, ReadForm(text));
    RETURN_IF_ERROR(edit::EditPlan::Make({script}).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<ReadEdits> MakeEdits(const EditTexts& edits) {
  ReadEdits out;
  std::vector<edit::Script> scripts;
  for (const proto::EditText& text : edits) {
    const std::string& file = text.has_script() ? text.script() : text.edit_file();
    ASSIGN_OR_RETURN(edit::Script script, file.empty() ? ReadForm(text) : edit::ReadScript(file));
    if (!file.empty()) out.files.push_back(file);
    scripts.push_back(std::move(script));
  }
  ASSIGN_OR_RETURN(edit::EditPlan plan, edit::EditPlan::Make(scripts));
  out.plan = std::make_shared<const edit::EditPlan>(std::move(plan));
  return out;
}

}  // namespace chakra
