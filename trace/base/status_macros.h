// Macros that return early on errors. The library's public headers do not include this file, because they
// must not define macros for their users.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the absl::Status of the expression if it is an error:
//   RETURN_IF_ERROR(Check(spec));
// The macro is a single statement, so it may be the branch of an if without braces.
#define RETURN_IF_ERROR(...) CHAKRA_RETURN_IF_ERROR(CHAKRA_NEW_NAME(chakra_status_), __VA_ARGS__)

// Returns the error of the absl::StatusOr<T> expression, or moves its value to `lhs`, a declaration or an
// assignable expression:
//   ASSIGN_OR_RETURN(const std::string text, ReadText(path));
//   ASSIGN_OR_RETURN(out->rate, ParseRate(text));
// If `lhs` declares a reference, the value lives until the end of the scope. If `lhs` begins with a
// parenthesis, or has a comma outside of parentheses, put parentheses around it:
//   ASSIGN_OR_RETURN((auto [rank, node]), Locate(name));
// The macro is several statements, so an if needs braces.
#define ASSIGN_OR_RETURN(lhs, ...) CHAKRA_ASSIGN_OR_RETURN(CHAKRA_NEW_NAME(chakra_value_), lhs, __VA_ARGS__)

// Implementation of the two macros above.
#define CHAKRA_RETURN_IF_ERROR(status, ...)                               \
  do {                                                                    \
    if (absl::Status status = (__VA_ARGS__); !status.ok()) return status; \
  } while (false)

#define CHAKRA_ASSIGN_OR_RETURN(value, lhs, ...)     \
  auto value = (__VA_ARGS__);                        \
  if (!value.ok()) return std::move(value).status(); \
  CHAKRA_BARE(lhs) = *std::move(value)

// Makes a new name at each use. __LINE__ would not do: nested uses, in the argument of another use, are on
// the same line for the compiler.
#define CHAKRA_NEW_NAME(prefix) CHAKRA_PASTE(prefix, __COUNTER__)
#define CHAKRA_PASTE(a, ...) CHAKRA_PASTE_AS_IS(a, __VA_ARGS__)
#define CHAKRA_PASTE_AS_IS(a, ...) a##__VA_ARGS__

// Removes the parentheses around `lhs`, if any. CHAKRA_BARE_ (a, b) is a macro call, which gives CHAKRA_BARE_
// a, b. Without parentheses, CHAKRA_BARE_ is not called and stays. Pasting CHAKRA_NO_ to it then gives an
// empty macro.
#define CHAKRA_BARE(lhs) CHAKRA_PASTE(CHAKRA_NO_, CHAKRA_BARE_ lhs)
#define CHAKRA_BARE_(...) CHAKRA_BARE_ __VA_ARGS__
#define CHAKRA_NO_CHAKRA_BARE_
