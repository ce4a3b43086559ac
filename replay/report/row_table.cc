#include "replay/report/row_table.h"

#include <algorithm>

#include "replay/report/columns.h"
#include "trace/base/text_table.h"

namespace chakra {

using google::protobuf::Message;

RowTableBase::RowTableBase(const google::protobuf::Descriptor& type, absl::string_view table) {
  for (const ReportColumn& c : ColumnsOf(type, View::kText, table)) {
    Place place{
        c.place, c.field->name(), c.title(), c.shown->group(), c.is_text(), nullptr, [c](const Message& row) {
          return TextOf(row, c);
        }};
    if (c.shown->if_any()) place.has = [c](const Message& row) { return NumberIn(row, *c.field) > 0; };
    places_.push_back(std::move(place));
  }
}

RowTableBase::Place& RowTableBase::At(absl::string_view field) {
  return *std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.field == field; });
}

void RowTableBase::Insert(Place place) {
  const auto after =
      std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.place > place.place; });
  places_.insert(after, std::move(place));
}

std::string RowTableBase::Print(TextPage* page) const {
  std::vector<const Place*> shown;
  std::vector<std::string> header;
  std::vector<bool> left;
  for (const Place& p : places_) {
    const auto has = [&p](const Message* row) { return p.has(*row); };
    if (p.has != nullptr && std::none_of(rows_.begin(), rows_.end(), has)) continue;
    shown.push_back(&p);
    header.push_back(p.title);
    left.push_back(p.left);
  }
  TextTable table(header, left);
  for (const Message* row : rows_) {
    std::vector<std::string> cells;
    for (const Place* p : shown) cells.push_back(p->cell(*row));
    table.Add(std::move(cells));
  }
  return table.Print(page);
}

}  // namespace chakra
