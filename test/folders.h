// Where a build's tests find their files. The paths are data of one object file, not macros of each command line, so
// that a compiler cache takes all other objects from checkouts elsewhere.
#ifndef CHAKRA_TEST_FOLDERS_H_
#define CHAKRA_TEST_FOLDERS_H_

// The root of the source tree.
extern const char* const CHAKRA_SOURCE_DIR;
// Traces and measurements of others. The folder may be absent: a test that needs it is then skipped.
extern const char* const CHAKRA_SHARED_DATA;
// The program under test.
extern const char* const CHAKRA_BINARY;

#endif  // CHAKRA_TEST_FOLDERS_H_
