// Early returns of errors. The library's headers do without them: they are not to define macros for whoever
// includes them.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the absl::Status that the expression gives, if it is an error:
//   RETURN_IF_ERROR(Check(spec));
// It is one statement, and may be the branch of an if without braces.
#define RETURN_IF_ERROR(...) CHAKRA_RETURN_IF_ERROR(CHAKRA_NEW_NAME(chakra_status_), __VA_ARGS__)

// Returns the error of the absl::StatusOr<T> that the expression gives, or moves its value to `lhs`, which is
// a declaration or names something to assign to:
//   ASSIGN_OR_RETURN(const std::string text, ReadText(path));
//   ASSIGN_OR_RETURN(out->rate, ParseRate(text));
// A reference is to a value that lives as long as the scope. A comma that no parenthesis encloses wants one
// around `lhs`, and so does a parenthesis at its beginning:
//   ASSIGN_OR_RETURN((auto [rank, node]), Locate(name));
// These are several statements: an if needs its braces.
#define ASSIGN_OR_RETURN(lhs, ...) CHAKRA_ASSIGN_OR_RETURN(CHAKRA_NEW_NAME(chakra_value_), lhs, __VA_ARGS__)

// What follows is only for the two above.
#define CHAKRA_RETURN_IF_ERROR(status, ...)                               \
  do {                                                                    \
    if (absl::Status status = (__VA_ARGS__); !status.ok()) return status; \
  } while (false)

#define CHAKRA_ASSIGN_OR_RETURN(value, lhs, ...)     \
  auto value = (__VA_ARGS__);                        \
  if (!value.ok()) return std::move(value).status(); \
  CHAKRA_BARE(lhs) = *std::move(value)

// A name for each use, also of uses within the argument of another, which are all on one line for the
// compiler.
#define CHAKRA_NEW_NAME(prefix) CHAKRA_PASTE(prefix, __COUNTER__)
#define CHAKRA_PASTE(a, ...) CHAKRA_PASTE_AS_IS(a, __VA_ARGS__)
#define CHAKRA_PASTE_AS_IS(a, ...) a##__VA_ARGS__

// `lhs` without a parenthesis around it. CHAKRA_BARE_ (a, b) becomes CHAKRA_BARE_ a, b; without a parenthesis
// it is no call and stays. Then the word before is pasted to it, which makes a macro of nothing.
#define CHAKRA_BARE(lhs) CHAKRA_PASTE(CHAKRA_NO_, CHAKRA_BARE_ lhs)
#define CHAKRA_BARE_(...) CHAKRA_BARE_ __VA_ARGS__
#define CHAKRA_NO_CHAKRA_BARE_
