// How many threads a program uses.
#pragma once

#include <algorithm>
#include <thread>

namespace chakra {

// Where nobody says: the machine's, at least 1.
inline int DefaultThreads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace chakra
