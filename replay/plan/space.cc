#include "replay/plan/space.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"

namespace chakra::planning {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int64_t kMostVpp = 10;
constexpr int64_t kLeastTokens = 4096;  // minimum tokens of a rank with cp > 1
constexpr size_t kMostVariants = 4096;

// The fields that have a loop of their own in search.cc.
constexpr absl::string_view kInner[] = {
    "parallel.tp", "parallel.cp",  "parallel.pp",   "parallel.vpp",         "parallel.dp",
    "parallel.ep", "parallel.etp", "parallel.zero", "training.micro_batch", "training.recompute"};

bool IsInner(absl::string_view path) {
  return std::find(std::begin(kInner), std::end(kInner), path) != std::end(kInner);
}

// The path "parallel.tp" for "tp", "parallel.tp" or "parallel.key".
absl::StatusOr<std::string> PathOf(const std::string& name) {
  std::vector<std::string> known;
  for (const Descriptor* type : {proto::Parallel::descriptor(), proto::Training::descriptor()}) {
    const std::string part = type == proto::Parallel::descriptor() ? "parallel" : "training";
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      const std::string key = SettingKey(field), path = absl::StrCat(part, ".", field.name());
      if (key.empty()) continue;
      if (name == key || name == path || name == absl::StrCat(part, ".", key)) return path;
      known.push_back(key);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("--try: there is no field \"", name,
                                                 "\" of parallel or training", SuggestName(name, known)));
}

// "4" gives 4, "1..8" gives 1, 2, 4, 8.
absl::StatusOr<std::vector<std::string>> ValuesOf(absl::string_view path, absl::string_view text) {
  std::vector<std::string> out;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    piece = absl::StripAsciiWhitespace(piece);
    const size_t dots = piece.find("..");
    if (dots == absl::string_view::npos) {
      out.emplace_back(piece);
      continue;
    }
    int64_t from = 0, to = 0;
    if (!absl::SimpleAtoi(piece.substr(0, dots), &from) || !absl::SimpleAtoi(piece.substr(dots + 2), &to) ||
        from < 1 || to < from || to > (int64_t{1} << 40)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--try ", path, ": the range \"", piece,
          "\"; expected FROM..TO of whole numbers, the smaller first, as 1..8 for 1, 2, 4 and 8"));
    }
    for (int64_t v = from; v <= to; v *= 2) out.push_back(absl::StrCat(v));
  }
  for (const std::string& v : out) {
    if (v.empty()) return absl::InvalidArgumentError(absl::StrCat("--try ", path, ": a value is missing"));
    if (absl::Status s = CheckField(std::string(path), v, proto::Workload()); !s.ok())
      return absl::Status(s.code(), absl::StrCat("--try ", s.message()));
    if (std::count(out.begin(), out.end(), v) > 1)
      return absl::InvalidArgumentError(absl::StrCat("--try ", path, " has the value \"", v, "\" twice"));
  }
  return out;
}

// The message and field of a path of two names.
const FieldDescriptor& FieldOf(const proto::Workload& workload, absl::string_view path,
                               const Message** message) {
  const std::vector<std::string> names = absl::StrSplit(path, '.');
  *message =
      names[0] == "parallel" ? static_cast<const Message*>(&workload.parallel()) : &workload.training();
  return *(*message)->GetDescriptor()->FindFieldByName(names[1]);
}

int64_t NumberOf(const proto::Workload& workload, absl::string_view path) {
  const Message* message = nullptr;
  const FieldDescriptor& field = FieldOf(workload, path, &message);
  return field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM
             ? message->GetReflection()->GetEnumValue(*message, &field)
             : static_cast<int64_t>(SettingNumber(*message, field));
}

bool Has(const proto::Workload& workload, absl::string_view path) {
  const Message* message = nullptr;
  const FieldDescriptor& field = FieldOf(workload, path, &message);
  return message->GetReflection()->HasField(*message, &field);
}

std::vector<int64_t> DivisorsOf(int64_t n, int64_t most) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= std::min(n, most); ++d) {
    if (n % d == 0) out.push_back(d);
  }
  return out;
}

