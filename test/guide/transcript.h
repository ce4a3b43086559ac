// The commands of a page, and the output that the page shows. A fenced block with lines that begin with "$ "
// is a transcript; other blocks are ignored. A command that ends in a backslash continues on the next line.
// The lines after a command, up to the next command or the end of the block, are its output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chakra::guide {

struct Step {
  size_t line = 0;      // of the command, from 1
  std::string command;  // for a shell
  size_t begin = 0;     // its output: lines [begin, end) of the page, from 0
  size_t end = 0;
};

std::vector<std::string> SplitLines(const std::string& text);
std::string JoinLines(const std::vector<std::string>& lines);

std::vector<Step> FindSteps(const std::vector<std::string>& page);

// Whether `shown` matches `printed`. A line "..." stands for any number of lines, also for none. Blank lines
// at the end of either do not count.
bool Shows(std::vector<std::string> shown, std::vector<std::string> printed);

// The lines of `printed` that the page should show: all lines, except those for which `shown` has "...". Each
// stretch of lines between two "..." is replaced by an equal number of lines, those that match best.
std::vector<std::string> Renewed(const std::vector<std::string>& shown, std::vector<std::string> printed);

}  // namespace chakra::guide
