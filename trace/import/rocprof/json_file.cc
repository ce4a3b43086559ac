#include "trace/import/rocprof/json_file.h"

#include <simdjson.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::rocprof {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

constexpr absl::string_view kTop = "rocprofiler-sdk-tool";

absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// Reads a number; 0 for a value of another type. Handles and ids are unsigned 64-bit numbers.
error_code Integer(ondemand::value value, int64_t* out) {
  ondemand::number n;
  const error_code error = value.get_number().get(n);
  *out = 0;
  if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR) return simdjson::SUCCESS;
  if (error != simdjson::SUCCESS) return error;
  if (n.is_int64()) *out = n.get_int64();
  if (n.is_uint64()) *out = static_cast<int64_t>(n.get_uint64());
  if (n.is_double() && n.get_double() > -9e18 && n.get_double() < 9e18)
    *out = static_cast<int64_t>(n.get_double());
  return simdjson::SUCCESS;
}

using RawKey = ondemand::raw_json_string;  // compares with a text without a copy; keeps escapes

// Calls each(key, value) for the fields of an object, until each() returns an error. Key: RawKey, or
// absl::string_view to decode escapes in keys.
template <typename Key, typename Each>
error_code ForFieldsOf(ondemand::object object, Each each) {
  for (auto field : object) {
    Key key;
    ondemand::value inner;
    if constexpr (std::is_same_v<Key, RawKey>) {
      if (const error_code e = field.key().get(key)) return e;
    } else {
      std::string_view text;
      if (const error_code e = field.unescaped_key().get(text)) return e;
      key = View(text);
    }
    if (const error_code e = field.value().get(inner)) return e;
    if (const error_code e = each(key, inner)) return e;
  }
  return simdjson::SUCCESS;
}

template <typename Key, typename Each>
error_code ForFields(ondemand::value value, Each each) {
  ondemand::object object;
  if (const error_code e = value.get_object().get(object)) return e;
  return ForFieldsOf<Key>(object, each);
}

// Reads {"handle": 7}, or 7.
error_code Handle(ondemand::value value, int64_t* out) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type)) return e;
  if (type != ondemand::json_type::object) return Integer(value, out);
  return ForFields<RawKey>(value, [out](RawKey, ondemand::value inner) { return Integer(inner, out); });
}

// Reads {"x": 1, "y": 2, "z": 3}.
error_code Extent(ondemand::value value, uint32_t out[3]) {
  return ForFields<RawKey>(value, [out](RawKey key, ondemand::value inner) {
    int64_t n = 0;
    const error_code e = Integer(inner, &n);
    const int axis = key == "x" ? 0 : key == "y" ? 1 : key == "z" ? 2 : 3;
    if (axis < 3 && n > 0 && n <= UINT32_MAX) out[axis] = static_cast<uint32_t>(n);
    return e;
  });
}

error_code Text(ondemand::value value, std::string* out) {
  std::string_view text;
  const error_code e = value.get_string().get(text);
  if (e == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  if (e == simdjson::SUCCESS) *out = std::string(text);
  return e;
}

// One record of any kind: the members of all kinds together.
struct Record {
  Dispatch d;  // calls use only times, thread and correlation
  int64_t kind = 0, operation = 0, bytes = kUnknown, from = kUnknown, to = kUnknown;
  Arguments args;
};

// A call whose name is known only as numbers until all strings are read.
struct NumberedCall {
  uint32_t call = 0;
  int64_t kind = 0, operation = 0;
};

class ProcessReader {
 public:
  explicit ProcessReader(Recording* out) : out_(*out) {}

  // Reads one element of the file's list. Errors other than those of JSON are in status().
  error_code Read(ondemand::object process);
  absl::Status status() const { return status_; }

 private:
  enum class List : uint8_t { kDispatch, kCopy, kCall, kMarker, kSkip };

  template <typename Each>
  static error_code ForElements(ondemand::value value, Each each);
  error_code Metadata(ondemand::value value);
  error_code ReadAgent(ondemand::value value);
  error_code Kernel(ondemand::value value);
  error_code Strings(ondemand::value value);
  error_code KindNames(ondemand::value value);
  error_code MarkerTexts(ondemand::value value);
  error_code Records(ondemand::value value);
  error_code ReadList(List list, absl::string_view name, ondemand::value value);
  error_code ReadRecord(ondemand::value value, Record* record);
  error_code DispatchInfo(ondemand::value value, Record* record);
  error_code ReadArguments(ondemand::value value, Arguments* args);
  void Add(List list, absl::string_view name, uint64_t index, Record* record);
  void AddCall(List list, Record* record);
  void NameCalls();

  Recording& out_;
  absl::Status status_;
  std::vector<NumberedCall> numbered_;
  std::vector<std::pair<std::string, std::vector<std::string>>> names_;  // by kind: name, operations
  std::map<int64_t, std::string> marks_;                                 // by correlation
};

template <typename Each>
error_code ProcessReader::ForElements(ondemand::value value, Each each) {
  ondemand::array array;
  if (const error_code e = value.get_array().get(array)) return e;
  uint64_t index = 0;
  for (auto element : array) {
    ondemand::value inner;
    if (const error_code e = element.get(inner)) return e;
    if (const error_code e = each(index++, inner)) return e;
  }
  return simdjson::SUCCESS;
}

error_code ProcessReader::Metadata(ondemand::value value) {
  return ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
    if (key == "pid") return Integer(field, &out_.pid);
    if (key != "node") return simdjson::SUCCESS;
    return ForFields<absl::string_view>(field, [&](absl::string_view inner, ondemand::value text) {
      return inner == "hostname" ? Text(text, &out_.machine) : simdjson::SUCCESS;
    });
  });
}

