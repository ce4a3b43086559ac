#include "trace/io/set_field.h"

#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/setting.pb.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/field_value.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"
#include "trace/io/topic.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct PathStep {
  std::string name;
  bool indexed = false;
  std::string index;
};

absl::StatusOr<std::vector<PathStep>> ParsePath(absl::string_view path) {
  std::vector<PathStep> steps;
  while (true) {
    PathStep step;
    const size_t end = std::min(path.find_first_of(".["), path.size());
    step.name = std::string(absl::StripAsciiWhitespace(path.substr(0, end)));
    path.remove_prefix(end);
    if (step.name.empty())
      return absl::InvalidArgumentError("expected names of fields with dots between them");
    if (!path.empty() && path[0] == '[') {
      const size_t close = path.find(']');
      if (close == path.npos)
        return absl::InvalidArgumentError(absl::StrCat("\"[\" after ", step.name, " is never closed"));
      step.indexed = true;
      step.index = std::string(path.substr(1, close - 1));
      path.remove_prefix(close + 1);
    }
    steps.push_back(std::move(step));
    if (path.empty()) return steps;
    if (path[0] != '.') {
      return absl::InvalidArgumentError(absl::StrCat("expected a dot before \"", path, "\""));
    }
    path.remove_prefix(1);
  }
}

std::vector<std::string> FieldNamesOf(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

// Sets the field at the end of the path.
absl::Status PutScalar(absl::string_view value, ValuePlace place, const FieldDescriptor* f, Message* m) {
  const absl::Status s = SetValue(value, false, place, f, m);
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(f->name(), " is ", s.message()));
}

// Returns the position in a repeated field that `index` denotes; it may be one past the last element.
absl::StatusOr<int> Position(const std::string& index, const FieldDescriptor* f, const Message& m) {
  const Reflection& r = *m.GetReflection();
  const int size = r.FieldSize(m, f);
  int at = 0;
  if (absl::SimpleAtoi(index, &at)) {
    if (at < 0) at += size;
    if (at >= 0 && at <= size) return at;
    return absl::InvalidArgumentError(
        absl::StrCat(f->name(), " has ", size, size == 1 ? " element" : " elements", ", but the position is ",
                     index, "; expected 0 to ", size, size > 0 ? ", or -1 for the last" : ""));
  }
  std::vector<std::string> names;
  if (f->message_type() != nullptr) {
    const FieldDescriptor* name = f->message_type()->FindFieldByName("name");
    if (name != nullptr && name->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      for (int i = 0; i < size; ++i) {
        const Message& element = r.GetRepeatedMessage(m, f, i);
        names.push_back(element.GetReflection()->GetString(element, name));
        if (!index.empty() && names.back() == index) return i;
      }
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("no element of ", f->name(), " is \"", index,
                                                 "\"; expected a position from 0",
                                                 names.empty() ? "" : SuggestName(index, names)));
}

// Returns the map entry with this key; adds one if there is none.
absl::StatusOr<Message*> MapEntry(const std::string& key, const FieldDescriptor* f, Message* m) {
  const Reflection& r = *m->GetReflection();
  const FieldDescriptor* key_field = f->message_type()->map_key();
  for (int i = 0; i < r.FieldSize(*m, f); ++i) {
    Message* entry = r.MutableRepeatedMessage(m, f, i);
    if (key_field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
        entry->GetReflection()->GetString(*entry, key_field) == key) {
      return entry;
    }
  }
  Message* entry = r.AddMessage(m, f);
  RETURN_IF_ERROR(PutScalar(key, {}, key_field, entry));
  return entry;
}

class Setter {
 public:
  // `any_position`: an element that does not exist is added.
  Setter(const std::string& value, bool add, bool any_position)
      : value_(value), add_(add), any_position_(any_position) {}

  absl::Status Set(const std::vector<PathStep>& steps, size_t i, Message* m) const {
    const PathStep& step = steps[i];
    const bool last = i + 1 == steps.size();
    const FieldDescriptor* f = m->GetDescriptor()->FindFieldByName(step.name);
    if (f == nullptr) return Unknown(steps, i, *m->GetDescriptor());
    if (!f->options().GetExtension(proto::setting).short_form()) {
      RETURN_IF_ERROR(ExpandShortForm(m));
    }
    if (f->is_map()) return SetMap(step, last, f, m);
    if (f->is_repeated()) return SetRepeated(steps, i, f, m);
    if (step.indexed)
      return absl::InvalidArgumentError(absl::StrCat(step.name, " is a single field; expected no [...]"));
    if (add_ && last)
      return absl::InvalidArgumentError(
          absl::StrCat(step.name, " is a single field; expected = in place of +="));
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (last && value_.empty()) {
        m->GetReflection()->ClearField(m, f);
        return absl::OkStatus();
      }
      return Enter(steps, i, m->GetReflection()->MutableMessage(m, f));
    }
    if (!last) return Leaf(step.name);
    // The exact bandwidth would take precedence over the bandwidth that is set here.
    const FieldDescriptor* exact = m->GetDescriptor()->FindFieldByName("bandwidth_bytes_per_s");
    if (f->name() == "bandwidth_gbytes_per_s" && exact != nullptr) m->GetReflection()->ClearField(m, exact);
    return PutScalar(value_, {}, f, m);
  }

 private:
  static absl::Status Leaf(const std::string& name) {
    return absl::InvalidArgumentError(absl::StrCat(name, " has no fields of its own"));
  }

  // Step `i` leads to no field of `type`.
  static absl::Status Unknown(const std::vector<PathStep>& steps, size_t i, const Descriptor& type) {
    std::string path;
    for (size_t k = 0; k <= i; ++k) absl::StrAppend(&path, k == 0 ? "" : ".", steps[k].name);
    return absl::InvalidArgumentError(
        absl::StrCat("unknown field ", path, SuggestKey(steps[i].name, FieldNamesOf(type), TopicOf(type))));
  }

  // Sets the rest of the path in `inner`; at the end of the path, reads `inner` from the text format.
  absl::Status Enter(const std::vector<PathStep>& steps, size_t i, Message* inner) const {
    if (i + 1 < steps.size()) return Set(steps, i + 1, inner);
    if (value_.find(':') == value_.npos && value_.find('{') == value_.npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it is a group of fields; expected one of them (",
          absl::StrJoin(FieldNamesOf(*inner->GetDescriptor()), ", "), "), or its fields in the text format"));
    }
    return ParseTextMessage(value_, steps[i].name, inner);
  }

  absl::Status SetMap(const PathStep& step, bool last, const FieldDescriptor* f, Message* m) const {
    if (!last) return Leaf(step.name);
    if (!step.indexed) {
      if (value_.empty() && !add_) {
        m->GetReflection()->ClearField(m, f);
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError(absl::StrCat("it is a map; expected ", step.name, "[KEY]"));
    }
    if (add_) return absl::InvalidArgumentError("it is a map; expected = in place of +=");
    ASSIGN_OR_RETURN(auto entry, MapEntry(step.index, f, m));
    const FieldDescriptor* value = f->message_type()->map_value();
    return PutScalar(value_, {}, value, entry);
  }

  absl::Status SetRepeated(const std::vector<PathStep>& steps, size_t i, const FieldDescriptor* f,
                           Message* m) const {
    const Reflection& r = *m->GetReflection();
    const bool last = i + 1 == steps.size();
    const bool message = f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!steps[i].indexed) {
      if (!last)
        return absl::InvalidArgumentError(
            absl::StrCat(f->name(), " is a list; expected ", f->name(), "[0] or another position"));
      if (!add_) r.ClearField(m, f);
      if (value_.empty()) return absl::OkStatus();
      if (message) return Enter(steps, i, r.AddMessage(m, f));
      for (const absl::string_view one : absl::StrSplit(value_, ',')) {
        RETURN_IF_ERROR(PutScalar(one, {ValuePlace::kAdd}, f, m));
      }
      return absl::OkStatus();
    }
    if (add_ && last) return absl::InvalidArgumentError("it is one element; expected = in place of +=");
    auto at = Position(steps[i].index, f, *m);
    if (!at.ok() && any_position_) at = r.FieldSize(*m, f);
    if (!at.ok()) return at.status();
    const bool is_new = *at == r.FieldSize(*m, f);
    if (message) return Enter(steps, i, is_new ? r.AddMessage(m, f) : r.MutableRepeatedMessage(m, f, *at));
    if (!last) return Leaf(steps[i].name);
    return PutScalar(value_, {is_new ? ValuePlace::kAdd : ValuePlace::kSetAt, *at}, f, m);
  }

  const std::string& value_;
  const bool add_;
  const bool any_position_;
};

