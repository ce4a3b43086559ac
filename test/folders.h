// The folders of the tests' files. The paths are data of one object file, not macros of each command line, so
// that a compiler cache can reuse all other objects between checkouts.
#ifndef CHAKRA_TEST_FOLDERS_H_
#define CHAKRA_TEST_FOLDERS_H_

// The root of the source tree.
extern const char* const CHAKRA_SOURCE_DIR;
// Traces and measurements from other sources. If the folder is absent, tests that need it are skipped.
extern const char* const CHAKRA_SHARED_DATA;
// The program under test.
extern const char* const CHAKRA_BINARY;

#endif  // CHAKRA_TEST_FOLDERS_H_