error_code ProcessReader::ReadAgent(ondemand::value value) {
  Agent agent;
  int64_t handle = kUnknown, index = 0, type = 0;
  std::string product, name;
  const error_code error =
      ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
        if (key == "id") return Handle(field, &handle);
        if (key == "type") return Integer(field, &type);
        if (key == "logical_node_type_id") return Integer(field, &index);
        if (key == "product_name") return Text(field, &product);
        if (key == "name") return Text(field, &name);
        return simdjson::SUCCESS;
      });
  constexpr int64_t kGpu = 2;  // rocprofiler_agent_type_t
  agent.gpu = type == kGpu;
  agent.index = index >= 0 && index < (1 << 20) ? static_cast<int>(index) : 0;
  agent.name = product.empty() ? name : product;
  out_.agents[handle] = std::move(agent);
  return error;
}

error_code ProcessReader::Kernel(ondemand::value value) {
  int64_t id = kUnknown;
  std::string names[3];
  const error_code error =
      ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
        if (key == "kernel_id") return Integer(field, &id);
        if (key == "formatted_kernel_name") return Text(field, &names[0]);
        if (key == "demangled_kernel_name") return Text(field, &names[1]);
        if (key == "kernel_name") return Text(field, &names[2]);
        return simdjson::SUCCESS;
      });
  for (const std::string& name : names) {
    if (name.empty() || name == "0") continue;
    out_.kernels[id] = out_.strings.Intern(absl::StripSuffix(name, ".kd"));
    break;
  }
  return error;
}

error_code ProcessReader::KindNames(ondemand::value value) {
  return ForElements(value, [&](uint64_t, ondemand::value element) {
    auto& [kind, operations] = names_.emplace_back();
    return ForFields<absl::string_view>(
        element, [&, &kind = kind, &operations = operations](absl::string_view key, ondemand::value field) {
          if (key == "kind") return Text(field, &kind);
          if (key != "operations") return simdjson::SUCCESS;
          return ForElements(
              field, [&](uint64_t, ondemand::value name) { return Text(name, &operations.emplace_back()); });
        });
  });
}

error_code ProcessReader::MarkerTexts(ondemand::value value) {
  return ForElements(value, [&](uint64_t, ondemand::value element) {
    int64_t correlation = kUnknown;
    std::string text;
    const error_code error =
        ForFields<absl::string_view>(element, [&](absl::string_view key, ondemand::value field) {
          if (key == "key") return Integer(field, &correlation);
          if (key == "value") return Text(field, &text);
          return simdjson::SUCCESS;
        });
    marks_[correlation] = std::move(text);
    return error;
  });
}

error_code ProcessReader::Strings(ondemand::value value) {
  return ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
    if (key == "buffer_records") return KindNames(field);
    if (key == "marker_api") return MarkerTexts(field);
    return simdjson::SUCCESS;
  });
}

error_code ProcessReader::DispatchInfo(ondemand::value value, Record* r) {
  return ForFields<RawKey>(value, [&](RawKey key, ondemand::value inner) {
    if (key == "agent_id") return Handle(inner, &r->d.agent);
    if (key == "queue_id") return Handle(inner, &r->d.queue);
    if (key == "kernel_id") return Integer(inner, &r->d.kernel);
    if (key == "workgroup_size") return Extent(inner, r->d.block);
    if (key == "grid_size") return Extent(inner, r->d.grid);
    return simdjson::SUCCESS;
  });
}

