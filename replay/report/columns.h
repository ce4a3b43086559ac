// How the fields of reports are shown, by the options of each field (proto/shown.proto).
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
  int place = 0;                                  // order in the view

  bool is_text() const { return unit >= proto::Shown::TEXT && unit <= proto::Shown::HASH; }
  int digits() const;         // of SHARE and REAL
  std::string name() const;   // in CSV and in comparisons
  std::string title() const;  // in text
  std::string label() const;  // in the page
};

// The columns of a type in a view, by place. If the type has several tables, those of `table`.
std::vector<ReportColumn> ColumnsOf(const google::protobuf::Descriptor& type, View view,
                                    absl::string_view table = "");

// All fields of a type that are neither lists nor messages, in the order of the type, each as its first table
// shows it; `place` is 0.
std::vector<ReportColumn> FieldsOf(const google::protobuf::Descriptor& type);

// The value of a field of any numeric type.
double NumberIn(const google::protobuf::Message& row, const google::protobuf::FieldDescriptor& field);
// The value of a column in a row: for people, and for programs.
std::string TextOf(const google::protobuf::Message& row, const ReportColumn& column);
std::string CsvOf(const google::protobuf::Message& row, const ReportColumn& column);

// "1.234 kJ": at most four significant digits
std::string FormatEnergy(int64_t microjoules);

// Sets a field of a 64-bit integer type; AddWholes() appends to a repeated field. Precondition: the type has
// the field.
void SetWhole(const std::string& field, uint64_t value, google::protobuf::Message* message);
void AddWholes(const std::string& field, const std::vector<uint64_t>& values,
               google::protobuf::Message* message);

}  // namespace chakra
