#include "trace/io/options.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/option.pb.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using proto::Option;

const Option& OptionOf(const FieldDescriptor& f) { return f.options().GetExtension(proto::option); }

absl::Status ExpectedValue(const std::string& value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", value, "\"; expected ", what));
}

// Reads a whole number in the field's range; hexadecimal is allowed.
template <typename T>
absl::Status ReadWhole(const std::string& value, const Option& option, T* out) {
  using Limits = std::numeric_limits<T>;
  const T least = option.has_least() ? static_cast<T>(option.least()) : Limits::min();
  const T most = option.has_most() ? static_cast<T>(option.most()) : Limits::max();
  const bool hex = absl::StartsWith(value, "0x");
  const bool read = hex ? absl::SimpleHexAtoi(value, out) : absl::SimpleAtoi(value, out);
  if (read && *out >= least && *out <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("it is ", value, "; expected a whole number from ", least, " to ", most));
}

// The shortest text from which the same number is read.
std::string Shortest(double v) {
  for (const int digits : {6, 15, 17}) {
    std::string text = absl::StrFormat("%.*g", digits, v);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == v) return text;
  }
  return absl::StrCat(v);
}

absl::Status SetField(const std::string& value, const FieldDescriptor* f, Message* m) {
  const Reflection& r = *m->GetReflection();
  uint64_t whole = 0;
  int32_t narrow = 0;
  double number = 0;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      if (value != "true" && value != "false") return ExpectedValue(value, "no value, or true or false");
      r.SetBool(m, f, value == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_STRING: {
      const auto& words = OptionOf(*f).word();
      if (!words.empty() && std::find(words.begin(), words.end(), value) == words.end())
        return absl::InvalidArgumentError(absl::StrCat(value, " not in {", absl::StrJoin(words, ","), "}"));
      f->is_repeated() ? r.AddString(m, f, value) : r.SetString(m, f, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (!absl::SimpleAtod(value, &number)) return ExpectedValue(value, "a number");
      r.SetDouble(m, f, number);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
      RETURN_IF_ERROR(ReadWhole(value, OptionOf(*f), &narrow));
      f->is_repeated() ? r.AddInt32(m, f, narrow) : r.SetInt32(m, f, narrow);
      return absl::OkStatus();
    default:
      if (absl::EndsWith(f->name(), "_bytes")) {
        ASSIGN_OR_RETURN(whole, ParseBytes(value));
      } else {
        RETURN_IF_ERROR(ReadWhole(value, OptionOf(*f), &whole));
      }
      r.SetUInt64(m, f, whole);
      return absl::OkStatus();
  }
}

}  // namespace

void MessageOption::Add(const Descriptor& type, const MessageOption& outer, std::vector<MessageOption>* out) {
  const std::string left_out = outer.path_.empty() ? "" : OptionOf(outer.field()).leaves_out();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* f = type.field(i);
    const Option& told = OptionOf(*f);
    MessageOption option = outer;
    option.path_.push_back(f);
    option.reads_ |= told.reads();
    if (!told.group().empty()) option.group_ = told.group();
    if (f->message_type() != nullptr) {
      if (f->is_repeated()) option.list_ = static_cast<int>(option.path_.size()) - 1;
      Add(*f->message_type(), option, out);
    } else if (!told.doc().empty()) {
      option.name_ = told.key().empty() ? absl::StrReplaceAll(f->name(), {{"_", "-"}}) : told.key();
      if (option.name_ != left_out) out->push_back(std::move(option));
    }
  }
}

std::vector<MessageOption> MessageOption::Of(const Descriptor& type) {
  std::vector<MessageOption> out;
  Add(type, MessageOption(), &out);
  return out;
}

bool MessageOption::positional() const { return absl::ascii_isupper(static_cast<unsigned char>(name_[0])); }
const std::string& MessageOption::help() const { return OptionOf(field()).doc(); }
bool MessageOption::often() const { return OptionOf(field()).often(); }
const std::string& MessageOption::value() const { return OptionOf(field()).value(); }
const std::string& MessageOption::bare() const { return OptionOf(field()).bare(); }
std::vector<std::string> MessageOption::words() const {
  const auto& words = OptionOf(field()).word();
  return {words.begin(), words.end()};
}
bool MessageOption::flag() const {
  return field().cpp_type() == FieldDescriptor::CPPTYPE_BOOL || !bare().empty();
}
bool MessageOption::many() const { return field().is_repeated() || in_order(); }
bool MessageOption::several() const { return field().is_repeated() && !OptionOf(field()).single(); }

std::vector<std::string> MessageOption::ValuesOf(const Message& inner) const {
  const FieldDescriptor* f = &field();
  const Reflection& r = *inner.GetReflection();
  std::vector<std::string> out;
  if (f->is_repeated()) {
    for (int i = 0; i < r.FieldSize(inner, f); ++i)
      out.push_back(f->cpp_type() == FieldDescriptor::CPPTYPE_STRING
                        ? r.GetRepeatedString(inner, f, i)
                        : absl::StrCat(r.GetRepeatedInt32(inner, f, i)));
    return out;
  }
  if (!r.HasField(inner, f)) return out;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return {r.GetBool(inner, f) ? "true" : "false"};
    case FieldDescriptor::CPPTYPE_STRING:
      return {r.GetString(inner, f)};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return {Shortest(r.GetDouble(inner, f))};
    case FieldDescriptor::CPPTYPE_INT32:
      return {absl::StrCat(r.GetInt32(inner, f))};
    default:
      return {absl::StrCat(r.GetUInt64(inner, f))};
  }
}

