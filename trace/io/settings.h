// Settings: fields whose options (proto/setting.proto) give their keys in short forms, their ranges and their
// descriptions. All texts that set such fields are parsed here.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/io/short_form.h"

namespace chakra {

// Sets the fields of `out` whose keys are in `form`; other fields stay as they are. A list is written "1x3";
// text may be in parentheses. `out` changes only if the result is OK. Errors: an unknown key, with the
// nearest valid one and the topic of its table (topic.h); "KEY is VALUE; expected ...", if VALUE has the wrong
// form or is out of range, with the nearest valid value.
absl::Status ReadSettings(const ShortForm& form, google::protobuf::Message* out);

// The same for "key=value,..." without a name. Errors begin with `name` and a colon.
absl::Status ReadSettings(absl::string_view text, absl::string_view name, google::protobuf::Message* out);

// Checks that all fields that are set, also those of inner messages, are within their ranges. Errors:
// "PLACEFIELD is VALUE; expected ...". PLACE is `place`, and FIELD is a path as in --set. For a message with
// a label, "LABEL: " replaces the path to this message.
absl::Status CheckSettings(const google::protobuf::Message& message, absl::string_view place);

// Checks a number against the range of `field`. Errors: "KEY is VALUE; expected ...", as for a short form.
absl::Status CheckSetting(const google::protobuf::FieldDescriptor& field, double value);

// Returns the value of a numeric field that is not repeated.
double SettingNumber(const google::protobuf::Message& message,
                     const google::protobuf::FieldDescriptor& field);

// If a field of `message` holds the text of a short form (Setting.short_form): sets the other fields from
// this text, and clears it. Errors: those of ReadSettings(), after the field's name.
absl::Status ExpandShortForm(google::protobuf::Message* message);

// The description of a key in the short form of a message.
struct SettingDoc {
  std::string key;
  std::string fallback;  // value that applies if the key is absent; "": described in `doc`
  std::string doc;       // a sentence
  std::string values;    // the range with its unit, or the allowed words; "": any
};
// Returns the keys in the order of the fields.
std::vector<SettingDoc> DescribeSettings(const google::protobuf::Descriptor& type);
// Returns the key of a field in short forms; "" if it has none.
std::string SettingKey(const google::protobuf::FieldDescriptor& field);

}  // namespace chakra
