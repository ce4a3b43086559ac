# cmake -DFOLDER=CHECKOUT -DOUT=FILE.cc -P commit.cmake: writes kCommit (commit.h), where it changed.
cmake_minimum_required(VERSION 3.25)
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${FOLDER}/.git)
  execute_process(COMMAND ${GIT} -C ${FOLDER} describe --always --dirty=+ --abbrev=12 --exclude=* OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit)
  set(commit " (commit ${commit})")
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "#include \"replay/cli/commit.h\"

namespace chakra::cli {

const char* const kCommit = \"@commit@\";

}  // namespace chakra::cli
")
