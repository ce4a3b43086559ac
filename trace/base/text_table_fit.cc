// Lays out a table on a page that is narrower than the table.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/text_table.h"

namespace chakra {
namespace {

// In columns. Texts and the words of headers are not shortened below this width.
constexpr size_t kLeastText = 12;

bool AllOf(absl::string_view s, absl::string_view allowed) {
  return s.find_first_not_of(allowed) == absl::string_view::npos;
}

// Whether `cell` is a number, such as "38.15 ms", "84 %", "0 1 2 3", "<= 1e+03" or "2-7". A number is never
// cut, because the rest would be a different number.
bool IsNumberCell(absl::string_view cell) {
  const std::vector<absl::string_view> words = absl::StrSplit(cell, ' ', absl::SkipEmpty());
  if (words.empty() || cell.find_first_of("0123456789") == cell.npos) return false;
  constexpr size_t kUnit = 5;  // longest unit, in bytes: Gb/s fits
  if (!AllOf(words[0], "0123456789.,+-~<=>:/x%()eE")) return false;
  return std::all_of(words.begin() + 1, words.end(), [](absl::string_view word) {
    return word.size() <= kUnit || AllOf(word, "0123456789.,+-~<=>:/x%()eE");
  });
}

std::vector<std::string> Words(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

}  // namespace

class FittedTable {
 public:
  FittedTable(const TextTable& table, TextPage* page);
  std::string Print();

 private:
  using Columns = std::vector<size_t>;  // indices
  using Widths = std::vector<size_t>;   // by index

  size_t LeastApart(size_t column) const;
  size_t Total(const Columns& columns, const Widths& widths, bool tight) const;
  // Narrows the widest of `columns` until all fit in `room`. Returns false if they cannot fit.
  bool Shrink(const Columns& columns, size_t room, bool tight, Widths* widths) const;
  void Note(size_t column);
  std::vector<std::string> HeaderLines(size_t column, size_t width);
  std::string Cell(const TextTable::Row& row, size_t column, size_t width);
  std::string Line(const Columns& columns, const Widths& widths, bool tight,
                   const std::vector<std::string>& cells) const;
  // Prints a table of some of the columns. `lines`: also prints the lines of text below the rows.
  std::string Rows(const Columns& columns, const Widths& widths, bool tight, bool lines);
  size_t KeyColumns() const;
  // Prints several tables below each other. Returns "" if some column is too wide.
  std::string Parts();
  std::string Records();