std::vector<int64_t> Powers(int64_t most) {
  std::vector<int64_t> out;
  for (int64_t v = 1; v <= std::max<int64_t>(1, most); v *= 2) out.push_back(v);
  return out;
}

std::string RecomputeName(int64_t value) {
  return absl::AsciiStrToLower(
      proto::Training::Recompute_Name(static_cast<proto::Training::Recompute>(value)));
}

class SpaceMaker {
 public:
  SpaceMaker(const proto::Workload& workload, int ranks, int node)
      : workload_(workload), ranks_(ranks), node_(node) {}

  absl::StatusOr<SplitSpace> Make(const std::vector<std::string>& tries) {
    ASSIGN_OR_RETURN(model_, generate::ResolveModel(workload_.model()));
    if (!workload_.training().has_global_batch()) {
      return absl::InvalidArgumentError(
          "training.global_batch is missing; plan compares steps of equal size: expected the sequences of a "
          "step, as "
          "--training global_batch=1024");
    }
    if (!workload_.training().has_seq() && model_.image == 0)
      return absl::InvalidArgumentError(
          "training.seq is missing; expected the tokens of a sequence, as --training seq=4096");
    RETURN_IF_ERROR(ReadTries(tries));
    SetInner();
    RETURN_IF_ERROR(SetVariants());
    return std::move(out_);
  }

