// Tables of CSV (RFC 4180): read record by record, written field by field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// A function that receives the next bytes of an output.
using WriteBytes = std::function<absl::Status(absl::string_view)>;

// Returns `text` as a CSV field for spreadsheets: escaped by Printable() (trace/base/printable.h), in quotes
// if it has commas or quotes. A "'" is put before a text that LooksLikeFormula().
std::string CsvField(absl::string_view text);
// Returns `text` as a CSV field from which CsvReader reads the same text; in quotes if it has commas, quotes
// or line ends.
std::string CsvAsItIs(absl::string_view text);
// Whether a spreadsheet would take `text` for a formula: it begins with =, +, - or @ and is not a number.
bool LooksLikeFormula(absl::string_view text);
// Returns a name for a table that is read again: with a "'" before it if it looks like a formula or begins
// with "'".
std::string CsvNamed(absl::string_view text);
// Returns the name in a cell that was written with CsvNamed().
absl::string_view CsvNameOf(absl::string_view cell);
// Returns `text` in quotes, whatever it contains.
std::string CsvQuoted(absl::string_view text);

// Reads one record after another. Fields are separated by ',' and may be in quotes; a quote inside quotes is
// doubled. Skips a byte order mark at the beginning, and blank lines.
class CsvReader {
 public:
  enum class Fields {
    kAsTheyAre,
    kTrimmed,  // without surrounding blanks; a quote must be closed on its line
  };

  // `name` is the file name for error messages. `content` and `name` must outlive the reader.
  CsvReader(absl::string_view content, absl::string_view name, Fields kind = Fields::kAsTheyAre);

  // Reads the next record. Returns false at the end. Errors: a quote that is not closed, or text after a
  // closing quote.
  absl::StatusOr<bool> Next(std::vector<std::string>* fields);

  // The first line of the last record, counted from 1.
  size_t line() const { return line_; }
  // "FILE:LINE" of the last record.
  std::string where() const;
  // Whether the last record ends with a line end; false for the last line of a truncated file.
  bool whole() const { return whole_; }
  // Returns the error "FILE:LINE: WHAT" (InvalidArgument).
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
