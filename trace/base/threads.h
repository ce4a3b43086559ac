// The default number of threads.
#pragma once

#include <algorithm>
#include <thread>

namespace chakra {

// The number of threads if none is given: that of the machine, at least 1.
inline int DefaultThreads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace chakra
