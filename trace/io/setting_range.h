// The range of a numeric field, from its options (proto/setting.proto).
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

#include "proto/setting.pb.h"
#include "trace/io/field_value.h"

namespace chakra {

class SettingRange {
 public:
  // `by_key`: values are printed with their unit, because the key of a short form does not give the unit.
  SettingRange(const google::protobuf::FieldDescriptor& field, bool by_key);

  bool any() const;
  bool Holds(double v) const;
  std::string Print(double v) const;
  // Returns "64B to 65000B", "> 0 and <= 1", "a whole number from 1 to 256".
  std::string Text() const;
  // Returns a hint to add to an error: "; the nearest is 64B", or, for a share that looks like a percentage,
  // "; 5 % is 0.05".
  std::string Hint(double v) const;

 private:
  const proto::Setting& setting_;
  const FieldUnit unit_;
  const bool whole_;
};

}  // namespace chakra
