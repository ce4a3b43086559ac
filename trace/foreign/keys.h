// Keys and values of a framework's configuration file, in any format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/workload.pb.h"

namespace chakra::foreign {

class ForeignKeys {
 public:
  // `name`: the file's name, for errors. `place`: what is written before each key in Workload::left_out, for
  // a file that another file names: "ds.json: ".
  explicit ForeignKeys(absl::string_view name, absl::string_view place = "") : name_(name), place_(place) {}

  void Set(const std::string& key, std::string value) { values_[key] = {std::move(value), false}; }
  size_t size() const { return values_.size(); }
  const std::string& name() const { return name_; }
  // The first error of the functions below.
  const absl::Status& status() const { return status_; }
  // Whether the file has a value, also one that was read already, for one of `keys` (separated by '|').
  bool Has(absl::string_view keys) const;
  // Whether the file has a key that begins so.
  bool HasPrefix(absl::string_view prefix) const;
  // Whether one of `keys` was read already.
  bool Taken(absl::string_view keys) const;
  // The first of `keys` that has a value; the first of them if none has.
  std::string NameOf(absl::string_view keys) const;

  // The functions below return the value of the first of `keys` (separated by '|') that the file has; nothing
  // if it has none, or the value is null or an empty list. All of `keys` then count as understood.
  std::optional<std::string> Text(absl::string_view keys);
  std::optional<int64_t> Number(absl::string_view keys);  // a whole number, also as 5e8
  std::optional<double> Share(absl::string_view keys);    // a number from 0 to 1
  std::optional<bool> Flag(absl::string_view keys);
  int64_t NumberOr(absl::string_view keys, int64_t fallback) { return Number(keys).value_or(fallback); }
  bool FlagOr(absl::string_view keys, bool fallback) { return Flag(keys).value_or(fallback); }
  // A required number; 1 after an error.
  int64_t Need(absl::string_view keys);

  // Sets the error "FILE: KEY is "VALUE"; WHAT".
  void Refuse(absl::string_view keys, absl::string_view what);
  // Sets an error of another file, or of a value that has no key.
  void Fail(absl::Status status);
  // Records a setting that was understood, but that a step cannot have.
  void LeaveOut(absl::string_view what);
  // The same for the value of a key: "KEY=VALUE: INSTEAD".
  void LeaveOut(absl::string_view keys, absl::string_view instead);
  // Adds to Workload::left_out what LeaveOut() recorded, and the keys that were not read and have a value
  // other than no, except those in `harmless`. There, a name that ends in '*' is a beginning. `under`: the
  // table that the names are in, as "zero_optimization"; "": the whole file.
  void NameTheRest(absl::Span<const char* const> harmless, proto::Workload* workload,
                   absl::string_view under = "");
  // Counts keys as understood, as NameTheRest() does with its list.
  void Pass(absl::Span<const char* const> harmless, absl::string_view under = "");

 private:
  struct Value {
    std::string text;
    bool taken = false;
  };
  Value* Find(absl::string_view keys, std::string* key);

  const std::string name_, place_;
  std::map<std::string, Value> values_;
  std::vector<std::string> left_out_;
  absl::Status status_;
};

// The names of keys in a table: "a|b" under "t" is "t.a|t.b".
std::string Under(absl::string_view table, absl::string_view keys);

}  // namespace chakra::foreign
