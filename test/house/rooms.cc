#include "test/house/rooms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <utility>

#include "re2/re2.h"

namespace chakra::house {
namespace {

namespace fs = std::filesystem;

bool IsCode(const std::string& path) { return path.ends_with(".h") || path.ends_with(".cc"); }

// The folders that contain folders with code.
std::set<std::string> FoldersWithRooms(const Tree& tree) {
  std::set<std::string> out;
  for (const auto& [path, text] : tree.text) {
    if (!IsCode(path)) continue;
    for (std::string f = Folder(Folder(path)); !f.empty(); f = Folder(f)) out.insert(f);
  }
  return out;
}

size_t LayerOf(const Tree& tree, const std::string& path) {
  const std::string layer = path.substr(0, path.find('/'));
  return static_cast<size_t>(std::find(tree.layers.begin(), tree.layers.end(), layer) - tree.layers.begin());
}

// The names under "## Rooms" of a README, in order.
std::vector<std::string> ListedRooms(const std::string& readme) {
  static const RE2 kItem("^- `([a-z0-9_]+)/`");
  std::vector<std::string> out;
  std::istringstream lines(readme);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## Rooms";
    std::string room;
    if (inside && RE2::PartialMatch(line, kItem, &room)) out.push_back(room);
  }
  return out;
}

// The index after the next `end` from `i` on that is not escaped.
size_t Behind(const std::string& text, size_t i, char end) {
  while (i < text.size() && text[i] != end && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// The text without comments, quoted text and lines of the preprocessor.
std::string Stripped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool digit_before = i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1]));  // 1'000
    if (c == 'R' && text.compare(i, 2, "R\"") == 0 && !digit_before) {
      const size_t open = text.find('(', i);
      const std::string close = ")" + text.substr(i + 2, open - i - 2) + "\"";
      const size_t end = text.find(close, open);
      i = end == std::string::npos ? text.size() : end + close.size();
    } else if (c == '"' || (c == '\'' && !digit_before)) {
      i = Behind(text, i + 1, c);
    } else if (c == '#' || text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

// Calls `found` with the full name of each type that `text` defines outside of unnamed namespaces and
// functions.
void ForEachType(const std::string& text, const std::function<void(const std::string&)>& found) {
  static const RE2 kToken(
      R"((\bnamespace\s+([\w:]*)\s*\{|\benum\s+(?:class\s+|struct\s+)?([\w:]+)[^;{}()]*\{|\b(?:class|struct|union)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{|template\s*<[^;{}()]*>|[{}]))");
  struct Scope {
    std::string name;
    bool open;  // types in it count
  };
  std::vector<Scope> scopes = {{"", true}};
  re2::StringPiece rest(text);
  std::string token, space, values, type;
  while (RE2::FindAndConsume(&rest, kToken, &token, &space, &values, &type)) {
    if (token.starts_with("template")) continue;
    if (token == "}") {
      if (scopes.size() > 1) scopes.pop_back();
      continue;
    }
    const Scope& in = scopes.back();
    if (token.starts_with("namespace")) {
      scopes.push_back({in.name + "::" + space, in.open && !space.empty()});
      continue;
    }
    const std::string name = values.empty() ? type : values;
    if (name.empty() || name.find("::") != std::string::npos) {
      scopes.push_back({in.name, false});  // a function's body, values, or a type that its class declares
      continue;
    }
    const std::string full = in.name + "::" + name;
    const bool open = in.open;
    if (open) found(full);
    scopes.push_back({full, open});
  }
}

struct Local {
  std::string name, alias;  // alias: the name's target; "" for a type, a function or a constant
};

// The name that a declaration in an unnamed namespace declares; "": none.
Local LocalOf(const std::string& declaration) {
  static const RE2 kAlias(R"((?s)\b(?:using|namespace)\s+(\w+)\s*=\s*(.*))");
  static const RE2 kUsing(R"(\busing\b)");
  static const RE2 kType(
      R"((?s)\b(?:class|struct|union|enum)\s+(?:class\s+|struct\s+)?([A-Z]\w*)\s*(?:final\s*)?(?::[^:].*)?$)");
  static const RE2 kFunction(R"((?s)^[^=]*[\w>&*]\s+[&*]?([A-Z]\w*)\s*\()");
  static const RE2 kConstant(R"(\b(k[A-Z]\w*)\s*(?:\[[^=]*\])?\s*(?:=|$))");
  Local local;
  if (RE2::PartialMatch(declaration, kAlias, &local.name, &local.alias) ||
      RE2::PartialMatch(declaration, kUsing) || RE2::PartialMatch(declaration, kType, &local.name) ||
      RE2::PartialMatch(declaration, kFunction, &local.name))
    return local;
  RE2::PartialMatch(declaration, kConstant, &local.name);
  return local;
}

// The local names of all unnamed namespaces of a file, outside of types and functions; by name, with their
// aliases.
std::map<std::string, std::string> LocalNames(const std::string& text) {
  static const RE2 kBegin(R"(\bnamespace\s*\{)");
  std::map<std::string, std::string> out;
  re2::StringPiece rest(text);
  while (RE2::FindAndConsume(&rest, kBegin)) {
    std::string declaration;
    int depth = 1;
    size_t i = 0;
    for (; i < rest.size() && depth > 0; ++i) {
      const char c = rest[i];
      if (c == '}') --depth;
      if (depth == 1 && (c == '{' || c == ';')) {
        Local local = LocalOf(declaration);
        out.emplace(std::move(local.name), std::move(local.alias));
        declaration.clear();
      } else if (depth == 1 && c != '}') {
        declaration += c;
      }
      if (c == '{') ++depth;
    }
    rest.remove_prefix(i);
  }
  out.erase("");
  return out;
}

}  // namespace

