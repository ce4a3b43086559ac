#include "replay/report/edits.h"

#include "absl/strings/str_cat.h"
#include "replay/report/row_table.h"
#include "trace/base/text_table.h"
#include "trace/io/printable_message.h"

namespace chakra {

std::string PrintEdits(const proto::EditReport& as_read, TextPage* page) {
  const proto::EditReport report = PrintableCopy(as_read);
  RowTable<proto::EditOutcome> table;
  std::string notes;
  for (const proto::EditOutcome& o : report.outcome()) {
    table.Add(o);
    for (const std::string& note : o.note())
      absl::StrAppend(&notes, "  ", Shorten(o.edit(), 48, "-"), ": ", note, "\n");
  }
  std::string faults;
  for (const proto::InputFault& f : report.fault()) {
    absl::StrAppend(&faults, faults.empty() ? "\n" : "",
                    "  faults of the input, left in the bytes: ", FormatCount(f.count()), " of ", f.kind(),
                    ", the first at rank ", f.first_rank(), ", node ", f.first_node(), "\n");
  }
  return absl::StrCat("Edits of ", Shorten(report.script(), 64, "-"), ": ", FormatCount(report.ranks_in()),
                      " ranks of ", FormatCount(report.nodes_in()), " nodes become ",
                      FormatCount(report.ranks_out()), " of ", FormatCount(report.nodes_out()), "\n",
                      table.Print(page), notes.empty() ? "" : "\n", notes, faults);
}

}  // namespace chakra
