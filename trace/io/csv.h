// Tables of CSV (RFC 4180): read record by record, written field by field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// A function that takes the next bytes of an output.
using WriteBytes = std::function<absl::Status(absl::string_view)>;

// One field of CSV: `text` as Printable() has it (trace/base/printable.h), in quotes if it has commas or
// quotes. A "'" goes before text that a spreadsheet would take for a formula: it begins with =, +, - or @ and
// is no number.
std::string CsvField(absl::string_view text);
// One field: any text, which CsvReader gives back. In quotes if it has commas, quotes or ends of lines.
std::string CsvAsItIs(absl::string_view text);
// Whether a spreadsheet would take the text of a field for a formula.
bool LooksLikeFormula(absl::string_view text);
// A name in a table that is read again: with a "'" before it if it looks like a formula or begins with "'".
std::string CsvNamed(absl::string_view text);
// The name that such a cell holds.
absl::string_view CsvNameOf(absl::string_view cell);
// In quotes whatever it has.
std::string CsvQuoted(absl::string_view text);

// One record after another: fields between ',', in quotes perhaps, and quotes doubled inside quotes. A byte
// order mark at the beginning is passed over, and so are lines of nothing but blanks.
class CsvReader {
 public:
  enum class Fields {
    kAsTheyAre,
    kTrimmed,  // without the blanks around them; quotes have to close on their line
  };

  // `name` is the file's, for messages. Both must outlive the reader.
  CsvReader(absl::string_view content, absl::string_view name, Fields kind = Fields::kAsTheyAre);

  // False at the end. Errors: those of Error(), for a quote that is not closed, or text behind one that is.
  absl::StatusOr<bool> Next(std::vector<std::string>* fields);

  // Of the record that was read last: its first line, counted from 1;
  size_t line() const { return line_; }
  // "FILE:LINE";
  std::string where() const;
  // whether its line ends, as the last line of a file that was cut does not.
  bool whole() const { return whole_; }
  // "FILE:LINE: WHAT" (InvalidArgument).
  absl::Status Error(absl::string_view what) const;

 private:
  absl::Status Record(std::vector<std::string>* fields);
  absl::Status Field(std::string* out);
  absl::Status Quoted(std::string* out);
  void SkipBlanks();

  absl::string_view rest_;
  absl::string_view name_;
  Fields kind_;
  size_t line_ = 0;
  size_t next_line_ = 1;
  bool whole_ = false;
};

}  // namespace chakra
