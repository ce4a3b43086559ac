// Circles of includes among the files of one folder.
#pragma once

#include <string>
#include <vector>

#include "test/house/rooms.h"

namespace chakra::house {

// One line for each set of more than `most` files of one folder that all include each other, directly or
// through others of the folder. x.h with x.cc is one file: a header with types, and a .cc that calls parts
// that use the types, make a small circle.
std::vector<std::string> FileCircles(const Tree& tree, size_t most);

}  // namespace chakra::house