// Reads {"count": "1024", ...}, or [{"name": "count", "value": "1024"}, ...].
error_code ProcessReader::ReadArguments(ondemand::value value, Arguments* args) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type)) return e;
  const auto scalar = [](ondemand::value field, std::string* out) {
    ondemand::json_type kind;
    if (const error_code e = field.type().get(kind)) return e;
    if (kind == ondemand::json_type::string) return Text(field, out);
    int64_t n = 0;
    const error_code e = Integer(field, &n);
    *out = absl::StrCat(n);
    return e;
  };
  if (type == ondemand::json_type::object) {
    return ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
      return scalar(field, &(*args)[std::string(key)]);
    });
  }
  if (type != ondemand::json_type::array) return simdjson::SUCCESS;
  return ForElements(value, [&](uint64_t, ondemand::value element) {
    std::string name, text;
    const error_code error =
        ForFields<absl::string_view>(element, [&](absl::string_view key, ondemand::value field) {
          if (key == "name") return scalar(field, &name);
          if (key == "value") return scalar(field, &text);
          return simdjson::SUCCESS;
        });
    (*args)[name] = std::move(text);
    return error;
  });
}

error_code ProcessReader::ReadRecord(ondemand::value value, Record* r) {
  return ForFields<RawKey>(value, [&](RawKey key, ondemand::value inner) {
    if (key == "start_timestamp") return Integer(inner, &r->d.begin);
    if (key == "end_timestamp") return Integer(inner, &r->d.end);
    if (key == "thread_id") return Integer(inner, &r->d.thread);
    if (key == "kind") return Integer(inner, &r->kind);
    if (key == "operation") return Integer(inner, &r->operation);
    if (key == "correlation_id") {
      return ForFields<RawKey>(inner, [&](RawKey name, ondemand::value id) {
        return name == "internal" ? Handle(id, &r->d.correlation) : simdjson::SUCCESS;
      });
    }
    if (key == "dispatch_info") return DispatchInfo(inner, r);
    if (key == "stream_id") return Handle(inner, &r->d.stream);
    if (key == "src_agent_id") return Handle(inner, &r->from);
    if (key == "dst_agent_id") return Handle(inner, &r->to);
    if (key == "bytes") return Integer(inner, &r->bytes);
    if (key == "args") return ReadArguments(inner, &r->args);
    return simdjson::SUCCESS;
  });
}

void ProcessReader::AddCall(List list, Record* r) {
  Call call;
  call.begin = r->d.begin;
  call.end = r->d.end;
  call.thread = r->d.thread;
  call.correlation = r->d.correlation;
  if (list == List::kMarker) call.domain = Domain::kMarker;
  if (!r->args.empty()) {
    call.args = static_cast<uint32_t>(out_.args.size());
    out_.args.push_back(std::move(r->args));
  }
  numbered_.push_back({static_cast<uint32_t>(out_.calls.size()), r->kind, r->operation});
  out_.calls.push_back(call);
}

void ProcessReader::Add(List list, absl::string_view name, uint64_t index, Record* r) {
  Dispatch& d = r->d;
  if (!IsTime(d.begin) || !IsTime(d.end)) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(out_.file, ": buffer_records.", std::string(name), "[", index, "]: start_timestamp ",
                     d.begin, ", end_timestamp ", d.end,
                     "; expected nanoseconds since the machine's boot, above 0 and below 2^61"));
    return;
  }
  if (d.end < d.begin) {
    out_.Note("rocprof_negative_duration",
              absl::StrCat(std::string(name), "[", index, "] ends before it begins; duration 0 is used"));
    d.end = d.begin;
  }
  if (list == List::kDispatch) {
    out_.dispatches.push_back(d);
  } else if (list == List::kCopy) {
    out_.copies.push_back({d.begin, d.end, d.thread, d.correlation, r->from, r->to, d.stream, r->bytes});
  } else {
    AddCall(list, r);
  }
}

error_code ProcessReader::ReadList(List list, absl::string_view name, ondemand::value value) {
  Record record;
  return ForElements(value, [&](uint64_t index, ondemand::value element) {
    record = Record();
    const error_code error = ReadRecord(element, &record);
    if (error == simdjson::SUCCESS) Add(list, name, index, &record);
    return !status_.ok() ? simdjson::INCORRECT_TYPE : error;
  });
}