 private:
  absl::Status ReadTries(const std::vector<std::string>& tries) {
    for (const std::string& text : tries) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos)
        return absl::InvalidArgumentError(
            absl::StrCat("--try: \"", text, "\"; expected FIELD=VALUES, as tp=1,2,4 or pp=1..16"));
      ASSIGN_OR_RETURN(const auto path,
                       PathOf(std::string(absl::StripAsciiWhitespace(text.substr(0, equals)))));
      ASSIGN_OR_RETURN(auto values, ValuesOf(path, text.substr(equals + 1)));
      if (!tries_.emplace(path, std::move(values)).second)
        return absl::InvalidArgumentError(absl::StrCat("--try ", path, " is there twice"));
    }
    return absl::OkStatus();
  }

  void Describe(absl::string_view path, const std::vector<std::string>& values, const std::string& from) {
    proto::PlanAxis& axis = out_.axes.emplace_back();
    axis.set_field(std::string(path));
    axis.set_values(absl::StrJoin(values, ", "));
    axis.set_from(from);
  }

  // The values of a field that has its own loop.
  std::vector<int64_t> Inner(absl::string_view path, const std::vector<int64_t>& usual) {
    std::vector<int64_t> out;
    std::string from = "default";
    if (const auto tried = tries_.find(std::string(path)); tried != tries_.end()) {
      from = "--try";
      for (const std::string& text : tried->second) {
        proto::Workload w;
        if (SetField(std::string(path), text, &w).ok()) out.push_back(NumberOf(w, path));
      }
    } else if (Has(workload_, path)) {
      from = "workload";
      out = {NumberOf(workload_, path)};
    } else {
      out = usual;
    }
    std::vector<std::string> texts;
    for (const int64_t v : out)
      texts.push_back(path == "training.recompute" ? RecomputeName(v) : absl::StrCat(v));
    if (texts.empty()) texts.push_back("the rest of the ranks");
    if (path == "parallel.zero" && from == "default" && texts.size() > 2)
      texts.back() += " (2 and 3 with pp=1)";
    Describe(path, texts, from);
    return out;
  }

  std::vector<int64_t> DividingRanks(std::vector<int64_t> values) const {
    std::erase_if(values, [&](int64_t v) { return ranks_ % v != 0; });
    return values;
  }

  void SetInner() {
    const auto& t = workload_.training();
    const bool math = t.attention() == proto::Training::MATH;
    out_.tp = Inner("parallel.tp", DividingRanks(DivisorsOf(model_.heads, node_)));
    const int64_t seq = model_.image > 0 ? 1 : t.seq();
    out_.cp =
        Inner("parallel.cp", math ? std::vector<int64_t>{1} : DividingRanks(Powers(seq / kLeastTokens)));
    // A model that was trained on unequal stages may have any number of stages.
    const bool uneven = workload_.model().uneven();
    out_.pp = Inner("parallel.pp", uneven ? DivisorsOf(ranks_, model_.layers)
                                          : DividingRanks(DivisorsOf(model_.layers, model_.layers)));
    out_.vpp = Inner("parallel.vpp", DivisorsOf(model_.layers, kMostVpp));
    out_.dp = Inner("parallel.dp", {});
    out_.ep =
        Inner("parallel.ep", model_.experts > 0 ? DividingRanks(DivisorsOf(model_.experts, model_.experts))
                                                : std::vector<int64_t>{1});
    out_.etp = Inner("parallel.etp", {1});
    const bool fsdp = t.framework() == proto::Training::FSDP, ddp = t.framework() == proto::Training::DDP;
    const std::vector<int64_t> stages = fsdp  ? std::vector<int64_t>{3}
                                        : ddp ? std::vector<int64_t>{0}
                                              : std::vector<int64_t>{0, 1, 2, 3};
    for (const int64_t z : Inner("parallel.zero", stages)) out_.zero.push_back(static_cast<int>(z));
    out_.zero_is_default = !fsdp && out_.axes.back().from() == "default";
    std::vector<int64_t> batches = {1, 2, 4, 8};
    std::erase_if(batches, [&](int64_t b) { return t.global_batch() % b != 0; });
    out_.micro_batch = Inner("training.micro_batch", batches);
    SetRecompute();
  }

  void SetRecompute() {
    constexpr absl::string_view kPath = "training.recompute", kModulesPath = "training.recompute_modules";
    const bool named =
        tries_.contains(std::string(kModulesPath)) || !workload_.training().recompute_modules().empty();
    const bool fixed = tries_.contains(std::string(kPath)) || Has(workload_, kPath);
    const bool math = workload_.training().attention() == proto::Training::MATH;
    const bool cheap = !named && !fixed && !math && model_.experts > 0;
    std::vector<int64_t> recompute = {proto::Training::NONE, proto::Training::FULL};
    if (named || cheap || math) recompute.insert(recompute.begin() + 1, proto::Training::SELECTIVE);
    if (workload_.training().framework() == proto::Training::FSDP && workload_.training().lora() == 0)
      recompute.insert(recompute.end() - 1, proto::Training::OPERATORS);
    RecomputeChoice choice;
    choice.by_default = !cheap;
    choice.modules.set(generate::kExpertActivation);
    choice.modules.set(generate::kLayerNorms, model_.pre_norm);
    choice.modules.set(generate::kLatentUp, model_.latent());
    for (const int64_t r : Inner(kPath, recompute)) {
      choice.what = static_cast<proto::Training::Recompute>(r);
      out_.recompute.push_back(choice);
    }
    if (cheap) Describe(kModulesPath, {generate::NamesOf(choice.modules)}, "default");
  }

  absl::Status SetVariants() {
    out_.variants = {workload_};
    out_.variant_names = {""};
    for (const auto& [path, values] : tries_) {
      if (IsInner(path)) continue;
      Describe(path, values, "--try");
      std::vector<proto::Workload> all;
      std::vector<std::string> names;
      if (out_.variants.size() * values.size() > kMostVariants)
        return absl::InvalidArgumentError(absl::StrCat("--try: more than ", kMostVariants,
                                                       " combinations of fields in addition to the split"));
      for (size_t i = 0; i < out_.variants.size(); ++i) {
        for (const std::string& value : values) {
          proto::Workload w = out_.variants[i];
          RETURN_IF_ERROR(SetField(path, value, &w));
          all.push_back(std::move(w));
          names.push_back(absl::StrCat(out_.variant_names[i], out_.variant_names[i].empty() ? "" : " ",
                                       path.substr(path.find('.') + 1), "=", value));
        }
      }
      out_.variants = std::move(all);
      out_.variant_names = std::move(names);
    }
    return absl::OkStatus();
  }

  const proto::Workload& workload_;
  const int64_t ranks_, node_;
  generate::ModelSize model_;
  std::map<std::string, std::vector<std::string>> tries_;
  SplitSpace out_;
};

