// How the fields of reports are shown, as the options beside them say (proto/shown.proto).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "proto/shown.pb.h"

namespace chakra {

enum class View { kText, kCsv, kCompare, kPage };

// A field in a view.
struct ReportColumn {
  const google::protobuf::FieldDescriptor* field = nullptr;
  const proto::Shown* shown = nullptr;
  proto::Shown::Unit unit = proto::Shown::COUNT;  // never BY_NAME
  int place = 0;                                  // in the view

  bool is_text() const { return unit >= proto::Shown::TEXT && unit <= proto::Shown::HASH; }
  int digits() const;         // of SHARE and REAL
  std::string name() const;   // in CSV and of what is compared
  std::string title() const;  // in text
  std::string label() const;  // in the page
};

// The columns of a type in a view, by place; of a type with several tables those of one.
std::vector<ReportColumn> ColumnsOf(const google::protobuf::Descriptor& type, View view,
                                    absl::string_view table = "");

// All fields of a type that are no lists and no messages, in the order of the type, each as its first table shows
// it; `place` is 0.
std::vector<ReportColumn> FieldsOf(const google::protobuf::Descriptor& type);

// A number of any type.
double NumberIn(const google::protobuf::Message& row, const google::protobuf::FieldDescriptor& field);
// What is in a column of a row: for people, and for programs.
std::string TextOf(const google::protobuf::Message& row, const ReportColumn& column);
std::string CsvOf(const google::protobuf::Message& row, const ReportColumn& column);

// "1.234 kJ": at most four significant digits.
std::string FormatEnergy(int64_t microjoules);

// Sets a field of whole numbers; appends to one that is repeated. Precondition: the type has it.
void SetWhole(const std::string& field, uint64_t value, google::protobuf::Message* message);
void AddWholes(const std::string& field, const std::vector<uint64_t>& values,
               google::protobuf::Message* message);

}  // namespace chakra
