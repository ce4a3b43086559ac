#include "test/house/glossary.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "re2/re2.h"

namespace chakra::house {
namespace {

namespace fs = std::filesystem;

std::string ReadWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool IsRead(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h", ".cc", ".proto", ".py", ".js", ".html", ".md", ".sh"};
  return kEndings.contains(path.extension().string());
}

// Texts of others, and inputs of tests, keep their words.
bool IsForeign(const std::string& path) {
  for (const char* part : {"/vendor/", "/corpus/", "/saves/", "/proto/README.md", "/house/glossary"}) {
    if (path.find(part) != std::string::npos) return true;
  }
  return false;
}

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

}  // namespace

Glossary ReadGlossary(const std::string& readme) {
  static const RE2 kRow(R"(\| ([^|]+) \| [^|]+ \|([^|]*)\|)");
  static const RE2 kWord("`([^`]+)`");
  Glossary glossary;
  std::istringstream lines(readme.substr(std::min(readme.size(), readme.find("## Terms"))));
  for (std::string line; std::getline(lines, line);) {
    std::string term, banned;
    if (!RE2::FullMatch(line, kRow, &term, &banned) || term == "term") continue;
    ++glossary.terms;
    re2::StringPiece rest(banned);
    for (std::string word; RE2::FindAndConsume(&rest, kWord, &word);) glossary.instead_of[word] = term;
  }
  return glossary;
}

std::vector<std::string> WordsOf(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!IsLetter(c)) {
      end();
      continue;
    }
    if (IsUpper(c) && i > 0 && IsLetter(text[i - 1]) && !IsUpper(text[i - 1])) end();
    word += Lower(c);
  }
  end();
  return {words.begin(), words.end()};
}

std::vector<std::string> WordsRuledOut(const fs::path& root, const std::vector<std::string>& folders,
                                       const Glossary& glossary,
                                       const std::vector<std::pair<std::string, std::string>>& allowed) {
  static const RE2 kOfCuda("Pinned -> Device|Device -> Pinned");  // names of copies in CUDA's traces
  std::vector<fs::path> files;
  for (const fs::directory_entry& e : fs::directory_iterator(root)) files.push_back(e.path());
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(root / folder))
      files.push_back(e.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> out;
  for (const fs::path& file : files) {
    const std::string path = fs::relative(file, root).generic_string();
    if (!fs::is_regular_file(file) || !IsRead(file) || IsForeign("/" + path)) continue;
    std::string text = ReadWhole(file);
    RE2::GlobalReplace(&text, kOfCuda, "");
    for (const std::string& word : WordsOf(text)) {
      const auto found = glossary.instead_of.find(word);
      if (found == glossary.instead_of.end()) continue;
      const bool may = std::any_of(allowed.begin(), allowed.end(), [&](const auto& a) {
        return path.ends_with(a.first) && a.second == word;
      });
      if (!may) out.push_back(path + ": " + word + " is not used; expected " + found->second);
    }
  }
  return out;
}

}  // namespace chakra::house