std::string Folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string Stem(const std::string& path) { return path.substr(0, path.rfind('.')); }

Tree ReadTree(const fs::path& root, std::vector<std::string> layers) {
  Tree tree{std::move(layers), {}};
  for (const std::string& layer : tree.layers) {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(root / layer)) {
      const std::string path = fs::relative(e.path(), root).generic_string();
      if (!e.is_regular_file() || !(IsCode(path) || e.path().filename() == "README.md")) continue;
      std::ifstream in(e.path(), std::ios::binary);
      tree.text[path] = std::string(std::istreambuf_iterator<char>(in), {});
    }
  }
  return tree;
}

std::vector<Arrow> Includes(const Tree& tree) {
  static const RE2 kInclude("(?m)^#include \"([^\"]+)\"");
  std::vector<Arrow> out;
  for (const auto& [path, text] : tree.text) {
    if (!IsCode(path)) continue;
    re2::StringPiece rest(text);
    for (std::string to; RE2::FindAndConsume(&rest, kInclude, &to);) {
      if (tree.text.contains(to)) out.push_back({path, to});
    }
  }
  return out;
}

std::string RoomOf(const Tree& tree, const std::string& file) {
  const std::string folder = Folder(file);
  for (const auto& [path, text] : tree.text) {
    if (IsCode(path) && path.starts_with(folder + "/") && Folder(path) != folder) return Stem(file);
  }
  return folder;
}

std::vector<std::string> Circles(const Tree& tree) {
  const std::set<std::string> with_rooms = FoldersWithRooms(tree);
  const auto room = [&](const std::string& file) {
    const std::string folder = Folder(file);
    return with_rooms.contains(folder) ? Stem(file) : folder;
  };
  std::map<std::string, std::map<std::string, Arrow>> graph;  // room to room: an include that makes the arrow
  for (const Arrow& a : Includes(tree)) {
    const std::string from = room(a.from), to = room(a.to);
    if (from != to) graph[from].try_emplace(to, a);
  }
  // Depth first: an arrow to a room that is open closes a circle. Each room is visited once, so each strongly
  // connected part gives at least one circle.
  std::vector<std::string> out;
  std::map<std::string, int> state;  // 0 new, 1 open, 2 done
  std::vector<std::string> way;
  const std::function<void(const std::string&)> visit = [&](const std::string& r) {
    state[r] = 1;
    way.push_back(r);
    for (const auto& [to, arrow] : graph[r]) {
      if (state[to] == 0) visit(to);
      if (state[to] != 1 || std::find(way.begin(), way.end(), to) == way.end()) continue;
      std::string line = "a circle of rooms:";
      for (auto i = std::find(way.begin(), way.end(), to); i != way.end(); ++i) {
        const std::string& next = i + 1 == way.end() ? to : *(i + 1);
        const Arrow& by = graph[*i].at(next);
        line += "\n  " + *i + " -> " + next + " (" + by.from + " includes " + by.to + ")";
      }
      out.push_back(std::move(line));
    }
    way.pop_back();
    state[r] = 2;
  };
  std::vector<std::string> rooms;
  for (const auto& [r, to] : graph) rooms.push_back(r);
  for (const std::string& r : rooms) {
    if (state[r] == 0) visit(r);
  }
  return out;
}

