// Numbers in a page's prose, taken from runs. A comment before a paragraph has commands that print phrases of
// it, one a line, each with its numbers:
//
//   <!-- figures
//   $ build/chakra-replay replay DIR | sed -n 's/^Makespan *\([^ ]* [^ ]*\).*/a step takes \1/p'
//   -->
//
// Lines up to the next "$ " belong to a command. $SHARED is the folder of shared data; where that is absent,
// paragraphs whose commands name it are left alone.
//
// A paragraph whose numbers no command gives says where they are from instead: <!-- given: WHERE -->
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chakra::guide {

// A paragraph of prose, or a table, or a list: lines up to a blank one.
struct Paragraph {
  size_t begin = 0, end = 0;          // lines [begin, end) of the page, from 0
  std::vector<std::string> commands;  // of its figures, for a shell
  bool given = false;
};

// All paragraphs of a page, in order, without what stands in fenced blocks and comments.
std::vector<Paragraph> FindParagraphs(const std::vector<std::string>& page);

// The lines as one, blanks between words.
std::string TextOf(const std::vector<std::string>& page, const Paragraph& paragraph);

// Replaces the numbers of the one place that differs from `phrase` by them alone, whatever lines it is on.
// False: there is no such place, or several.
bool Renew(const std::string& phrase, const Paragraph& paragraph, std::vector<std::string>* page);

// The quantities of a text that a run may give, such as "39.02 ms", "4.5 %" and "1.8 times"; not those in
// `code`.
std::vector<std::string> QuantitiesOf(const std::string& text);

}  // namespace chakra::guide
