// Settings: fields that say in proto/setting.proto what they are called in short forms, what they may be, and
// what they mean. All texts that set one come here.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/io/short_form.h"

namespace chakra {

// Sets the fields of `out` whose keys stand in `form`, and leaves the others as they are. A value of a list
// is "1x3"; text may stand in parentheses. `out` is changed only when the result is OK. Errors: a key that
// there is not, with the nearest one; "KEY is VALUE; expected ...", where VALUE has no such form or is out of
// range, with the nearest valid one.
absl::Status ReadSettings(const ShortForm& form, google::protobuf::Message* out);

// The same of "key=value,..." alone; errors begin with `name` and a colon.
absl::Status ReadSettings(absl::string_view text, absl::string_view name, google::protobuf::Message* out);

// All fields that are there are within their ranges, those of inner messages too. Errors: "PLACEFIELD is
// VALUE; expected
// ...", where FIELD is a path as --set takes it, and LABEL: stands for the place of a message that has a
// label.
absl::Status CheckSettings(const google::protobuf::Message& message, absl::string_view place);

// One number as the setting `field`: "KEY is VALUE; expected ...", as in a short form.
absl::Status CheckSetting(const google::protobuf::FieldDescriptor& field, double value);

// The number that is in a field, which is one and not repeated.
double SettingNumber(const google::protobuf::Message& message,
                     const google::protobuf::FieldDescriptor& field);

// Where a field of `message` holds text of a short form (Setting.short_form): sets the fields beside it by
// the text, and clears it. Errors: ReadSettings()'s, after the field's name.
absl::Status ExpandShortForm(google::protobuf::Message* message);

// One key of the short form of a message.
struct SettingDoc {
  std::string key;
  std::string fallback;  // "": as `doc` says
  std::string doc;       // with unit, range and words
};
// In the order of the fields.
std::vector<SettingDoc> DescribeSettings(const google::protobuf::Descriptor& type);
// The key of a field in short forms; "": it is in none.
std::string SettingKey(const google::protobuf::FieldDescriptor& field);

}  // namespace chakra
