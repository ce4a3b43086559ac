#include "test/guide/figures.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <regex>

#include "test/guide/transcript.h"

namespace chakra::guide {
namespace {

using Lines = std::vector<std::string>;

bool Begins(const std::string& line, const std::string& with) { return line.rfind(with, 0) == 0; }

Lines SplitList(const std::string& text) {
  static const std::regex semicolon(" *; *");
  return {std::sregex_token_iterator(text.begin(), text.end(), semicolon, -1), std::sregex_token_iterator()};
}

// Reads a comment from line `i` on; returns the line after it.
size_t ReadComment(const Lines& page, size_t i, Paragraph* next) {
  const bool figures = Begins(page[i], "<!-- figures");
  std::string text;
  for (bool open = true; open && i < page.size(); ++i) {
    const size_t close = page[i].find("-->");
    open = close == std::string::npos;
    text += page[i].substr(0, close) + " ";
    if (!figures || !open) continue;
    if (Begins(page[i], "$ ")) {
      next->commands.push_back(page[i].substr(2));
    } else if (!next->commands.empty()) {
      next->commands.back() += "\n" + page[i];
    }
  }
  const std::string given = "<!-- given: ", stated = "<!-- stated: ";
  if (Begins(text, stated)) next->stated += text.substr(stated.size());
  if (Begins(text, given)) {
    const std::string where = text.substr(given.size(), text.find_last_not_of(' ') + 1 - given.size());
    if (where == "linked pages") next->linked = true;
    if (where == "linked pages") return i;
    const Lines files = SplitList(where);
    next->given.insert(next->given.end(), files.begin(), files.end());
  }
  return i;
}

std::string Escaped(const std::string& text) {
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  return std::regex_replace(text, special, R"(\$&)");
}

const char kNumber[] = "\\d(?:[\\d,.]*\\d)?";

const char kUnit[] =
    "(?:ps|ns|us|ms|s|hours|days|%|times|x|[kMGT]?B|[KMGT]iB|GB/s|TB/s|Gb/s|Tb/s|MB/"
    "s|J|kJ|MJ|W|kW|MW|kWh|MWh|g|kg|"
    "tonnes|TFLOP/s|tokens/s|packets|flows|nodes/s)";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The index after the number that begins at `at`; a comma or a point before a digit is part of the number.
size_t EndOfNumber(const std::string& text, size_t at) {
  while (at < text.size() && (IsDigit(text[at]) || ((text[at] == ',' || text[at] == '.') &&
                                                    at + 1 < text.size() && IsDigit(text[at + 1]))))
    ++at;
  return at;
}

std::string WithoutCommas(std::string number) {
  number.erase(std::remove(number.begin(), number.end(), ','), number.end());
  return number;
}

size_t Decimals(const std::string& number) {
  const size_t point = number.find('.');
  return point == std::string::npos ? 0 : number.size() - point - 1;
}

// Whether the longer number rounds to the other.
bool RoundsTo(const std::string& number, const std::string& rounded) {
  const size_t more = Decimals(number), fewer = Decimals(rounded);
  if (more < fewer) return false;
  const double half = 0.5 * std::pow(10, -static_cast<double>(fewer));
  return std::abs(std::stod(number) - std::stod(rounded)) <= half * (more == fewer ? 1e-3 : 1 + 1e-9);
}

std::string WithoutCode(const std::string& text) {
  static const std::regex code("`[^`]*`");
  return std::regex_replace(text, code, "`");
}

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
  static const std::regex quantity("(?:^|[^\\w.,-])(?:(" + std::string(kNumber) + ") to )?(" + kNumber +
                                   ") (" + kUnit + ")(?![\\w/]| \\d)");
  const std::string plain = WithoutCode(text);
  std::vector<std::string> quantities;
  for (std::sregex_iterator i(plain.begin(), plain.end(), quantity), end; i != end; ++i) {
    if ((*i)[1].matched) quantities.push_back((*i)[1].str() + " " + (*i)[3].str());
    quantities.push_back((*i)[2].str() + " " + (*i)[3].str());
  }
  return quantities;
}

std::vector<std::string> NumbersOf(const std::string& row) {
  static const std::regex link("\\[[^\\]]*\\]\\([^)]*\\)");
  static const std::regex number("(?:^|[^\\w.,-])(" + std::string(kNumber) + ")( " + kUnit + ")?(?!\\w)");
  const std::string plain = std::regex_replace(WithoutCode(row), link, "");
  std::vector<std::string> numbers;
  for (std::sregex_iterator i(plain.begin(), plain.end(), number), end; i != end; ++i)
    numbers.push_back((*i)[1].str() + (*i)[2].str());
  return numbers;
}

bool Has(const std::string& text, const std::string& quantity) {
  std::string joined = quantity;
  joined.erase(std::remove(joined.begin(), joined.end(), ' '), joined.end());
  for (const std::string& form : {quantity, joined}) {
    for (size_t at = text.find(form); at != std::string::npos; at = text.find(form, at + 1)) {
      const bool begins = at == 0 || (!IsDigit(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != ',');
      const size_t end = at + form.size();
      const bool ends = end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
      if (begins && ends) return true;
    }
  }
  return false;
}

bool GivenBy(const std::string& page, const std::string& quantity) {
  const size_t blank = quantity.find(' ');
  const std::string number = WithoutCommas(quantity.substr(0, blank));
  const std::string unit = blank == std::string::npos ? "" : quantity.substr(blank + 1);
  for (size_t at = 0; at < page.size();) {
    if (!IsDigit(page[at])) {
      ++at;
      continue;
    }
    const size_t end = EndOfNumber(page, at);
    const std::string other = WithoutCommas(page.substr(at, end - at));
    const bool whole = at == 0 || std::isalpha(static_cast<unsigned char>(page[at - 1])) == 0;
    at = end;
    if (!whole || std::count(other.begin(), other.end(), '.') > 1) continue;
    if (other == number && (other.size() > 1 || unit.empty())) return true;
    const size_t after = page.find_first_not_of(' ', end);
    if (after != std::string::npos && !unit.empty() && page.compare(after, unit.size(), unit) == 0 &&
        RoundsTo(other, number))
      return true;
  }
  return false;
}

}  // namespace chakra::guide
