#include "trace/foreign/foreign.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/format.h"

namespace chakra::foreign {
namespace {

// In this order: the first that recognises a file reads it. Formats with keys that others have too come
// later.
constexpr const Format* kFormats[] = {
    &kAutomodel, &kDeepSpeed,         &kAccelerate, &kLlamaFactory, &kAxolotl,        &kTrl,
    &kMaxText,   &kTrainingArguments, &kMegatronLm, &kTorchtitan,   &kMegatronBridge,
};

const Format* FormatFor(absl::string_view text) {
  if (absl::StrContains(text, '\0')) return nullptr;
  const Head head = {text, TopKeysOf(text)};
  for (const Format* format : kFormats) {
    if (format->looks(head)) return format;
  }
  return nullptr;
}

bool HasSizes(const proto::Model& model) {
  return model.has_layers() || !model.preset().empty() || !model.config().empty();
}

}  // namespace

Role RoleOf(absl::string_view head) {
  const Format* format = FormatFor(head);
  return format == nullptr ? Role::kNone : format->role;
}

absl::string_view FormatOf(absl::string_view head) {
  const Format* format = FormatFor(head);
  return format == nullptr ? "" : format->what;
}

absl::StatusOr<proto::Workload> ReadForeign(absl::string_view content, absl::string_view name,
                                            const Beside& beside) {
  const Format* format = FormatFor(content);
  if (format == nullptr) {
    std::vector<absl::string_view> known;
    for (const Format* f : kFormats) known.push_back(f->what);
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": not a configuration of a known framework; expected ", absl::StrJoin(known, ", ")));
  }
  proto::Workload out;
  RETURN_IF_ERROR(format->read({content, std::string(name), beside}, &out));
  if (!HasSizes(out.model()) && !beside.has_model) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", format->what,
                     " has no model; expected --model too, as --model llama3-8b or --model config.json"));
  }
  const bool one_rank = !out.parallel().has_dp() && !beside.given.parallel().has_dp();
  if (one_rank)
    out.add_left_out(
        "the number of ranks is unknown: dp is 1; --parallel dp=N says how many ranks share the batch");
  out.set_left_out_of(std::string(name));
  return out;
}

}  // namespace chakra::foreign
