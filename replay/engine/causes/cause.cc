#include "replay/engine/causes/cause.h"

namespace chakra {

// A chain may be as long as the run has steps, so chains are freed without recursion.
void CauseRef::Drop(Cause* cause) {
  while (cause != nullptr && --cause->refs == 0) {
    Cause* parent = std::exchange(cause->parent.cause_, nullptr);
    delete cause;
    cause = parent;
  }
}

CauseRef Because(CauseRef parent, Cause&& cause) {
  if (cause.at == parent.at()) return parent;
  auto* made = new Cause(std::move(cause));
  made->parent = std::move(parent);
  made->refs = 1;
  return CauseRef(made);
}

}  // namespace chakra