error_code ProcessReader::Records(ondemand::value value) {
  return ForFields<absl::string_view>(value, [&](absl::string_view key, ondemand::value field) {
    const List list = key == "kernel_dispatch"                                    ? List::kDispatch
                      : key == "memory_copy"                                      ? List::kCopy
                      : key == "marker_api"                                       ? List::kMarker
                      : key == "hip_api" || key == "rccl_api" || key == "hsa_api" ? List::kCall
                                                                                  : List::kSkip;
    return list == List::kSkip ? simdjson::SUCCESS : ReadList(list, key, field);
  });
}

// Sets the names of calls: their kinds and operations are numbers into the names that the file lists.
void ProcessReader::NameCalls() {
  uint64_t nameless = 0;
  for (const NumberedCall& n : numbered_) {
    Call& call = out_.calls[n.call];
    const bool known = n.kind >= 0 && static_cast<size_t>(n.kind) < names_.size() && n.operation >= 0 &&
                       static_cast<size_t>(n.operation) < names_[static_cast<size_t>(n.kind)].second.size();
    std::string name = known ? names_[static_cast<size_t>(n.kind)].second[static_cast<size_t>(n.operation)]
                             : absl::StrCat("operation ", n.operation, " of kind ", n.kind);
    nameless += known ? 0 : 1;
    if (call.domain == Domain::kMarker) {
      if (const auto mark = marks_.find(call.correlation); mark != marks_.end()) name = mark->second;
    } else {
      call.domain = DomainOf(name);
    }
    call.name = out_.strings.Intern(name);
  }
  if (nameless > 0)
    out_.Note("rocprof_unknown_operation",
              "calls whose kind and operation have no name in the file's strings", nameless);
}

error_code ProcessReader::Read(ondemand::object process) {
  const error_code e = ForFieldsOf<RawKey>(process, [&](RawKey key, ondemand::value value) {
    if (key == "metadata") return Metadata(value);
    if (key == "agents")
      return ForElements(value, [&](uint64_t, ondemand::value agent) { return ReadAgent(agent); });
    if (key == "kernel_symbols")
      return ForElements(value, [&](uint64_t, ondemand::value symbol) { return Kernel(symbol); });
    if (key == "strings") return Strings(value);
    if (key == "buffer_records") return Records(value);
    return simdjson::SUCCESS;
  });
  if (e) return e;
  NameCalls();
  return simdjson::SUCCESS;
}

absl::Status JsonError(const std::string& file, error_code error, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", simdjson::error_message(error), "; expected ", std::string(expected)));
}

}  // namespace

absl::Status ReadJson(Buffer* text, const std::string& file, std::vector<Recording>* out) {
  constexpr absl::string_view kExpected = "the whole JSON that rocprofv3 writes";
  const size_t size = text->size(), before = out->size();
  if (!text->Reserve(size + simdjson::SIMDJSON_PADDING))
    return absl::ResourceExhaustedError(absl::StrCat(file, ": no memory for ", size, " bytes of JSON"));
  std::memset(text->data() + size, 0, simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object top;
  error_code error = parser.iterate(text->data(), size, size + simdjson::SIMDJSON_PADDING).get(document);
  if (error == simdjson::CAPACITY)
    return absl::InvalidArgumentError(absl::StrCat(file,
                                                   ": JSON of more than 4 GiB; expected a smaller file: "
                                                   "record rocpd (rocprofv3's default output) instead"));
  if (!error) error = document.get_object().get(top);
  if (error) return JsonError(file, error, kExpected);
  for (auto field : top) {
    std::string_view key;
    ondemand::array list;
    if ((error = field.unescaped_key().get(key))) return JsonError(file, error, kExpected);
    if (View(key) != kTop) continue;
    if ((error = field.value().get_array().get(list))) return JsonError(file, error, kExpected);
    for (auto element : list) {
      ondemand::object process;
      if ((error = element.get_object().get(process))) return JsonError(file, error, kExpected);
      Recording& recording = out->emplace_back();
      recording.file = file;
      ProcessReader reader(&recording);
      error = reader.Read(process);
      if (!reader.status().ok()) return reader.status();
      if (error) return JsonError(file, error, kExpected);
    }
    if (out->size() == before)
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": no kernel dispatch and no process; expected ", kExpected));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": no \"", std::string(kTop), "\" in the file; expected ", std::string(kExpected)));
}

bool LooksLikeJson(absl::string_view head) {
  return absl::StrContains(head.substr(0, 1024), absl::StrCat("\"", std::string(kTop), "\""));
}

}  // namespace chakra::rocprof