// The message that has the field path_[`depth`].
const Message& MessageOption::Holder(const Message& message, size_t depth, int element) const {
  const Message* m = &message;
  for (size_t i = 0; i < depth; ++i) {
    const Reflection& r = *m->GetReflection();
    m = path_[i]->is_repeated() ? &r.GetRepeatedMessage(*m, path_[i], element) : &r.GetMessage(*m, path_[i]);
  }
  return *m;
}

int MessageOption::Elements(const Message& message) const {
  if (!in_order()) return 1;
  const auto depth = static_cast<size_t>(list_);
  const Message& m = Holder(message, depth, 0);
  return m.GetReflection()->FieldSize(m, path_[depth]);
}

std::vector<std::string> MessageOption::Values(const Message& message, int element) const {
  return ValuesOf(Holder(message, path_.size() - 1, element));
}

bool MessageOption::Given(const Message& message) const {
  for (int i = 0; i < Elements(message); ++i) {
    if (!Values(message, i).empty()) return true;
  }
  return false;
}

absl::Status MessageOption::Set(const std::string& value, Message* message) const {
  Message* m = message;
  for (size_t i = 0; i + 1 < path_.size(); ++i) {
    const Reflection* r = m->GetReflection();
    m = path_[i]->is_repeated() ? r->AddMessage(m, path_[i]) : r->MutableMessage(m, path_[i]);
  }
  return SetField(value, &field(), m);
}

absl::Status MessageOption::SetAll(const std::vector<std::string>& values, Message* message) const {
  const bool numbers = field().is_repeated() && field().cpp_type() == FieldDescriptor::CPPTYPE_INT32;
  for (const std::string& value : values) {
    for (const absl::string_view part :
         absl::StrSplit(value, absl::MaxSplits(',', numbers ? std::numeric_limits<int>::max() : 0))) {
      RETURN_IF_ERROR(Set(std::string(part), message));
    }
  }
  return absl::OkStatus();
}

// Reads words into a message.
class OptionWords {
 public:
  OptionWords(const std::vector<std::string>& words, Message* message)
      : words_(words), message_(message), options_(MessageOption::Of(*message->GetDescriptor())) {}

  absl::Status Read() {
    bool all_values = false;
    for (at_ = 0; at_ < words_.size();) {
      const std::string& word = words_[at_++];
      if (!all_values && word == "--") {
        all_values = true;
      } else if (!all_values && IsOption(word)) {
        RETURN_IF_ERROR(ReadOption(word));
      } else {
        RETURN_IF_ERROR(ReadValue(word));
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool IsOption(const std::string& word) {
    return word.size() > 1 && word[0] == '-' &&
           (word[1] == '-' || word[1] == '_' || absl::ascii_isalnum(static_cast<unsigned char>(word[1])));
  }

  absl::Status ReadValue(const std::string& word) {
    for (const MessageOption& option : options_) {
      if (option.positional() && (option.many() || !option.Given(*message_)))
        return option.Set(word, message_);
    }
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument \"", word, "\""));
  }

  absl::Status ReadOption(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&](const auto& o) { return o.shown() == name; });
    if (option == options_.end() || option->positional()) {
      std::vector<std::string> known;
      for (const MessageOption& o : options_) known.push_back(o.shown());
      const std::string nearest = NearestName(name, known);
      return absl::InvalidArgumentError(
          absl::StrCat("there is no option ", name,
                       nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?")));
    }
    std::vector<std::string> values;
    if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
    } else if (option->flag()) {
      values.push_back(option->bare().empty() ? "true" : option->bare());
    } else if (at_ < words_.size()) {
      values.push_back(words_[at_++]);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(name, ": 1 required ", option->value(), " missing"));
    }
    while (option->several() && at_ < words_.size() && !IsOption(words_[at_]) && words_[at_] != "--")
      values.push_back(words_[at_++]);
    if (!option->many() && !option->flag() && option->Given(*message_))
      return absl::InvalidArgumentError(absl::StrCat(name, " is given twice; expected once"));
    const absl::Status s = option->SetAll(values, message_);
    return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(name, ": ", s.message()));
  }

  const std::vector<std::string>& words_;
  Message* const message_;
  const std::vector<MessageOption> options_;
  size_t at_ = 0;
};

namespace {

void PrintOptions(const MessageOption& option, const std::vector<std::string>& values,
                  std::vector<std::string>* words) {
  for (const std::string& value : values) {
    if (option.positional()) {
      words->push_back(absl::StartsWith(value, "-") ? absl::StrCat("./", value) : value);
    } else if (option.flag()) {
      const bool plain = value == (option.bare().empty() ? "true" : option.bare());
      words->push_back(plain ? option.shown() : absl::StrCat(option.shown(), "=", value));
    } else {
      words->push_back(option.shown());
      words->push_back(value);
    }
  }
}

}  // namespace

std::vector<std::string> PrintWords(const Message& message) {
  std::vector<std::string> words;
  const std::vector<MessageOption> options = MessageOption::Of(*message.GetDescriptor());
  for (size_t i = 0; i < options.size(); ++i) {
    if (!options[i].in_order()) {
      PrintOptions(options[i], options[i].Values(message), &words);
      continue;
    }
    // The options of one repeated message, element by element.
    const size_t first = i;
    while (i + 1 < options.size() && options[i + 1].in_order()) ++i;
    for (int element = 0; element < options[first].Elements(message); ++element) {
      for (size_t k = first; k <= i; ++k)
        PrintOptions(options[k], options[k].Values(message, element), &words);
    }
  }
  return words;
}

absl::Status ReadWords(const std::vector<std::string>& words, Message* message) {
  return OptionWords(words, message).Read();
}

}  // namespace chakra
