// What `analytical` and `analytical-fifo` may be asked for.
#pragma once

#include "backends/fabric_options.h"

namespace chakra {

struct PathOptions {
  static constexpr OptionSet kSet = {"store and forward", "is", "; flows are no messages here"};
  bool asked() const { return store_and_forward; }

  bool store_and_forward = false;  // each link takes the whole message before the next does
};

}  // namespace chakra