absl::Status Apply(const std::string& path, const std::string& value, bool any_position, Message* message) {
  const bool add = !path.empty() && path.back() == '+';
  const auto fail = [&](const absl::Status& s) {
    return absl::InvalidArgumentError(absl::StrCat(path, "=", value, ": ", s.message()));
  };
  auto steps = ParsePath(absl::string_view(path).substr(0, path.size() - (add ? 1 : 0)));
  if (!steps.ok()) return fail(steps.status());
  std::unique_ptr<Message> changed(message->New());
  changed->CopyFrom(*message);
  if (absl::Status s = Setter(value, add, any_position).Set(*steps, 0, changed.get()); !s.ok())
    return fail(s);
  message->GetReflection()->Swap(message, changed.get());
  return absl::OkStatus();
}

}  // namespace

absl::Status SetField(const std::string& path, const std::string& value, Message* message) {
  return Apply(path, value, false, message);
}

absl::Status CheckField(const std::string& path, const std::string& value, const Message& type) {
  const std::unique_ptr<Message> scratch(type.New());
  return Apply(path, value, true, scratch.get());
}

absl::Status SetFieldFromText(const std::string& text, Message* message) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\", expected FIELD=VALUE, as device.memory_gbytes_per_s=3350"));
  }
  return SetField(text.substr(0, equals), text.substr(equals + 1), message);
}

absl::Status SetFields(const std::vector<std::string>& texts, Message* message) {
  for (const std::string& text : texts) {
    if (absl::Status s = SetFieldFromText(text, message); !s.ok())
      return absl::Status(s.code(), absl::StrCat("--set ", s.message()));
  }
  return absl::OkStatus();
}

}  // namespace chakra
