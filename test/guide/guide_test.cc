// README.md and the guides: each command is run, and must print the output that the page shows; each quantity
// in the prose must be in the output of a run, or in a file that the page names. UPDATE_GUIDES=1 writes the
// pages again instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "test/folders.h"
#include "test/guide/figures.h"
#include "test/guide/transcript.h"
#include "test/sanitized.h"

namespace chakra::guide::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path kSource = CHAKRA_SOURCE_DIR;

const char kSweeps[] = "examples/sweeps/README.md";

// READMEs whose numbers are checked too. bench/README.md is not: its numbers are measured times.
const char* const kReadmes[] = {"README.md",
                                "examples/README.md",
                                "examples/capture/README.md",
                                "examples/install/README.md",
                                "examples/notebooks/README.md",
                                kSweeps,
                                "examples/timeline/README.md",
                                "examples/what_if/README.md",
                                "proto/README.md",
                                "test/README.md",
                                "trace/generate/README.md"};

bool IsGuide(const std::string& page) { return page.rfind("examples/guide/", 0) == 0; }

// READMEs and guides, with their paths in the source folder.
std::vector<std::string> Pages() {
  std::vector<std::string> pages(std::begin(kReadmes), std::end(kReadmes));
  for (const auto& entry : fs::directory_iterator(kSource / "examples/guide")) {
    if (entry.path().extension() == ".md")
      pages.push_back("examples/guide/" + entry.path().filename().string());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A folder that looks like the repository after a build.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "guide.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    fs::create_directory_symlink(fs::path(CHAKRA_BINARY).parent_path(), path_ / "build");
    for (const std::string folder : {"examples", "test", "bench", "replay", "backends", "trace", "proto"})
      fs::create_directory_symlink(kSource / folder, path_ / folder);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Runs `command`; returns its standard output and error.
  Lines Run(const std::string& command, int* status) const {
    std::ofstream(path_ / ".command") << "exec 2>&1 </dev/null\n" << command << "\n";
    std::FILE* pipe = popen(("cd '" + path_.string() + "' && exec sh .command").c_str(), "r");
    *status = -1;
    std::string out;
    if (pipe == nullptr) return {};
    std::array<char, 4096> buffer;
    size_t n = 0;
    while ((n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) out.append(buffer.data(), n);
    *status = pclose(pipe);
    return SplitLines(out);
  }

 private:
  fs::path path_;
};

// Runs the commands of figures, and looks for the printed phrases in their paragraph. Returns the phrases.
Lines CheckFigures(const Folder& folder, const Paragraph& paragraph, bool update, Lines* page) {
  Lines all;
  for (const std::string& command : paragraph.commands) {
    SCOPED_TRACE("figures: " + command);
    int status = 0;
    const Lines printed = folder.Run(command, &status);
    EXPECT_EQ(status, 0) << JoinLines(printed);
    EXPECT_FALSE(printed.empty());
    for (const std::string& phrase : printed) {
      all.push_back(phrase);
      if (TextOf(*page, paragraph).find(phrase) != std::string::npos) continue;
      if (update && Renew(phrase, paragraph, page)) continue;
      ADD_FAILURE() << "the run gives \"" << phrase << "\", but the page says\n" << TextOf(*page, paragraph);
    }
  }
  return all;
}

bool NeedsShared(const Paragraph& paragraph) {
  return std::any_of(paragraph.commands.begin(), paragraph.commands.end(),
                     [](const std::string& c) { return c.find("$SHARED") != std::string::npos; });
}

// The text of a file that a page names, relative to the source folder or to the page's folder. "FILE: TEXT"
// gives the lines that have the text.
std::string ReadNamed(const std::string& page, const std::string& name) {
  const size_t colon = name.find(": ");
  const std::string file = name.substr(0, colon);
  const fs::path beside = (kSource / page).parent_path() / file;
  const std::string all = ReadText(fs::exists(kSource / file) ? kSource / file : beside);
  if (colon == std::string::npos) return all;
  std::string with;
  for (const std::string& line : SplitLines(all)) {
    if (line.find(name.substr(colon + 2)) != std::string::npos) with += line + "\n";
  }
  EXPECT_FALSE(with.empty()) << page << ": no line has what " << name << " asks for";
  return with;
}

// Expects each number of a line of the paragraph in a page that the line links to, or in the output of
// figures.
void CheckLinked(const std::string& name, const std::string& printed, const Paragraph& paragraph,
                 const Lines& page) {
  static const std::regex link("\\]\\(([^)#:]+)\\)");
  for (size_t i = paragraph.begin; i < paragraph.end; ++i) {
    std::string texts;
    for (std::sregex_iterator at(page[i].begin(), page[i].end(), link), end; at != end; ++at)
      texts += ReadNamed(name, (*at)[1]);
    if (texts.empty()) continue;
    for (const std::string& number : NumbersOf(page[i]))
      EXPECT_TRUE(GivenBy(texts, number) || Has(printed, number))
          << name << ":" << i + 1 << ": \"" << number << "\" is in no linked page";
  }
}

// Expects each quantity of the page's prose in a block of the page, in the output of figures, in a named
// file, or among the stated ones.
void CheckProse(const std::string& name, const Folder& folder, bool update, Lines* page) {
  std::string blocks;
  for (const Step& step : FindSteps(*page)) {
    blocks += step.command + "\n";
    for (size_t i = step.begin; i < step.end; ++i) blocks += (*page)[i] + "\n";
  }
  for (const Paragraph& paragraph : FindParagraphs(*page)) {
    if (!fs::exists(CHAKRA_SHARED_DATA) && NeedsShared(paragraph)) continue;
    const Lines phrases = CheckFigures(folder, paragraph, update, page);
    const std::string printed = JoinLines(phrases) + JoinLines(QuantitiesOf(JoinLines(phrases)));
    if (paragraph.linked) {
      CheckLinked(name, printed, paragraph, *page);
      continue;
    }
    std::string given;
    for (const std::string& file : paragraph.given) given += ReadNamed(name, file) + "\n";
    for (const std::string& quantity : QuantitiesOf(TextOf(*page, paragraph))) {
      if (Has(blocks, quantity) || Has(printed, quantity) || Has(paragraph.stated, quantity)) continue;
      if (GivenBy(given, quantity)) continue;
      ADD_FAILURE()
          << name << ":" << paragraph.begin + 1 << ": \"" << quantity
          << "\" is in no block of the page, in no figures before the paragraph, in no file that it names "
             "with `given` and not `stated` (test/guide/figures.h)";
    }
  }
}

class GuideTest : public testing::TestWithParam<std::string> {};

TEST_P(GuideTest, CommandsPrintTheOutputOfThePage) {
  setenv("LC_ALL", "C", 1);
  setenv("SHARED", CHAKRA_SHARED_DATA, 1);
  unsetenv("COLUMNS");
  const bool update = std::getenv("UPDATE_GUIDES") != nullptr;
  const Lines page = SplitLines(ReadText(kSource / GetParam()));
  Lines renewed;
  size_t copied = 0;
  const Folder folder;
  const std::vector<Step> steps = FindSteps(page);
  // Pages whose commands would simulate for a minute under sanitizers run only in the optimised build.
  const std::string name = std::filesystem::path(GetParam()).stem().string();
  static const std::set<std::string> slow = {"goodput", "hybrids", "plan", "where_to_train"};
  if (kSanitized && (slow.count(name) != 0 || GetParam() == kSweeps)) return;
  EXPECT_FALSE(steps.empty() && IsGuide(GetParam())) << GetParam() << " has no command";
  for (const Step& step : steps) {
    SCOPED_TRACE(GetParam() + ":" + std::to_string(step.line) + ": " + step.command);
    const auto begin = page.begin() + static_cast<std::ptrdiff_t>(step.begin);
    const Lines shown(begin, page.begin() + static_cast<std::ptrdiff_t>(step.end));
    int status = 0;
    const Lines printed = folder.Run(step.command, &status);
    EXPECT_EQ(status, 0) << "the command fails, and the page does not say so (`|| echo \"status $?\"`)\n"
                         << JoinLines(printed);
    const bool shows = Shows(shown, printed);
    if (!update) {
      EXPECT_TRUE(shows) << "the page shows\n"
                         << JoinLines(shown) << "but the command prints\n"
                         << JoinLines(printed);
    }
    renewed.insert(renewed.end(), page.begin() + static_cast<std::ptrdiff_t>(copied), begin);
    const Lines after = shows ? shown : Renewed(shown, printed);
    renewed.insert(renewed.end(), after.begin(), after.end());
    copied = step.end;
  }
  renewed.insert(renewed.end(), page.begin() + static_cast<std::ptrdiff_t>(copied), page.end());
  CheckProse(GetParam(), folder, update, &renewed);
  if (update && renewed != page) std::ofstream(kSource / GetParam(), std::ios::binary) << JoinLines(renewed);
}

// A guide explains one task.
TEST_P(GuideTest, GuidesAreShort) {
  if (!IsGuide(GetParam())) return;
  std::istringstream words(ReadText(kSource / GetParam()));
  const auto n =
      std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  EXPECT_LE(n, 1200) << GetParam() << ": split it";
}

TEST_P(GuideTest, LinksLeadToFiles) {
  const std::string text = ReadText(kSource / GetParam());
  const std::regex link("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i) {
    const fs::path target = (kSource / GetParam()).parent_path() / (*i)[1].str();
    EXPECT_TRUE(fs::exists(target)) << GetParam() << ": " << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, GuideTest, testing::ValuesIn(Pages()), [](const auto& page) {
  std::string name = fs::path(page.param).replace_extension().string();
  if (IsGuide(page.param)) name = fs::path(page.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(Readmes, RootReadmeNamesAllGuides) {
  const std::string readme = ReadText(kSource / "README.md");
  for (const std::string& page : Pages()) {
    if (!IsGuide(page)) continue;
    EXPECT_THAT(readme, testing::HasSubstr("](" + page + ")"));
  }
}

TEST(Readmes, RootMapNamesAllRooms) {
  const std::string readme = ReadText(kSource / "README.md");
  const std::string map =
      readme.substr(readme.find("## Map"), readme.find("## Limits") - readme.find("## Map"));
  const std::regex room("\n- `([a-z_]+)/`");
  for (const std::string layer : {"trace", "backends", "replay"}) {
    const std::string text = ReadText(kSource / layer / "README.md");
    for (std::sregex_iterator i(text.begin(), text.end(), room), end; i != end; ++i) {
      const std::string name = (*i)[1];
      EXPECT_TRUE(std::regex_search(map, std::regex("\\b" + name + "\\b"))) << layer << "/" << name;
    }
  }
}

TEST(Readmes, FolderReadmesNameTheirFiles) {
  for (const std::string folder : {"proto", "examples", "examples/sweeps"}) {
    const std::string readme = ReadText(kSource / folder / "README.md");
    for (const auto& entry : fs::directory_iterator(kSource / folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "README.md" || name == "CMakeLists.txt") continue;
      EXPECT_THAT(readme, testing::HasSubstr(name)) << folder;
    }
  }
}

}  // namespace
}  // namespace chakra::guide::CHAKRA_FILE
