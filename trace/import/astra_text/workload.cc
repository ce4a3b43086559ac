#include "trace/import/astra_text/workload.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::astra_text {
namespace {

constexpr std::pair<Kind, absl::string_view> kKinds[] = {
    {Kind::kMicro, "MICRO"},
    {Kind::kData, "DATA"},
    {Kind::kModel, "MODEL"},
    {Kind::kHybridDataModel, "HYBRID_DATA_MODEL"},
    {Kind::kHybridModelData, "HYBRID_MODEL_DATA"},
    {Kind::kHybridCustomized, "HYBRID_CUSTOMIZED"},
    {Kind::kHybridTransformer, "HYBRID_TRANSFORMER"},
    {Kind::kHybridTransformerFwdInBckwd, "HYBRID_TRANSFORMER_FWD_IN_BCKWD"},
    {Kind::kHybridDlrm, "HYBRID_DLRM"},
    {Kind::kHybridDlrmEnhanced, "HYBRID_DLRM_ENHANCED"},
    {Kind::kDistributedInference, "DISTRIBUTED_INFERENCE"},
};

constexpr std::pair<absl::string_view, CollectiveType> kTypes[] = {
    {"ALLREDUCE", CollectiveType::kAllReduce},         {"ALLGATHER", CollectiveType::kAllGather},
    {"REDUCESCATTER", CollectiveType::kReduceScatter}, {"ALLTOALL", CollectiveType::kAllToAll},
    {"BROADCAST", CollectiveType::kBroadcast},
};
constexpr char kSuffixes[] =
    "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, with _EP or _DP_EP in "
    "HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD";

constexpr int64_t kMostNanos = std::numeric_limits<int64_t>::max() / 1000;  // Time counts picoseconds
constexpr uint64_t kMostBytes = uint64_t{1} << 56;
constexpr size_t kFields = 12;

const std::array<const char*, kPasses> kPassNames = {"forward", "input gradient", "weight gradient"};

bool NamesCollective(absl::string_view word) {
  return word == "NONE" || std::any_of(std::begin(kTypes), std::end(kTypes),
                                       [&](const auto& type) { return absl::StartsWith(word, type.first); });
}

using Words = std::vector<absl::string_view>;

Words WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t\r\v\f"), absl::SkipEmpty());
}

std::optional<Kind> KindOf(absl::string_view word) {
  for (const auto& [kind, name] : kKinds) {
    if (name == word) return kind;
  }
  return std::nullopt;
}

bool IsDlrm(Kind kind) { return kind == Kind::kHybridDlrm || kind == Kind::kHybridDlrmEnhanced; }

// The lines that have words, with their numbers.
class Lines {
 public:
  explicit Lines(absl::string_view text) : rest_(text) {}
  // Returns false at the end of the text.
  bool Next(Words* words) {
    while (!done_) {
      const size_t end = rest_.find('\n');
      *words = WordsOf(rest_.substr(0, end));
      ++number_;
      done_ = end == absl::string_view::npos;
      if (!done_) rest_.remove_prefix(end + 1);
      if (!words->empty()) return true;
    }
    return false;
  }
  uint32_t number() const { return number_; }

 private:
  absl::string_view rest_;
  uint32_t number_ = 0;
  bool done_ = false;
};

class Reader {
 public:
  Reader(absl::string_view text, absl::string_view file) : lines_(text), file_(file) {}

  absl::StatusOr<Workload> Run() {
    Words words;
    if (!lines_.Next(&words)) return Bad("expected a kind of parallelism, found the end of the file");
    RETURN_IF_ERROR(Header(words));
    if (!lines_.Next(&words)) return Bad("expected the number of layers, found the end of the file");
    uint64_t layers = 0;
    if (words.size() != 1 || !absl::SimpleAtoi(words[0], &layers) || layers == 0)
      return Bad(absl::StrCat("expected only the number of layers, 1 or more, found ", Quoted(words[0])));
    const uint32_t said = lines_.number();
    while (lines_.Next(&words)) {
      if (out_.layers.size() == layers)
        return Bad(absl::StrCat("expected the end of the file: line ", said, " says that there are ", layers,
                                " layers, found ", Quoted(words[0])));
      RETURN_IF_ERROR(OneLayer(words));
    }
    if (out_.layers.size() < layers)
      return Bad(absl::StrCat("the file ends after ", out_.layers.size(), " layers, expected the ", layers,
                              " of line ", said));
    RETURN_IF_ERROR(CheckLayerNumbers());
    return std::move(out_);
  }