std::vector<std::string> ArrowsUp(const Tree& tree) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::string>> order;  // of folders whose README lists rooms
  for (const auto& [path, text] : tree.text) {
    if (!path.ends_with("/README.md")) continue;
    std::vector<std::string> rooms = ListedRooms(text);
    if (rooms.empty()) continue;
    const std::string folder = Folder(path);
    std::set<std::string> there;
    for (const auto& [file, code] : tree.text) {
      if (!IsCode(file) || !file.starts_with(folder + "/")) continue;
      const std::string rest = file.substr(folder.size() + 1);
      if (const size_t slash = rest.find('/'); slash != std::string::npos)
        there.insert(rest.substr(0, slash));
    }
    for (const std::string& room : there) {
      if (std::find(rooms.begin(), rooms.end(), room) == rooms.end())
        out.push_back(path + ": \"## Rooms\" leaves out " + room + "/");
    }
    for (const std::string& room : rooms) {
      if (!there.contains(room))
        out.push_back(path + ": \"## Rooms\" has " + room + "/, which does not exist");
    }
    order[folder] = std::move(rooms);
  }
  for (const Arrow& a : Includes(tree)) {
    if (LayerOf(tree, a.from) < LayerOf(tree, a.to)) {
      out.push_back(a.from + " includes " + a.to + ", of a layer above");
      continue;
    }
    for (const auto& [folder, rooms] : order) {
      const auto place = [&, &folder = folder, &rooms = rooms](const std::string& file) {
        if (!file.starts_with(folder + "/")) return rooms.end();
        const std::string rest = file.substr(folder.size() + 1);
        return std::find(rooms.begin(), rooms.end(), rest.substr(0, rest.find('/')));
      };
      const auto from = place(a.from), to = place(a.to);
      if (from != rooms.end() && to != rooms.end() && from < to)
        out.push_back(a.from + " includes " + a.to + ", of a room below in " + folder + "/README.md");
    }
  }
  return out;
}

std::vector<std::string> TypesTwice(const Tree& tree) {
  std::map<std::string, std::string> first;  // full name to file
  std::vector<std::string> out;
  for (const auto& [path, text] : tree.text) {
    if (!IsCode(path)) continue;
    ForEachType(Stripped(text), [&, &path = path](const std::string& name) {
      const auto [it, fresh] = first.try_emplace(name, path);
      if (!fresh && it->second != path)
        out.push_back(name.substr(2) + " is defined in " + it->second + " and in " + path);
    });
  }
  return out;
}

// The room whose files CMakeLists.txt compiles together: "replay/engine" of "replay/engine/match/match.cc".
std::string CompiledTogether(const std::string& path) {
  const std::string folder = Folder(path);
  const size_t layer = folder.find('/');
  return layer == std::string::npos ? folder : folder.substr(0, folder.find('/', layer + 1));
}

// The first namespace with a name in the file.
std::string NamespaceOf(const std::string& text) {
  static const RE2 kNamespace(R"(\bnamespace\s+([\w:]+)\s*\{)");
  std::string name;
  RE2::PartialMatch(text, kNamespace, &name);
  return name;
}

std::vector<std::string> LocalNamesTwice(const Tree& tree) {
  struct First {
    std::string file, alias;
  };
  std::map<std::array<std::string, 3>, First> first;  // by room, namespace and name
  std::vector<std::string> out;
  for (const auto& [path, text] : tree.text) {
    if (!path.ends_with(".cc")) continue;
    const std::string code = Stripped(text);
    for (const auto& [name, alias] : LocalNames(code)) {
      const auto [it, fresh] =
          first.try_emplace({CompiledTogether(path), NamespaceOf(code), name}, First{path, alias});
      if (!fresh && (alias.empty() || alias != it->second.alias))
        out.push_back(name + " is a local name in " + it->second.file + " and in " + path);
    }
  }
  return out;
}

std::vector<std::string> FoldersTooFull(const Tree& tree, size_t most) {
  std::map<std::string, std::set<std::string>> sources;  // by folder
  for (const auto& [path, text] : tree.text) {
    if (IsCode(path)) sources[Folder(path)].insert(Stem(path));
  }
  std::vector<std::string> out;
  for (const auto& [folder, files] : sources) {
    if (files.size() > most)
      out.push_back(folder + " has " + std::to_string(files.size()) + " sources; expected at most " +
                    std::to_string(most) + ", or rooms");
  }
  return out;
}

std::vector<std::string> FilesUnlisted(const Tree& tree) {
  static const RE2 kName(R"(`([a-zA-Z0-9_]+)(\*|\.h|\.cc|\.\*|\.\{h,cc\})`)");
  std::vector<std::string> out;
  for (const auto& [path, text] : tree.text) {
    if (!path.ends_with("/README.md")) continue;
    const std::string folder = Folder(path);
    std::set<std::string> left;
    for (const auto& [file, code] : tree.text) {
      if (IsCode(file) && Folder(file) == folder) left.insert(Stem(file).substr(folder.size() + 1));
    }
    const std::set<std::string> stems = left;
    std::istringstream lines(text);
    bool lists = false, inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("| file |")) lists = inside = true;
      if (!line.starts_with("|")) inside = false;
      if (!inside) continue;
      re2::StringPiece cells(line);
      for (std::string name, ending; RE2::FindAndConsume(&cells, kName, &name, &ending);) {
        const bool prefix = ending == "*";
        bool found = false;
        for (const std::string& stem : stems) {
          if (prefix ? !stem.starts_with(name) : stem != name) continue;
          left.erase(stem);
          found = true;
        }
        if (!found) out.push_back(path + " lists `" + name + ending + "`, which does not exist");
      }
    }
    if (!lists) continue;
    for (const std::string& stem : left) out.push_back(path + " lists files and leaves out " + stem);
  }
  return out;
}

}  // namespace chakra::house
