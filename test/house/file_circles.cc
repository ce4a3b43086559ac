#include "test/house/file_circles.h"

#include <map>
#include <set>

namespace chakra::house {
namespace {

using FileGraph = std::map<std::string, std::set<std::string>>;  // stem to stems of the same folder

FileGraph IncludesInFolders(const Tree& tree) {
  FileGraph out;
  for (const Arrow& a : Includes(tree)) {
    if (Folder(a.to) == Folder(a.from) && Stem(a.to) != Stem(a.from)) out[Stem(a.from)].insert(Stem(a.to));
  }
  return out;
}

std::set<std::string> Reached(const FileGraph& includes, const std::string& from) {
  std::set<std::string> out;
  std::vector<std::string> next = {from};
  while (!next.empty()) {
    const std::string at = next.back();
    next.pop_back();
    const auto it = includes.find(at);
    if (it == includes.end()) continue;
    for (const std::string& to : it->second) {
      if (out.insert(to).second) next.push_back(to);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> FileCircles(const Tree& tree, size_t most) {
  const FileGraph includes = IncludesInFolders(tree);
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [stem, to] : includes) reached[stem] = Reached(includes, stem);
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& [stem, all] : reached) {
    std::set<std::string> circle;
    for (const std::string& other : all) {
      const auto back = reached.find(other);
      if (back != reached.end() && back->second.contains(stem)) circle.insert(other);
    }
    if (circle.size() <= most || !seen.insert(*circle.begin()).second) continue;
    std::string line = std::to_string(circle.size()) + " files include each other:";
    for (const std::string& file : circle) line += " " + file;
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace chakra::house