 private:
  static std::string Quoted(absl::string_view word) { return absl::StrCat("\"", word.substr(0, 40), "\""); }
  absl::Status Bad(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": line ", lines_.number(), ": ", what));
  }

  // Reads a whole number, "8" or "8.0".
  absl::Status Whole(absl::string_view word, absl::string_view field, int64_t most, int64_t* out) const {
    absl::string_view digits = word;
    if (const size_t dot = word.find('.');
        dot != absl::string_view::npos && word.find_first_not_of('0', dot + 1) == absl::string_view::npos)
      digits = word.substr(0, dot);
    if (absl::SimpleAtoi(digits, out) && *out >= 0 && *out <= most) return absl::OkStatus();
    return Bad(absl::StrCat(field, ": expected a whole number from 0 to ", most, ", found ", Quoted(word)));
  }

  // Value() reads the number after the word at `at`; List() reads the number of values, and the values. Both
  // move `at` past what they read.
  absl::Status Value(const Words& words, size_t* at, int64_t* out) const {
    const absl::string_view key = absl::StripSuffix(words[*at], ":");
    if (++*at >= words.size())
      return Bad(absl::StrCat(key, ": expected a number, found the end of the line"));
    return Whole(words[(*at)++], key, std::numeric_limits<int>::max(), out);
  }
  absl::Status List(const Words& words, size_t* at, std::vector<uint32_t>* out) const {
    const absl::string_view key = absl::StripSuffix(words[*at], ":");
    int64_t count = 0, layer = 0;
    RETURN_IF_ERROR(Value(words, at, &count));
    for (int64_t i = 0; i < count; ++i) {
      if (*at >= words.size()) return Bad(absl::StrCat(key, ": expected ", count, " layers, found ", i));
      RETURN_IF_ERROR(Whole(words[(*at)++], key, std::numeric_limits<int>::max(), &layer));
      out->push_back(static_cast<uint32_t>(layer));
    }
    std::sort(out->begin(), out->end());
    return absl::OkStatus();
  }

  absl::Status Header(const Words& words) {
    const std::optional<Kind> kind = KindOf(words[0]);
    if (!kind.has_value()) {
      std::vector<std::string> names;
      for (const auto& [known, name] : kKinds) names.emplace_back(name);
      return Bad(absl::StrCat("expected a kind of parallelism, found ", Quoted(words[0]),
                              SuggestName(words[0].substr(0, 40), names)));
    }
    out_.kind = *kind;
    int64_t pipeline = 1, value = 0;
    size_t at = 1, unknown = 0;
    absl::string_view first_unknown;
    if (IsDlrm(*kind)) {
      if (at < words.size() && words[at] == "DLRM_LAST_BOTTOM_LAYER:") ++at;
      if (at >= words.size())
        return Bad(absl::StrCat(words[0], ": expected the number of the last bottom layer after this word"));
      RETURN_IF_ERROR(Whole(words[at++], "last bottom layer", std::numeric_limits<int>::max(), &value));
      out_.last_bottom_layer = static_cast<uint32_t>(value);
    }
    while (at < words.size()) {
      const absl::string_view key = absl::StripSuffix(words[at], ":");
      absl::Status s;
      if (key == "checkpoints") {
        s = List(words, &at, &out_.checkpoints);
      } else if (key == "checkpoint_initiates") {
        s = List(words, &at, &out_.recomputed_before);
      } else if (key == "vpp" || key == "ga" || key == "pp_comm") {
        // Their effect is in the layers already, or depends on pp.
        if (++at >= words.size()) return Bad(absl::StrCat(key, ": expected a number after this word"));
        ++at;
      } else {
        int* const known = key == "model_parallel_NPU_group" ? &out_.model_parallel
                           : key == "ep"                     ? &out_.expert_parallel
                           : key == "all_gpus"               ? &out_.ranks
                                                             : nullptr;
        if (known == nullptr && key != "pp") {
          if (unknown++ == 0) first_unknown = words[at];
          // Skip the value too.
          at += absl::EndsWith(words[at], ":") && at + 1 < words.size() ? 2 : 1;
          continue;
        }
        s = Value(words, &at, &value);
        if (known != nullptr) *known = static_cast<int>(value);
        if (key == "pp") pipeline = value;
      }
      if (!s.ok()) return s;
    }
    if (unknown > 0)
      out_.warnings.push_back(
          absl::StrCat(file_, ": line ", lines_.number(), ": ", Quoted(first_unknown),
                       unknown > 1 ? absl::StrCat(" and ", unknown - 1, " more words") : "",
                       unknown > 1 ? " are unknown and have no effect" : " is unknown and has no effect"));
    if (IsTransformer(*kind) && out_.model_parallel == 0)
      return Bad(absl::StrCat(words[0],
                              ": expected model_parallel_NPU_group: N, the ranks of a group that "
                              "shares each layer"));
    if (pipeline > 1)
      return Bad(absl::StrCat("pp: ", pipeline,
                              " stages, but the format has neither the messages between stages nor their "
                              "order; expected pp: 1 (`generate` makes steps with stages)"));
    if (*kind != Kind::kHybridTransformerFwdInBckwd &&
        !(out_.checkpoints.empty() && out_.recomputed_before.empty()))
      return Bad(
          absl::StrCat("checkpoints are for HYBRID_TRANSFORMER_FWD_IN_BCKWD, expected none with ", words[0]));
    return absl::OkStatus();
  }

  absl::Status Collective(absl::string_view word, absl::string_view field, LayerPass* pass) const {
    if (word == "NONE") return absl::OkStatus();
    absl::string_view name = word;
    if (absl::ConsumeSuffix(&name, "_DP_EP")) {
      pass->suffix = Suffix::kDpEp;
    } else if (absl::ConsumeSuffix(&name, "_EP")) {
      pass->suffix = Suffix::kEp;
    }
    for (const auto& [known, type] : kTypes) {
      if (known != name) continue;
      if (pass->suffix != Suffix::kNone && !IsTransformer(out_.kind)) break;
      pass->communicates = true;
      pass->type = type;
      return absl::OkStatus();
    }
    if (name == "ALLREDUCEALLTOALL")
      return Bad(absl::StrCat(field, ": ", word,
                              " is an all-reduce on some dimensions of a network and an all-to-all on the "
                              "others; no collective of a trace is both, expected two layers"));
    return Bad(absl::StrCat(field, ": expected ", kSuffixes, ", found ", Quoted(word)));
  }

  absl::Status OneLayer(const Words& words) {
    const bool custom = out_.kind == Kind::kHybridCustomized;
    const size_t fields = kFields + (custom ? 1 : 0);
    if (words.size() != fields)
      return Bad(absl::StrCat("a layer with ", words.size(), " fields, expected ", fields,
                              ": name, a number, for each of forward, input gradient and weight gradient a "
                              "time, a collective and its bytes, the time of an update",
                              custom ? ", and the layer's own kind of parallelism" : ""));
    Layer& layer = out_.layers.emplace_back();
    layer.name = std::string(words[0]);
    layer.kind = out_.kind;
    for (int p = 0; p < kPasses; ++p) {
      LayerPass& pass = layer.pass[static_cast<size_t>(p)];
      const size_t at = 2 + 3 * static_cast<size_t>(p);
      const std::string name = kPassNames[static_cast<size_t>(p)];
      RETURN_IF_ERROR(Whole(words[at], absl::StrCat(name, " computation"), kMostNanos, &pass.compute_ns));
      RETURN_IF_ERROR(Collective(words[at + 1], absl::StrCat(name, " collective"), &pass));
      int64_t bytes = 0;
      RETURN_IF_ERROR(
          Whole(words[at + 2], absl::StrCat(name, " bytes"), static_cast<int64_t>(kMostBytes), &bytes));
      pass.bytes = static_cast<uint64_t>(bytes);
    }
    RETURN_IF_ERROR(Whole(words[11], "update", kMostNanos, &layer.update_ns));
    if (!custom) return absl::OkStatus();
    const std::optional<Kind> own = KindOf(words[12]);
    if (own != Kind::kData && own != Kind::kModel && own != Kind::kHybridDataModel &&
        own != Kind::kHybridModelData)
      return Bad(
          absl::StrCat("the layer's kind: expected DATA, MODEL, HYBRID_DATA_MODEL or "
                       "HYBRID_MODEL_DATA, found ",
                       Quoted(words[12])));
    layer.kind = *own;
    return absl::OkStatus();
  }

  // Checks the layer numbers in the first line.
  absl::Status CheckLayerNumbers() const {
    const auto last = static_cast<uint32_t>(out_.layers.size() - 1);
    const auto bad = [&](const std::string& what) {
      return absl::InvalidArgumentError(absl::StrCat(file_, ": line 1: ", what));
    };
    if (IsDlrm(out_.kind) && out_.last_bottom_layer > last)
      return bad(absl::StrCat("last bottom layer ", out_.last_bottom_layer, ", expected 0 to ", last));
    for (const std::vector<uint32_t>* list : {&out_.checkpoints, &out_.recomputed_before}) {
      if (!list->empty() && list->back() > last)
        return bad(absl::StrCat(list == &out_.checkpoints ? "checkpoints" : "checkpoint_initiates",
                                ": layer ", list->back(), ", expected 0 to ", last));
    }
    for (const uint32_t layer : out_.recomputed_before) {
      if (out_.checkpoints.empty() || out_.checkpoints.front() >= layer)
        return bad(absl::StrCat("checkpoint_initiates: layer ", layer,
                                ", expected a layer after a layer of checkpoints"));
    }
    return absl::OkStatus();
  }

  Lines lines_;
  absl::string_view file_;
  Workload out_;
};

}  // namespace

absl::string_view Name(Kind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "";
}

// Checks three lines if the kind has no '_': DATA or MODEL may begin any text, but no other format has the
// longer names.
bool LooksLikeTextWorkload(absl::string_view head) {
  Lines lines(head);
  Words words;
  if (!lines.Next(&words)) return false;
  const std::optional<Kind> kind = KindOf(words[0]);
  if (!kind.has_value()) return false;
  if (absl::StrContains(words[0], '_')) return true;
  uint64_t layers = 0;
  if (!lines.Next(&words) || words.size() != 1 || !absl::SimpleAtoi(words[0], &layers)) return false;
  return lines.Next(&words) && words.size() >= kFields && NamesCollective(words[3]) &&
         NamesCollective(words[6]) && NamesCollective(words[9]);
}

absl::StatusOr<Workload> ReadTextWorkload(absl::string_view text, absl::string_view file) {
  return Reader(text, file).Run();
}

}  // namespace chakra::astra_text
