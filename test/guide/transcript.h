// A page with commands in it, and what it says that they print. A fenced block whose lines begin with "$ " is
// a transcript; other blocks are left alone. A command that ends in a backslash goes on in the next line.
// What follows, to the next command or the end of the block, is its output.
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

// Whether `shown` is what was printed. A line "..." stands for any number of lines, none included. Blank
// lines at the end of either do not count.
bool Shows(std::vector<std::string> shown, std::vector<std::string> printed);

// What the page is to show of `printed`: all of it, but for what the "..." of `shown` leave out. Each stretch
// of lines between two of them is replaced by as many lines, those that are most like it.
std::vector<std::string> Renewed(const std::vector<std::string>& shown, std::vector<std::string> printed);

}  // namespace chakra::guide