// A field as part of a short form; "" if short forms do not have the field.
std::string ShortFormOfField(const Message& message, const FieldDescriptor& field) {
  const std::string key = SettingKey(field);
  const auto& r = *message.GetReflection();
  if (key.empty() || field.is_repeated() || field.message_type() != nullptr) return "";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat(key, "=", absl::AsciiStrToLower(r.GetEnum(message, &field)->name()));
    case FieldDescriptor::CPPTYPE_BOOL:
      return absl::StrCat(key, "=", r.GetBool(message, &field) ? "yes" : "no");
    case FieldDescriptor::CPPTYPE_STRING:
      return absl::StrCat(key, "=", r.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(key, "=", r.GetInt64(message, &field));
    default:
      return absl::StrCat(key, "=", SettingNumber(message, field),
                          absl::EndsWith(field.name(), "_us") ? "us" : "");
  }
}

// The fields of a message as a short form.
std::string ShortFormOf(const Message& message) {
  std::vector<std::string> out;
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) out.push_back(ShortFormOfField(message, *field));
  std::erase(out, "");
  return absl::StrJoin(out, ",");
}

}  // namespace

absl::StatusOr<SplitSpace> MakeSplitSpace(const proto::Workload& workload,
                                          const std::vector<std::string>& tries, int ranks, int node) {
  return SpaceMaker(workload, ranks, node).Make(tries);
}

void SetSplit(const generate::StepPlan& step, proto::Workload* workload) {
  const generate::Split& s = step.split;
  proto::Parallel& p = *workload->mutable_parallel();
  p.set_tp(s.tp);
  p.clear_sp();
  if (s.sp != (s.tp > 1)) p.set_sp(s.sp);
  p.set_pp(s.pp);
  const auto set_more = [](int64_t v, auto set, auto clear) { v > 1 ? set(v) : clear(); };
  set_more(
      s.vpp, [&](int64_t v) { p.set_vpp(v); }, [&] { p.clear_vpp(); });
  p.set_dp(s.dp);
  set_more(
      s.cp, [&](int64_t v) { p.set_cp(v); }, [&] { p.clear_cp(); });
  set_more(
      s.ep, [&](int64_t v) { p.set_ep(v); }, [&] { p.clear_ep(); });
  set_more(
      s.etp, [&](int64_t v) { p.set_etp(v); }, [&] { p.clear_etp(); });
  p.set_zero(s.zero);
  p.clear_overlap_param();
  if (s.overlap_param) p.set_overlap_param(true);
  workload->mutable_training()->set_micro_batch(step.training.micro_batch);
  workload->mutable_training()->set_recompute(step.training.recompute);
  if (step.training.recompute != proto::Training::SELECTIVE)
    workload->mutable_training()->clear_recompute_modules();
  if (step.training.recompute != proto::Training::OPERATORS)
    workload->mutable_training()->clear_recompute_gemms();
  if (step.training.recompute != proto::Training::FULL) {
    workload->mutable_training()->clear_recompute_method();
    workload->mutable_training()->clear_recompute_layers();
  }
}

std::string SplitOptions(const proto::Workload& workload) {
  return absl::StrCat("--parallel ", ShortFormOf(workload.parallel()), " --training ",
                      ShortFormOf(workload.training()));
}

std::string ModelOptions(const proto::Workload& workload) {
  proto::Model model = workload.model();
  if (model.preset().empty()) return ShortFormOf(model);
  // Leaves out fields that have the preset's value.
  const auto preset = generate::FindPreset(model.preset());
  std::string own;
  if (preset.ok()) {
    std::vector<const FieldDescriptor*> fields;
    model.GetReflection()->ListFields(model, &fields);
    for (const FieldDescriptor* field : fields) {
      const std::string text = ShortFormOfField(model, *field);
      const bool same =
          preset->GetReflection()->HasField(*preset, field) && text == ShortFormOfField(*preset, *field);
      if (!same && !text.empty()) own.append(own.empty() ? "" : ",").append(text);
    }
  }
  return absl::StrCat(model.preset(), own.empty() ? "" : ":", own);
}

}  // namespace chakra::planning
