// Tables of text whose rows are messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "trace/base/text_page.h"
#include "trace/base/units.h"

namespace chakra {

// A time in picoseconds as text.
inline std::string PsText(int64_t ps) { return FormatTime(Time::Picos(ps)); }

// RowTable without the type of its rows.
class RowTableBase {
 public:
  size_t rows() const { return rows_.size(); }
  std::string Print(TextPage* page) const;

 protected:
  using CellOf = std::function<std::string(const google::protobuf::Message& row)>;
  struct Place {
    int place;
    std::string field;  // "": the column is not a field
    std::string title, group;
    bool left;
    // If set: the column is shown only if it holds for any row.
    std::function<bool(const google::protobuf::Message& row)> has;
    CellOf cell;
  };

  RowTableBase(const google::protobuf::Descriptor& type, absl::string_view table);
  Place& At(absl::string_view field);
  void Insert(Place place);

  std::vector<Place> places_;
  std::vector<const google::protobuf::Message*> rows_;
};

// Starts with the columns that the fields of the type have in text (ColumnsOf()); the functions below change
// and add columns. Rows must outlive the table.
template <typename Row>
class RowTable : public RowTableBase {
 public:
  using Cell = std::function<std::string(const Row& row)>;

  explicit RowTable(absl::string_view table = "") : RowTableBase(*Row::descriptor(), table) {}
  void Add(const Row& row) { rows_.push_back(&row); }
  // Leaves out the columns of a group.
  RowTable& Without(absl::string_view group) {
    std::erase_if(places_, [&](const Place& p) { return p.group == group; });
    return *this;
  }
  // These change the column of a field. Precondition: the table has the column.
  RowTable& Title(absl::string_view field, std::string title) {
    At(field).title = std::move(title);
    return *this;
  }
  RowTable& Left(absl::string_view field) {
    At(field).left = true;
    return *this;
  }
  RowTable& Show(absl::string_view field, Cell cell) {
    At(field).cell = Untyped(std::move(cell));
    return *this;
  }
  // Adds a column that is not a field.
  RowTable& Insert(int place, std::string title, bool left, Cell cell) {
    RowTableBase::Insert({place, "", std::move(title), "", left, nullptr, Untyped(std::move(cell))});
    return *this;
  }

 private:
  static CellOf Untyped(Cell cell) {
    return [cell = std::move(cell)](const google::protobuf::Message& row) {
      return cell(static_cast<const Row&>(row));
    };
  }
};

}  // namespace chakra
