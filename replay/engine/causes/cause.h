// Why something happened when it did: what ended last of all that it waited for.
//
// Each cause has one parent, so that the causes of a run are a tree whose root is time 0, and the way from
// the last event to the root is a critical path of the run, exact by construction. Only what leads to
// something that is still under way is kept: memory grows with that, not with the run.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

struct Cause;

// Shared ownership of a cause; null: time 0. Not for several threads.
class CauseRef {
 public:
  CauseRef() = default;
  CauseRef(const CauseRef& o);
  CauseRef(CauseRef&& o) noexcept : cause_(std::exchange(o.cause_, nullptr)) {}
  CauseRef& operator=(CauseRef o) noexcept {
    std::swap(cause_, o.cause_);
    return *this;
  }
  ~CauseRef() {
    if (cause_ != nullptr) Drop(cause_);
  }
  const Cause* get() const { return cause_; }
  const Cause* operator->() const { return cause_; }
  // When it was over.
  Time at() const;

 private:
  friend CauseRef Because(CauseRef parent, Cause&& cause);
  explicit CauseRef(Cause* cause) : cause_(cause) {}
  static void Drop(Cause* cause);
  Cause* cause_ = nullptr;
};

// What took the time from the end of its parent to its own end.
struct Cause {
  enum Kind : uint8_t {
    kNode,      // the node: computation, memory, or a transfer as it was recorded
    kDelay,     // of a dependency, before the node
    kStart,     // of the rank, which began late
    kFlow,      // a message, from its start to its receipt
    kSending,   // a message, until its last byte had left
    kOverhead,  // what a collective's library does beside the wire
    kReduce,    // a collective's copies and reductions
    kClosed,    // a collective in closed form, from the arrival of member `src` to the end of member `dst`
  };
  Kind kind = kNode;
  bool message = false;  // `of` is one of Matching::messages, else of Matching::calls
  uint32_t rank = 0;     // whose node the time is spent for
  uint32_t row = kNoRow;
  uint32_t of = kNoRow;
  int src = 0, dst = 0;  // kFlow, kSending: end points of the fabric
  uint64_t bytes = 0;    // kFlow, kSending: on the links
  Time software;         // kFlow: Flow::delay
  Time at;               // its end
  CauseRef parent;       // as the next, set by Because()
  mutable uint32_t refs = 0;
};

// `cause`, which came after `parent`. One that took no time is nothing: the parent itself.
CauseRef Because(CauseRef parent, Cause&& cause);

inline CauseRef::CauseRef(const CauseRef& o) : cause_(o.cause_) {
  if (cause_ != nullptr) ++cause_->refs;
}

inline Time CauseRef::at() const { return cause_ == nullptr ? Time::Zero() : cause_->at; }

}  // namespace chakra
