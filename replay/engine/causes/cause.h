// Causes: why an event of a run happened when it did. Of all that an event waited for, its cause is what
// ended last.
//
// Each cause has one parent, so the causes of a run form a tree whose root is time 0. The path from the last
// event to the root is a critical path of the run, exact by construction. Only causes that lead to something
// still under way are kept: memory grows with the work under way, not with the length of the run.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

struct Cause;

// Shared ownership of a cause; null: time 0. Not thread-safe.
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
  // When the cause ended.
  Time at() const;

 private:
  friend CauseRef Because(CauseRef parent, Cause&& cause);
  explicit CauseRef(Cause* cause) : cause_(cause) {}
  static void Drop(Cause* cause);
  Cause* cause_ = nullptr;
};

// A cause spans the time from the end of its parent to its own end.
struct Cause {
  enum Kind : uint8_t {
    kNode,      // a node: computation, memory, or a recorded transfer
    kDelay,     // the delay of a dependency, before the node
    kStart,     // a rank that began late
    kFlow,      // a message, from its start to its receipt
    kSending,   // a message, until its last byte had left
    kOverhead,  // work of a collective library, other than on the wire
    kReduce,    // a collective's copies and reductions
    kClosed,    // a collective in closed form, from the arrival of member `src` to the end of member `dst`
  };
  Kind kind = kNode;
  bool message = false;  // true: `of` is an index into Matching::messages; false: into Matching::calls
  uint32_t rank = 0;     // `rank` and `row`: the node that the time is spent for
  uint32_t row = kNoRow;
  uint32_t of = kNoRow;  // kDelay: the row of the dependency; else see `message`
  int src = 0, dst = 0;  // kFlow, kSending: end points of the fabric
  uint64_t bytes = 0;    // kFlow, kSending: on the links
  Bandwidth limit;       // kFlow, kSending: Flow::limit
  Time software;         // kFlow: Flow::delay; kSending: the sender's software time
  Time at;               // when the cause ended
  CauseRef parent;       // set by Because(), like `refs`
  mutable uint32_t refs = 0;
};

// Adds `cause` after `parent`. A cause that took no time is dropped; the result is then `parent`.
CauseRef Because(CauseRef parent, Cause&& cause);

inline CauseRef::CauseRef(const CauseRef& o) : cause_(o.cause_) {
  if (cause_ != nullptr) ++cause_->refs;
}

inline Time CauseRef::at() const { return cause_ == nullptr ? Time::Zero() : cause_->at; }

}  // namespace chakra
