// The rooms of a source tree, by its includes, and the breaches of the design's rules for rooms.
//
// A room is a folder. In a folder that has rooms of its own, each flat file (x.h with x.cc) counts as a room:
// such files are the folder's interface, and the rooms that they include may include other flat files.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace chakra::house {

struct Tree {
  std::vector<std::string> layers;          // folders, the lowest first
  std::map<std::string, std::string> text;  // of .h and .cc files and of each README.md, by path
};

// The C++ files and READMEs of the layers. Precondition: `root` and the layers exist.
Tree ReadTree(const std::filesystem::path& root, std::vector<std::string> layers);

// An include of a file of the tree by another.
struct Arrow {
  std::string from, to;  // files
};
std::vector<Arrow> Includes(const Tree& tree);

std::string Folder(const std::string& path);  // "" for a path without a folder
std::string Stem(const std::string& path);    // the path without its ending

// The room of a file: "trace/io", or "backends/fabric" for a flat file of a folder with rooms.
std::string RoomOf(const Tree& tree, const std::string& file);

// One line for each circle of rooms: the rooms, and an include for each arrow of the circle.
std::vector<std::string> Circles(const Tree& tree);

// One line for each include from a layer to a higher layer, and for each include from a room to a room that
// comes later under "## Rooms" of their folder's README.md ("- `name/`: what", the lowest first). Also one
// line for each room that the list leaves out, and for each that does not exist.
std::vector<std::string> ArrowsUp(const Tree& tree);

// One line for each class, struct, union or enum that is defined in two files with one full name: the linker
// would take them for one. Unnamed namespaces do not count.
std::vector<std::string> TypesTwice(const Tree& tree);

// One line for each type, function or constant that two files of one room ("replay/engine" and its folders)
// have in unnamed namespaces of the same namespace: the files of a room are compiled together. Overloads
// count too.
std::vector<std::string> LocalNamesTwice(const Tree& tree);

// One line for each folder with more than `most` sources directly in it. x.h with x.cc is one source.
std::vector<std::string> FoldersTooFull(const Tree& tree, size_t most);

// If a folder's README.md lists its files (a table that begins with "| file |"): one line for each C++ file
// of the folder that the table leaves out, and for each name in the table without a file.
std::vector<std::string> FilesUnlisted(const Tree& tree);

}  // namespace chakra::house
