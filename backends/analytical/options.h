// Options of `analytical` and `analytical-fifo`.
#pragma once

#include "backends/fabric_options.h"

namespace chakra {

struct PathOptions {
  static constexpr OptionSet kSet = {"store and forward", "is", "; fluid flows are not messages"};
  bool asked() const { return store_and_forward; }

  bool store_and_forward = false;  // a link receives the whole message before the next link begins
};

}  // namespace chakra
