#include "test/guide/transcript.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace chakra::guide {
namespace {

using Lines = std::vector<std::string>;

const char kLeftOut[] = "...";

bool IsFence(const std::string& line) { return line.rfind("```", 0) == 0; }

bool IsCommand(const std::string& line) { return line.rfind("$ ", 0) == 0; }

void DropBlankEnd(Lines* lines) {
  while (!lines->empty() && lines->back().empty()) lines->pop_back();
}

// The stretches of `shown` between its "..." lines.
std::vector<Lines> Stretches(const Lines& shown) {
  std::vector<Lines> stretches(1);
  for (const std::string& line : shown) {
    if (line == kLeftOut) {
      stretches.emplace_back();
    } else {
      stretches.back().push_back(line);
    }
  }
  return stretches;
}

// The line without digits, which change most often.
std::string Shape(const std::string& line) {
  std::string shape;
  for (const char c : line) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) shape += c;
  }
  return shape;
}

// How well `stretch` matches `printed` from line `at` on.
size_t Likeness(const Lines& stretch, const Lines& printed, size_t at) {
  size_t likeness = 0;
  for (size_t i = 0; i < stretch.size() && at + i < printed.size(); ++i) {
    likeness += stretch[i] == printed[at + i] ? 2 : Shape(stretch[i]) == Shape(printed[at + i]) ? 1 : 0;
  }
  return likeness;
}

size_t MostLike(const Lines& stretch, const Lines& printed, size_t from) {
  size_t best = from;
  for (size_t at = from; at < printed.size(); ++at) {
    if (Likeness(stretch, printed, at) > Likeness(stretch, printed, best)) best = at;
  }
  return best;
}

}  // namespace

Lines SplitLines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string JoinLines(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Step> FindSteps(const Lines& page) {
  std::vector<Step> steps;
  bool in_block = false, in_step = false;
  for (size_t i = 0; i < page.size(); ++i) {
    if (IsFence(page[i])) {
      in_block = !in_block;
      in_step = false;
    } else if (in_block && IsCommand(page[i])) {
      Step step = {i + 1, page[i].substr(2)};
      while (!step.command.empty() && step.command.back() == '\\' && i + 1 < page.size()) {
        step.command += "\n" + page[++i];
      }
      step.begin = step.end = i + 1;
      steps.push_back(step);
      in_step = true;
    } else if (in_step) {
      steps.back().end = i + 1;
    }
  }
  return steps;
}

bool Shows(Lines shown, Lines printed) {
  DropBlankEnd(&shown);
  DropBlankEnd(&printed);
  const std::vector<Lines> stretches = Stretches(shown);
  if (stretches.size() == 1) return shown == printed;
  size_t at = 0;
  for (const Lines& stretch : stretches) {
    const bool first = &stretch == &stretches.front(), last = &stretch == &stretches.back();
    if (printed.size() - at < stretch.size()) return false;
    auto found = printed.end() - static_cast<std::ptrdiff_t>(stretch.size());
    const auto from = printed.begin() + static_cast<std::ptrdiff_t>(at);
    if (first) found = from;
    if (!first && !last) found = std::search(from, printed.end(), stretch.begin(), stretch.end());
    if (found == printed.end() && !stretch.empty()) return false;
    if (!std::equal(stretch.begin(), stretch.end(), found)) return false;
    at = static_cast<size_t>(found - printed.begin()) + stretch.size();
  }
  return true;
}

Lines Renewed(const Lines& shown, Lines printed) {
  DropBlankEnd(&printed);
  const std::vector<Lines> stretches = Stretches(shown);
  if (stretches.size() == 1) return printed;
  Lines renewed;
  size_t at = 0;
  for (const Lines& stretch : stretches) {
    const bool first = &stretch == &stretches.front(), last = &stretch == &stretches.back();
    if (!first) renewed.push_back(kLeftOut);
    if (!first) at = MostLike(stretch, printed, at);
    if (last && stretch.size() <= printed.size()) at = std::max(at, printed.size() - stretch.size());
    for (size_t i = 0; i < stretch.size() && at < printed.size(); ++i) renewed.push_back(printed[at++]);
  }
  return renewed;
}

}  // namespace chakra::guide
