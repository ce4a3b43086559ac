// The commit from which the binary was built.
#pragma once

namespace chakra::cli {

// " (commit 0123456789ab)", with a + if files differ from the commit; "": not built from a git checkout. The
// build generates its definition (commit.cmake).
extern const char* const kCommit;

}  // namespace chakra::cli
