// The commit that the binary was built of.
#pragma once

namespace chakra::cli {

// " (commit 0123456789ab)", with a + after a commit that files differ from; "": built from no checkout. The build writes it
// (commit.cmake).
extern const char* const kCommit;

}  // namespace chakra::cli
