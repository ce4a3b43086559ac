// The glossary of proto/README.md, and the words that it rules out.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace chakra::house {

struct Glossary {
  int terms = 0;
  std::map<std::string, std::string> instead_of;  // a word that is ruled out, lower case, to its term
};

// Reads the table under "## Terms": "| term | what it is | not |". A word in backticks in the last column is
// ruled out.
Glossary ReadGlossary(const std::string& readme);

// The words of a text in lower case, without duplicates: "MakeTwin_of" has make, twin and of.
std::vector<std::string> WordsOf(const std::string& text);

// One line "FILE: WORD is not used; expected TERM" for each file below `root`, in one of `folders` or
// directly in `root`, and each word in the file that the glossary rules out. Only sources and pages are read:
// C++, protobuf, Python, JavaScript, HTML, Markdown and shell. `allowed` are pairs of the end of a path and a
// word.
std::vector<std::string> WordsRuledOut(const std::filesystem::path& root,
                                       const std::vector<std::string>& folders, const Glossary& glossary,
                                       const std::vector<std::pair<std::string, std::string>>& allowed);

}  // namespace chakra::house
