#include "trace/import/kineto/kineto_event.h"

#include <simdjson.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/kineto/kineto_keywords.h"

namespace chakra::pytorch::kineto {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(EventBatch::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr Category Of(EventKind kind) { return {Category::kEvent, kind}; }
constexpr Category kNothing = {Category::kNoWork};

constexpr Keyword<Category> kCategoryWords[] = {
    {"cpu_op", Of(EventKind::kCpuOp)},
    {"Operator", Of(EventKind::kCpuOp)},
    {"user_annotation", Of(EventKind::kAnnotation)},
    {"cuda_runtime", Of(EventKind::kRuntime)},
    {"hip_runtime", Of(EventKind::kRuntime)},
    {"mtia_runtime", Of(EventKind::kRuntime)},
    {"xpu_runtime", Of(EventKind::kRuntime)},
    {"privateuse1_runtime", Of(EventKind::kRuntime)},
    {"Runtime", Of(EventKind::kRuntime)},
    {"cuda_driver", Of(EventKind::kDriver)},
    {"xpu_driver", Of(EventKind::kDriver)},
    {"privateuse1_driver", Of(EventKind::kDriver)},
    {"Driver", Of(EventKind::kDriver)},
    {"glow_runtime", Of(EventKind::kRuntime)},
    {"enqueue", Of(EventKind::kRuntime)},
    {"dequeue", Of(EventKind::kRuntime)},
    {"kernel", Of(EventKind::kKernel)},
    {"Kernel", Of(EventKind::kKernel)},
    {"mtia_ccp_events", Of(EventKind::kKernel)},
    {"privateuse1_kernel", Of(EventKind::kKernel)},
    {"gpu_memcpy", Of(EventKind::kMemcpy)},
    {"Memcpy", Of(EventKind::kMemcpy)},
    {"privateuse1_memcpy", Of(EventKind::kMemcpy)},
    {"gpu_memset", Of(EventKind::kMemset)},
    {"Memset", Of(EventKind::kMemset)},
    {"privateuse1_memset", Of(EventKind::kMemset)},
    {"cuda_sync", Of(EventKind::kSync)},
    {"fwdbwd", {Category::kFwdBwd}},
    {"forward_backward", {Category::kFwdBwd}},
    {"async_npu", {Category::kLaunch}},
    {"HostToDevice", {Category::kLaunch}},
    {"async_task_queue", kNothing},
    {"MsTx", kNothing},
    {"GC", kNothing},
    {"python_function", kNothing},
    {"gpu_user_annotation", kNothing},
    {"overhead", kNothing},
    {"Overhead", kNothing},
    {"Trace", kNothing},
    {"ac2g", kNothing},
    {"async_gpu", kNothing},
    {"async_cpu_to_gpu", kNothing},
    {"cuda_profiler_range", kNothing},
    {"cuda_event", kNothing},
    {"external_correlation", kNothing},
    {"cpu_instant_event", {Category::kInstant}},
    {"mtia_insight", kNothing},
    {"mtia_workloadd", kNothing},
    {"collective_comm", kNothing},
    {"privateuse1_annotation", kNothing},
};
constexpr Keywords<Category, 256> kCategories(kCategoryWords);

// Endings of categories: profilers of other devices write the name of their device before them.
constexpr Keyword<Category> kCategoryEnds[] = {
    {"_runtime", Of(EventKind::kRuntime)},
    {"_driver", Of(EventKind::kDriver)},
    {"_annotation", kNothing},
};

constexpr Keyword<Arg> kArgWords[] = {
    {"External id", Arg::kExternalId},
    {"external id", Arg::kExternalId},
    {"correlation", Arg::kCorrelation},
    {"Record function id", Arg::kRecordFunction},
    {"Sequence number", Arg::kSequence},
    {"Fwd thread id", Arg::kFwdThread},
    {"Input Dims", Arg::kDims},
    {"Input dims", Arg::kDims},
    {"Input type", Arg::kTypes},
    {"stream", Arg::kStream},
    {"stream_id", Arg::kStreamId},
    {"device", Arg::kDevice},
    {"bytes", Arg::kBytes},
    {"size", Arg::kSize},
    {"mem size", Arg::kMemSize},
    {"grid", Arg::kGrid},
    {"block", Arg::kBlock},
    {"cuda_sync_kind", Arg::kSyncKind},
    {"wait_on_stream", Arg::kWaitStream},
    {"wait_on_cuda_event_record_corr_id", Arg::kWaitCorrelation},
    {"name", Arg::kName},
    {"Collective name", Arg::kCollective},
    {"In msg nelems", Arg::kInElems},
    {"Out msg nelems", Arg::kOutElems},
    {"Group size", Arg::kGroupSize},
    {"dtype", Arg::kDtype},
    {"In split size", Arg::kInSplit},
    {"Out split size", Arg::kOutSplit},
    {"Process Group Name", Arg::kGroupName},
    {"Process Group ID", Arg::kGroupId},
    {"Process Group Description", Arg::kGroupDesc},
    {"Process Group Ranks", Arg::kGroupRanks},
    {"Global rank start", Arg::kRankStart},
    {"Global rank stride", Arg::kRankStride},
    {"Rank", Arg::kRank},
    {"Src Rank", Arg::kSrcRank},
    {"Dst Rank", Arg::kDstRank},
    {"Seq", Arg::kCommSeq},
    {"graph node id", Arg::kGraphNode},
    {"kernel_backend", Arg::kKernelBackend},
    {"kernel_file", Arg::kKernelFile},
    {"kernel_hash", Arg::kKernelHash},
    {"kernel_kwargs", Arg::kKernelOptions},
    {"num_warps", Arg::kWarps},
    {"num_stages", Arg::kStages},
    {"kernel_flop", Arg::kKernelOperations},
    {"kernel_num_gb", Arg::kKernelGigabytes},
    {"Total Allocated", Arg::kAllocated},
    {"Total Reserved", Arg::kReserved},
    {"Device Type", Arg::kDeviceType},
    {"Device Id", Arg::kDeviceId},
    {"Physic Stream Id", Arg::kPhysicalStream},
    {"Task Type", Arg::kTaskType},
    {"connection_id", Arg::kConnection},
    {"HW event name", Arg::kHardwareEvent},
    {"count", Arg::kCount},
    {"data_type", Arg::kDataType},
    {"labels", Arg::kLabels},
};
constexpr Keywords<Arg, 256> kArgNames(kArgWords);

enum class Field : uint8_t { kPhase, kCat, kName, kPid, kTid, kTs, kDur, kId, kArgs };
constexpr Keyword<Field> kFieldWords[] = {
    {"ph", Field::kPhase}, {"cat", Field::kCat}, {"name", Field::kName},
    {"pid", Field::kPid},  {"tid", Field::kTid}, {"ts", Field::kTs},
    {"dur", Field::kDur},  {"id", Field::kId},   {"args", Field::kArgs},
};
constexpr Keywords<Field, 64> kFields(kFieldWords);

void TrimRight(absl::string_view* s) {
  while (!s->empty() && (s->back() == ' ' || s->back() == '\n' || s->back() == '\r' || s->back() == '\t')) {
    s->remove_suffix(1);
  }
}

absl::string_view View(std::string_view s) { return absl::string_view(s.data(), s.size()); }

// The token of a number, string, true or false, or the text of a whole array or object. Empty for null.
simdjson::error_code Token(ondemand::value value, absl::string_view* out) {
  *out = View(value.raw_json_token());
  if (out->front() == '[' || out->front() == '{') {
    std::string_view text;
    simdjson::error_code error;
    if (out->front() == '[') {
      ondemand::array array;
      error = value.get_array().get(array);
      if (error == simdjson::SUCCESS) error = array.raw_json().get(text);
    } else {
      ondemand::object object;
      error = value.get_object().get(object);
      if (error == simdjson::SUCCESS) error = object.raw_json().get(text);
    }
    if (error != simdjson::SUCCESS) return error;
    *out = View(text);
  }
  TrimRight(out);
  if (*out == "null") *out = absl::string_view();
  return simdjson::SUCCESS;
}

absl::string_view KeyText(const ondemand::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"') ++end;  // simdjson has checked that strings end; no known name has an escape
  return absl::string_view(begin, static_cast<size_t>(end - begin));
}

simdjson::error_code ReadArgs(ondemand::value value, EventTokens* out) {
  ondemand::object object;
  simdjson::error_code error = value.get_object().get(object);
  if (error != simdjson::SUCCESS) return error;
  for (auto item : object) {
    ondemand::field field;
    error = std::move(item).get(field);
    if (error != simdjson::SUCCESS) return error;
    const Arg* arg = kArgNames.Find(KeyText(field));
    if (arg == nullptr) continue;
    absl::string_view token;
    error = Token(field.value(), &token);
    if (error != simdjson::SUCCESS) return error;
    if (token.empty()) continue;
    out->args[static_cast<int>(*arg)] = token;
    out->seen |= uint64_t{1} << static_cast<int>(*arg);
  }
  return simdjson::SUCCESS;
}

simdjson::error_code ReadEvent(ondemand::object object, EventTokens* out) {
  for (auto item : object) {
    ondemand::field field;
    simdjson::error_code error = std::move(item).get(field);
    if (error != simdjson::SUCCESS) return error;
    const Field* known = kFields.Find(KeyText(field));
    if (known == nullptr) continue;
    if (*known == Field::kArgs) {
      if (out->category.use == Category::kNoWork) continue;
      if (field.value().raw_json_token().front() == 'n') continue;  // null
      error = ReadArgs(field.value(), out);
      if (error != simdjson::SUCCESS) return error;
      continue;
    }
    absl::string_view token;
    error = Token(field.value(), &token);
    if (error != simdjson::SUCCESS) return error;
    switch (*known) {
      case Field::kPhase:
        out->phase = token.size() == 3 ? token[1] : '\0';
        break;
      case Field::kCat:
        out->cat = token;
        out->category = ParseCategory(token);
        break;
      case Field::kName:
        out->name = token;
        break;
      case Field::kPid:
        out->pid = token;
        break;
      case Field::kTid:
        out->tid = token;
        break;
      case Field::kTs:
        out->ts = token;
        break;
      case Field::kDur:
        out->dur = token;
        break;
      case Field::kId:
        out->id = token;
        break;
      case Field::kArgs:
        break;
    }
  }
  return simdjson::SUCCESS;
}

// The length of the UTF-8 character at `p`; 0: not valid UTF-8.
size_t CharacterLength(const char* p, size_t left) {
  const auto at = [p](size_t i) { return static_cast<unsigned char>(p[i]); };
  if (at(0) < 0x80) return 1;
  const size_t n = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  return n <= left && simdjson::validate_utf8(p, n) ? n : 0;
}

}  // namespace

bool FindArg(absl::string_view name, Arg* out) {
  const Arg* arg = kArgNames.Find(name);
  if (arg == nullptr) return false;
  *out = *arg;
  return true;
}

Category ParseCategory(absl::string_view token) {
  if (token.empty()) return Category();
  if (token.size() < 4 || token.front() != '"') return {Category::kUnknown};
  const absl::string_view word = token.substr(1, token.size() - 2);
  if (const Category* c = kCategories.Find(word); c != nullptr) return *c;
  for (const Keyword<Category>& end : kCategoryEnds) {
    if (absl::EndsWith(word, end.word)) return end.value;
  }
  return {Category::kUnknown};
}

void EventTokens::Clear() {
  phase = 0;
  category = Category();
  cat = name = pid = tid = ts = dur = id = absl::string_view();
  seen = 0;
}

struct EventReader::Impl {
  ondemand::parser parser;
  ondemand::document document;
  EventTokens tokens;
};

EventReader::EventReader(absl::string_view file) : file_(file), impl_(std::make_unique<Impl>()) {}
EventReader::~EventReader() = default;

absl::Status EventReader::Malformed(const EventBatch& batch, size_t event, absl::string_view why) {
  const uint32_t at = (*batch.starts)[event];
  return absl::InvalidArgumentError(
      absl::StrCat(file_, ": event ", batch.first_event + event,
                   impl_->tokens.name.empty() ? "" : absl::StrCat(" (", impl_->tokens.name, ")"), " at byte ",
                   batch.byte + at, ": not valid JSON: ", why));
}

absl::Status EventReader::Read(const EventBatch& batch, EventSink* sink) {
  const auto index = [&] {
    return impl_->parser.iterate(batch.text, batch.size, batch.size + EventBatch::kPadding)
        .get(impl_->document);
  };
  simdjson::error_code error = index();
  if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
    Mend(batch);
    error = index();
  }
  if (error == simdjson::MEMALLOC)
    return absl::ResourceExhaustedError(absl::StrCat(file_, ": no memory to read it"));
  if (error != simdjson::SUCCESS) return Blame(batch, simdjson::error_message(error));
  return Walk(batch, sink);
}

