// Numbers in a page's prose that come from runs. A comment before a paragraph has commands that print phrases
// of the paragraph, one on a line, with their numbers:
//
//   <!-- figures
//   $ build/chakra-replay replay DIR | sed -n 's/^Makespan *\([^ ]* [^ ]*\).*/a step takes \1/p'
//   -->
//
// Lines up to the next "$ " belong to a command. $SHARED is the folder of shared data; if the folder is
// absent, paragraphs whose commands name it are not checked.
//
// If no command of the page gives a paragraph's numbers, a comment names their source:
//
//   <!-- given: test/validation/energy.md; a.md: some text -->
//                                               each quantity is in one of the files, which other tests
//                                               check; in the second, on a line that has the text
//   <!-- given: linked pages -->                each number of a line is in a page to which the line links
//   <!-- stated: 1.5 times, 20 ms; WHY -->      constants that no run changes, or measurements of others
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chakra::guide {

// A paragraph of prose, or a table, or a list: lines up to a blank one.
struct Paragraph {
  size_t begin = 0, end = 0;          // lines [begin, end) of the page, from 0
  std::vector<std::string> commands;  // shell commands that print its figures
  std::vector<std::string> given;     // files that have its quantities, maybe with ": " and a text
  bool linked = false;                // the pages that its lines link to have their numbers
  std::string stated;                 // quantities that the page lists
};

// All paragraphs of a page, in order, without fenced blocks and comments.
std::vector<Paragraph> FindParagraphs(const std::vector<std::string>& page);

// The lines as one text, with one blank between words.
std::string TextOf(const std::vector<std::string>& page, const Paragraph& paragraph);

// Finds the one place that differs from `phrase` only in its numbers, also across lines, and replaces those
// numbers. False: there is no such place, or several.
bool Renew(const std::string& phrase, const Paragraph& paragraph, std::vector<std::string>* page);

// The quantities of a text that a run may give, such as "39.02 ms", "4.5 %" and "1.8 times"; "2 to 3 s" gives
// two. Quantities in `code` are left out.
std::vector<std::string> QuantitiesOf(const std::string& text);

// All numbers of a table's row, with their units ("1,848", "4.5 %"), except those in links and `code`.
std::vector<std::string> NumbersOf(const std::string& row);

// Whether `text` has the quantity by itself, with or without a blank before the unit.
bool Has(const std::string& text, const std::string& quantity);

// Whether a page of measurements has the quantity: with its unit and maybe with more digits, which round to
// the quantity; or in a table, without the unit and with at least two digits.
bool GivenBy(const std::string& page, const std::string& quantity);

}  // namespace chakra::guide
