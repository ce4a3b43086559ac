#include "test/guide/figures.h"

#include <algorithm>
#include <iterator>
#include <regex>

#include "test/guide/transcript.h"

namespace chakra::guide {
namespace {

using Lines = std::vector<std::string>;

bool Begins(const std::string& line, const std::string& with) { return line.rfind(with, 0) == 0; }

// Reads a comment from line `i` on; returns the line after it.
size_t ReadComment(const Lines& page, size_t i, Paragraph* next) {
  if (Begins(page[i], "<!-- given:")) next->given = true;
  const bool figures = Begins(page[i], "<!-- figures");
  for (; i < page.size() && page[i].find("-->") == std::string::npos; ++i) {
    if (!figures) continue;
    if (Begins(page[i], "$ ")) {
      next->commands.push_back(page[i].substr(2));
    } else if (!next->commands.empty()) {
      next->commands.back() += "\n" + page[i];
    }
  }
  return i + 1;
}

std::string Escaped(const std::string& text) {
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  return std::regex_replace(text, special, R"(\$&)");
}

const char kNumber[] = "\\d(?:[\\d,.]*\\d)?";

}  // namespace

std::vector<Paragraph> FindParagraphs(const Lines& page) {
  std::vector<Paragraph> paragraphs;
  Paragraph next;
  bool in_block = false;
  for (size_t i = 0; i < page.size();) {
    if (Begins(page[i], "```")) {
      in_block = !in_block;
      ++i;
    } else if (in_block || page[i].empty()) {
      ++i;
    } else if (Begins(page[i], "<!--")) {
      i = ReadComment(page, i, &next);
    } else {
      next.begin = i;
      while (i < page.size() && !page[i].empty() && !Begins(page[i], "```") && !Begins(page[i], "<!--")) ++i;
      next.end = i;
      paragraphs.push_back(next);
      next = Paragraph();
    }
  }
  return paragraphs;
}

std::string TextOf(const Lines& page, const Paragraph& paragraph) {
  std::string text;
  for (size_t i = paragraph.begin; i < paragraph.end; ++i) text += (text.empty() ? "" : " ") + page[i];
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

bool Renew(const std::string& phrase, const Paragraph& paragraph, Lines* page) {
  static const std::regex number(kNumber);
  std::string pattern;
  Lines values;
  size_t at = 0;
  for (std::sregex_iterator i(phrase.begin(), phrase.end(), number), end; i != end; ++i) {
    pattern += Escaped(phrase.substr(at, static_cast<size_t>(i->position()) - at)) + "(" + kNumber + ")";
    at = static_cast<size_t>(i->position() + i->length());
    values.push_back(i->str());
  }
  pattern += Escaped(phrase.substr(at));
  pattern = std::regex_replace(pattern, std::regex(" +"), "\\s+");
  const Lines lines(page->begin() + static_cast<std::ptrdiff_t>(paragraph.begin),
                    page->begin() + static_cast<std::ptrdiff_t>(paragraph.end));
  std::string text = JoinLines(lines);
  const std::regex like(pattern);
  std::sregex_iterator found(text.begin(), text.end(), like);
  if (values.empty() || std::distance(found, std::sregex_iterator()) != 1) return false;
  const std::smatch match = *found;
  std::string renewed = text;
  for (size_t i = values.size(); i-- > 0;) {
    renewed.replace(static_cast<size_t>(match.position(i + 1)), static_cast<size_t>(match.length(i + 1)),
                    values[i]);
  }
  const Lines after = SplitLines(renewed);
  std::copy(after.begin(), after.end(), page->begin() + static_cast<std::ptrdiff_t>(paragraph.begin));
  return true;
}

std::vector<std::string> QuantitiesOf(const std::string& text) {
  static const std::regex code("`[^`]*`");
  static const std::regex quantity(
      "(?:^|[^\\w.,-])(" + std::string(kNumber) +
      " (?:ps|ns|us|ms|s|%|times|GB/s|J|kJ|MJ|W|kW|kWh|kg|packets|flows))(?![\\w/])");
  const std::string plain = std::regex_replace(text, code, "`");
  std::vector<std::string> quantities;
  for (std::sregex_iterator i(plain.begin(), plain.end(), quantity), end; i != end; ++i)
    quantities.push_back((*i)[1]);
  return quantities;
}

}  // namespace chakra::guide
