// Keys and values of a framework's configuration file, in any format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

class ForeignKeys {
 public:
  // `name`: the file's name.
  explicit ForeignKeys(absl::string_view name) : name_(name) {}

  void Set(const std::string& key, std::string value) { values_[key] = {std::move(value), false}; }
  size_t size() const { return values_.size(); }
  // The first error of the functions below.
  const absl::Status& status() const { return status_; }

  // The functions below return the value of the first of `keys` (separated by '|') that the file has; nothing
  // if it has none, or the value is null. All of `keys` then count as understood.
  std::optional<std::string> Text(absl::string_view keys);
  std::optional<int64_t> Number(absl::string_view keys);
  std::optional<double> Share(absl::string_view keys);  // a number from 0 to 1
  std::optional<bool> Flag(absl::string_view keys);
  int64_t NumberOr(absl::string_view keys, int64_t fallback) { return Number(keys).value_or(fallback); }
  bool FlagOr(absl::string_view keys, bool fallback) { return Flag(keys).value_or(fallback); }
  // A required number; 1 after an error.
  int64_t Need(absl::string_view keys);

  void Refuse(absl::string_view keys, absl::string_view what);
  // Records a setting that was understood, but that a step cannot have.
  void LeaveOut(absl::string_view what) { left_out_.emplace_back(what); }
  // Records the keys that were not read, except those that begin with one of `harmless`.
  void NameTheRest(const std::vector<absl::string_view>& harmless, proto::Workload* workload) const;

 private:
  struct Value {
    std::string text;
    bool taken = false;
  };
  Value* Find(absl::string_view keys, std::string* key);
  void Fail(absl::Status status);

  const std::string name_;
  std::map<std::string, Value> values_;
  std::vector<std::string> left_out_;
  absl::Status status_;
};

// In foreign_megatron.cc: reads the arguments of Megatron-LM, whose keys have underscores; `recipe`: with the
// names and defaults of Megatron-Bridge.
void TakeMegatron(ForeignKeys& keys, bool recipe, proto::Workload* workload);
// In foreign_torchtitan.cc: keys are "table.key".
void TakeTorchtitan(ForeignKeys& keys, proto::Workload* workload);

}  // namespace chakra::generate