absl::Status EventReader::Walk(const EventBatch& batch, EventSink* sink) {
  EventTokens& tokens = impl_->tokens;
  tokens.Clear();
  ondemand::array array;
  simdjson::error_code error = impl_->document.get_array().get(array);
  size_t i = 0;
  if (error != simdjson::SUCCESS) return Malformed(batch, i, simdjson::error_message(error));
  for (auto item : array) {
    tokens.Clear();
    const size_t event = std::min(i, batch.starts->size() - 1);
    ondemand::value value;
    ondemand::object object;
    error = std::move(item).get(value);
    if (error == simdjson::SUCCESS) {
      const auto at = static_cast<size_t>(value.raw_json_token().data() - batch.text);
      if (i == batch.starts->size() || at != (*batch.starts)[i])
        return Malformed(batch, event, "its brackets do not match");
      error = value.get_object().get(object);
    }
    if (error == simdjson::SUCCESS) error = ReadEvent(object, &tokens);
    if (error != simdjson::SUCCESS) return Malformed(batch, event, simdjson::error_message(error));
    tokens.index = batch.first_event + i;
    tokens.byte = batch.byte + (*batch.starts)[i];
    RETURN_IF_ERROR(sink->Add(tokens));
    ++i;
  }
  tokens.Clear();
  if (i != batch.starts->size())
    return Malformed(batch, std::min(i, batch.starts->size() - 1), "its brackets do not match");
  return absl::OkStatus();
}

absl::Status EventReader::Blame(const EventBatch& batch, absl::string_view why) {
  impl_->tokens.Clear();
  const std::vector<uint32_t>& starts = *batch.starts;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : batch.size - 1;
    const simdjson::padded_string one(batch.text + starts[i], end - starts[i]);
    if (impl_->parser.iterate(one).get(impl_->document) != simdjson::SUCCESS) return Malformed(batch, i, why);
  }
  return Malformed(batch, 0, why);
}

void EventReader::Mend(const EventBatch& batch) {
  bool quoted = false;
  for (size_t i = 0; i < batch.size;) {
    char& c = batch.text[i];
    const size_t n = CharacterLength(&c, batch.size - i);
    if (n == 0) {
      c = '?';
      ++bad_utf8_;
    } else if (quoted && static_cast<unsigned char>(c) < 0x20) {
      c = ' ';
      ++bad_controls_;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted && c == '\\' && (c == batch.text[i + 1] || batch.text[i + 1] == '"')) {
      ++i;  // the escaped byte neither ends the string nor begins an escape
    }
    i += n == 0 ? 1 : n;
  }
}

}  // namespace chakra::pytorch::kineto
