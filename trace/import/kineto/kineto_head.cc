#include "trace/import/kineto/kineto_head.h"

#include <simdjson.h>

#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch::kineto {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr int kMaxRanks = 1 << 22;  // a larger number shows that the file is damaged

class Reader {
 public:
  Reader(absl::string_view member, absl::string_view file, uint64_t byte)
      : member_(member), file_(file), byte_(byte) {}

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": \"", member_, "\" at byte ", byte_, ": ", what));
  }
  absl::StatusOr<element> Parse(absl::string_view json) {
    element e;
    const simdjson::error_code error = parser_.parse(json.data(), json.size()).get(e);
    if (error != simdjson::SUCCESS)
      return Error(absl::StrCat("not valid JSON: ", simdjson::error_message(error)));
    return e;
  }
  // An absent or null field leaves `out` unchanged.
  absl::Status Integer(element object, const char* field, int64_t min, int64_t max, int* out) const {
    element e;
    if (object[field].get(e) != simdjson::SUCCESS || e.is_null()) return absl::OkStatus();
    const std::string text = simdjson::minify(e);
    int64_t v;
    if (!ToInteger(text, &v) || v < min || v > max) {
      return Error(absl::StrCat("\"", field, "\" is ", text.substr(0, 40), "; expected an integer from ", min,
                                " to ", max));
    }
    *out = static_cast<int>(v);
    return absl::OkStatus();
  }

 private:
  absl::string_view member_, file_;
  uint64_t byte_;
  simdjson::dom::parser parser_;
};

std::string TextOf(element object, const char* field) {
  element e;
  if (object[field].get(e) != simdjson::SUCCESS || e.is_null()) return "";
  std::string_view text;
  return e.get(text) == simdjson::SUCCESS ? std::string(text) : std::string(simdjson::minify(e));
}

absl::Status AddGroup(const Reader& reader, element group, DeviceTrace* out, Notes* notes) {
  if (!group.is_object()) return reader.Error("an entry of \"pg_config\" is not an object");
  const std::string name = TextOf(group, "pg_name");
  if (name.empty()) {
    notes->Count("kineto_group_without_name", 0, "an entry of pg_config has no pg_name; left out");
    return absl::OkStatus();
  }
  int size = 0;
  RETURN_IF_ERROR(reader.Integer(group, "pg_size", 0, kMaxRanks, &size));
  std::vector<int64_t> listed;
  bool cut = false;
  element ranks;
  if (group["ranks"].get(ranks) == simdjson::SUCCESS && !ranks.is_null()) {
    const std::string text = simdjson::minify(ranks);
    if (!ToIntegers(text, &listed, &cut)) {
      return reader.Error(absl::StrCat("group \"", name, "\": \"ranks\" is ", text.substr(0, 40),
                                       "; expected a list of integers"));
    }
  }
  std::vector<int> members;
  for (const int64_t rank : listed) {
    if (rank < 0 || rank > std::numeric_limits<int>::max()) {
      return reader.Error(absl::StrCat("group \"", name, "\": ", rank, " is not a rank"));
    }
    members.push_back(static_cast<int>(rank));
  }
  if ((members.empty() || cut) && size > 0 && size == out->world_size) {
    members.resize(static_cast<size_t>(size));
    std::iota(members.begin(), members.end(), 0);
  } else if (members.empty() || cut) {
    notes->Count("kineto_group_without_ranks", 0,
                 absl::StrCat("group \"", name, "\" of ", size, " does not list its ranks; left out"));
    return absl::OkStatus();
  }
  if (!out->groups.emplace(name, std::move(members)).second) {
    notes->Count("kineto_group_twice", 0,
                 absl::StrCat("group \"", name, "\" is listed again; the first is kept"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadDistributedInfo(absl::string_view json, absl::string_view file, uint64_t byte,
                                 DeviceTrace* out, Notes* notes) {
  Reader reader("distributedInfo", file, byte);
  ASSIGN_OR_RETURN(auto info, reader.Parse(json));
  if (info.is_null()) return absl::OkStatus();
  if (!info.is_object()) return reader.Error("expected an object");
  absl::Status status = reader.Integer(info, "rank", -1, kMaxRanks, &out->rank);
  if (status.ok()) status = reader.Integer(info, "world_size", 0, kMaxRanks, &out->world_size);
  if (!status.ok()) return status;
  element groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS || groups.is_null()) return absl::OkStatus();
  simdjson::dom::parser inner;
  std::string_view text;
  if (groups.get(text) == simdjson::SUCCESS &&
      inner.parse(text.data(), text.size()).get(groups) != simdjson::SUCCESS) {
    return reader.Error("\"pg_config\" is text that is not JSON");
  }
  array list;
  if (groups.get(list) != simdjson::SUCCESS) return reader.Error("\"pg_config\" is not a list");
  for (const element group : list) {
    status = AddGroup(reader, group, out, notes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadDeviceProperties(absl::string_view json, absl::string_view file, uint64_t byte,
                                  DeviceTrace* out) {
  Reader reader("deviceProperties", file, byte);
  ASSIGN_OR_RETURN(auto properties, reader.Parse(json));
  if (properties.is_null()) return absl::OkStatus();
  array list;
  if (properties.get(list) != simdjson::SUCCESS) return reader.Error("expected a list of devices");
  for (const element device : list) {
    if (!device.is_object()) return reader.Error("a device is not an object");
    out->devices.push_back(TextOf(device, "name"));
  }
  return absl::OkStatus();
}

}  // namespace chakra::pytorch::kineto