  const TextTable& table_;
  TextPage* page_;
  Columns all_;
  Widths header_, word_;   // widest line, and widest word, of the header
  Widths cells_, number_;  // widest cell, and widest cell that is a number
  Widths least_;           // minimum width of each column
};

FittedTable::FittedTable(const TextTable& table, TextPage* page)
    : table_(table), page_(page), all_(table.columns_.size()) {
  std::iota(all_.begin(), all_.end(), 0);
  for (const size_t c : all_) {
    const TextColumn& column = table.columns_[c];
    size_t word = 0, cells = 0, number = 0;
    for (const std::string& w : Words(column.name)) word = std::max(word, DisplayWidth(w));
    for (const TextTable::Row& row : table.rows_) {
      if (c >= row.cells.size()) continue;
      const size_t width = DisplayWidth(row.cells[c]);
      cells = std::max(cells, width);
      if (!column.left || IsNumberCell(row.cells[c])) number = std::max(number, width);
    }
    header_.push_back(DisplayWidth(column.name));
    word_.push_back(word);
    cells_.push_back(cells);
    number_.push_back(number);
    least_.push_back(std::max(number, std::min(std::max(cells, word), LeastApart(c))));
  }
}

// The minimum width, at least kLeastText, at which distinct cells of a column stay distinct when shortened.
size_t FittedTable::LeastApart(size_t column) const {
  std::set<absl::string_view> cells;
  size_t widest = 0;
  for (const TextTable::Row& row : table_.rows_) {
    if (column >= row.cells.size()) continue;
    cells.insert(row.cells[column]);
    widest = std::max(widest, DisplayWidth(row.cells[column]));
  }
  for (size_t width = kLeastText; width < widest; width += 4) {
    std::set<std::string> shortened;
    for (const absl::string_view cell : cells) shortened.insert(page_->Fit(cell, width));
    if (shortened.size() == cells.size()) return width;
  }
  return std::max(kLeastText, widest);
}

size_t FittedTable::Total(const Columns& columns, const Widths& widths, bool tight) const {
  size_t total = table_.indent_;
  for (const size_t c : columns) {
    const size_t gap = c == columns.front() ? 0 : tight ? 1 : table_.columns_[c].gap;
    total += gap + widths[c];
  }
  return total;
}

bool FittedTable::Shrink(const Columns& columns, size_t room, bool tight, Widths* widths) const {
  while (Total(columns, *widths, tight) > room) {
    size_t* widest = nullptr;
    for (const size_t c : columns) {
      size_t& width = (*widths)[c];
      if (width > least_[c] && (widest == nullptr || width > *widest)) widest = &width;
    }
    if (widest == nullptr) return false;
    --*widest;
  }
  return true;
}

void FittedTable::Note(size_t column) {
  page_->NoteShortened(page_->Fit(table_.columns_[column].name, page_->width() - 4));
}

std::vector<std::string> FittedTable::HeaderLines(size_t column, size_t width) {
  const std::string& name = table_.columns_[column].name;
  std::vector<std::string> lines;
  for (const std::string& word : Words(name)) {
    if (DisplayWidth(word) > width) Note(column);
    const std::string part = page_->Fit(word, width);
    if (!lines.empty() && DisplayWidth(lines.back()) + 1 + DisplayWidth(part) <= width) {
      absl::StrAppend(&lines.back(), " ", part);
    } else {
      lines.push_back(part);
    }
  }
  return lines;
}

std::string FittedTable::Cell(const TextTable::Row& row, size_t column, size_t width) {
  const std::string cell = column < row.cells.size() ? row.cells[column] : "";
  if (DisplayWidth(cell) > width) Note(column);
  return page_->Fit(cell, width);
}

std::string FittedTable::Line(const Columns& columns, const Widths& widths, bool tight,
                              const std::vector<std::string>& cells) const {
  std::string line(table_.indent_, ' ');
  for (size_t i = 0; i < columns.size(); ++i) {
    const TextColumn& column = table_.columns_[columns[i]];
    const size_t pad = widths[columns[i]] - DisplayWidth(cells[i]);
    line.append((i == 0 ? 0 : tight ? 1 : column.gap) + (column.left ? 0 : pad), ' ');
    line.append(cells[i]);
    if (column.left) line.append(pad, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string FittedTable::Rows(const Columns& columns, const Widths& widths, bool tight, bool lines) {
  std::vector<std::vector<std::string>> header;
  size_t deepest = 1;
  for (const size_t c : columns) {
    header.push_back(HeaderLines(c, widths[c]));
    deepest = std::max(deepest, header.back().size());
  }
  std::string out;
  for (size_t i = 0; i < deepest; ++i) {
    std::vector<std::string> cells;
    for (const auto& h : header) {  // headers are aligned at their last lines
      const size_t above = deepest - h.size();
      cells.push_back(i < above ? "" : h[i - above]);
    }
    std::string line = Line(columns, widths, tight, cells);
    line.replace(0, table_.mark_.size(), table_.mark_);
    absl::StrAppend(&out, line, "\n");
  }
  for (const TextTable::Row& row : table_.rows_) {
    std::vector<std::string> cells;
    for (const size_t c : columns) cells.push_back(Cell(row, c, widths[c]));
    absl::StrAppend(&out, Line(columns, widths, tight, cells), "\n");
    for (const std::string& line : row.lines) absl::StrAppend(&out, lines ? line + "\n" : "");
  }
  return out;
}

// The number of leading columns that identify the rows; 1 if even all columns together do not.
size_t FittedTable::KeyColumns() const {
  for (size_t keys = 1; keys < all_.size(); ++keys) {
    std::set<std::vector<std::string>> seen;
    for (const TextTable::Row& row : table_.rows_) {
      seen.emplace(row.cells.begin(),
                   row.cells.begin() + static_cast<ptrdiff_t>(std::min(keys, row.cells.size())));
    }
    if (seen.size() == table_.rows_.size()) return keys;
  }
  return 1;
}

std::string FittedTable::Parts() {
  const Columns keys(all_.begin(), all_.begin() + static_cast<ptrdiff_t>(KeyColumns()));
  const size_t width = page_->width();
  Widths widths;
  for (const size_t c : all_) widths.push_back(std::max(cells_[c], word_[c]));
  Shrink(keys, width / 2, false, &widths);
  std::vector<Columns> parts = {keys};
  for (size_t c = keys.size(); c < all_.size(); ++c) {
    Columns with = parts.back();
    with.push_back(c);
    if (parts.back().size() > keys.size() && Total(with, widths, false) > width) {
      parts.push_back(keys);
      with = keys;
      with.push_back(c);
    }
    if (!Shrink(with, width, false, &widths)) return "";
    parts.back() = with;
  }
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? "\n" : "", Rows(parts[i], widths, false, i + 1 == parts.size()));
  }
  return out;
}

std::string FittedTable::Records() {
  const size_t label = std::min(*std::max_element(header_.begin(), header_.end()), page_->width() / 2);
  const std::string indent(table_.indent_, ' ');
  const size_t room = page_->width() - indent.size() - 2;  // for a value on its own line
  std::string out;
  for (const TextTable::Row& row : table_.rows_) {
    if (!out.empty()) out += "\n";
    for (size_t c = 0; c < row.cells.size(); ++c) {
      const TextColumn& column = table_.columns_[c];
      const bool long_word = word_[c] > room;  // the page breaks names of shorter words at blanks
      if (long_word) Note(c);
      const std::string name = page_->Fit(column.name, long_word ? room : std::max(header_[c], room));
      const size_t pad = label - std::min(label, DisplayWidth(name));
      const size_t cell = DisplayWidth(row.cells[c]);
      const bool number = !column.left || IsNumberCell(row.cells[c]);
      const std::string value = Cell(row, c, number ? std::max(room, cell) : room);
      const std::string line = absl::StrCat(indent, name, ": ", std::string(pad, ' '), value);
      if (DisplayWidth(line) <= page_->width()) {
        absl::StrAppend(&out, line, "\n");
      } else {
        absl::StrAppend(&out, indent, name, ":\n", indent, "  ", value, "\n");
      }
    }
    for (const std::string& line : row.lines) absl::StrAppend(&out, line, "\n");
  }
  return out;
}

std::string FittedTable::Print() {
  Widths whole, wrapped;
  for (const size_t c : all_) {
    whole.push_back(std::max(cells_[c], header_[c]));
    wrapped.push_back(std::max(cells_[c], word_[c]));
  }
  const size_t width = page_->width();
  if (Total(all_, whole, false) <= width) return Rows(all_, whole, false, true);
  if (Total(all_, wrapped, false) <= width) return Rows(all_, wrapped, false, true);
  if (Shrink(all_, width, true, &wrapped)) return Rows(all_, wrapped, true, true);
  const std::string parts = table_.rows_.size() > 1 ? Parts() : "";
  return parts.empty() ? Records() : parts;
}

std::string TextTable::Print(TextPage* page) const {
  const std::string whole = PrintWhole();
  if (page == nullptr || !page->limited()) return whole;
  const bool plain =
      std::all_of(whole.begin(), whole.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); });
  const std::vector<absl::string_view> lines = absl::StrSplit(whole, '\n');
  const bool fits = plain && std::all_of(lines.begin(), lines.end(), [&](absl::string_view line) {
                      return line.size() <= page->width();
                    });
  return fits ? whole : FittedTable(*this, page).Print();
}

}  // namespace chakra
