# What `cpack` makes of a build: packages for Debian (cpack -G DEB), and a folder that runs wherever it is unpacked, with
# the libraries that it needs and their licences (cpack -G TGZ). What `sweep` needs under mpirun is a Debian package of its
# own, which needs Open MPI; the folder has it too, but not Open MPI, which is to be the one that mpirun is of.
set(CPACK_PACKAGE_NAME chakra-replay)
set(CPACK_PACKAGE_VENDOR chakra-replay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "replay of distributed-training execution traces on simulated clusters")
set(CPACK_PACKAGE_DESCRIPTION "Reads Chakra execution traces, PyTorch captures and recordings of other
profilers, and replays them rank by rank: what a training step would take on
a cluster that is not there. Computation is priced by measured kernels or a
model of the device, collectives become messages that an analytical, fluid
or packet-level network simulates.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "chakra-replay maintainers <maintainers@chakra-replay.example>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_CHAKRA_MPI ${MPI_CXX_FOUND})
foreach(component BINARY SHELL DEBIAN)
  set(CPACK_COMPONENT_${component}_GROUP program)
endforeach()
set(CPACK_COMPONENT_MPI_GROUP mpirun)
set(CPACK_COMPONENT_DEBIAN_MPI_GROUP mpirun)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME chakra-replay)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS chakra-replay-mpi)
set(CPACK_DEBIAN_MPIRUN_PACKAGE_NAME chakra-replay-mpi)
set(CPACK_DEBIAN_MPIRUN_DESCRIPTION "What `chakra-replay sweep` needs where mpirun of Open MPI starts it as
several processes: a module that the program loads there alone.")
set(CPACK_DEBIAN_MPIRUN_PACKAGE_DEPENDS "chakra-replay (= ${PROJECT_VERSION})")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_kind.cmake)

# Of Debian's package alone: what its policy asks for.
set(docs ${CMAKE_BINARY_DIR}/share/doc)
find_program(GZIP gzip REQUIRED)
add_custom_command(
  OUTPUT ${docs}/changelog.gz ${docs}/chakra-replay.1.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${docs}
  COMMAND ${GZIP} -9nc ${CMAKE_CURRENT_LIST_DIR}/debian_changelog > ${docs}/changelog.gz
  COMMAND ${GZIP} -9nc ${CHAKRA_TERMINAL}/chakra-replay.1 > ${docs}/chakra-replay.1.gz
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/debian_changelog chakra-replay VERBATIM)
install(FILES ${docs}/changelog.gz DESTINATION share/doc/chakra-replay COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian_copyright RENAME copyright DESTINATION share/doc/chakra-replay
  COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian_lintian RENAME chakra-replay DESTINATION share/lintian/overrides
  COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${docs}/chakra-replay.1.gz DESTINATION share/man/man1 COMPONENT debian EXCLUDE_FROM_ALL)
# The licences of what the binary has of archives.
install(CODE "execute_process(COMMAND sh \"${CMAKE_CURRENT_LIST_DIR}/licences.sh\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/doc/chakra-replay/libraries\" ${CHAKRA_ARCHIVES} COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${docs}/changelog.gz DESTINATION share/doc/chakra-replay-mpi COMPONENT debian_mpi EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian_copyright RENAME copyright DESTINATION share/doc/chakra-replay-mpi
  COMPONENT debian_mpi EXCLUDE_FROM_ALL)

# Of the folder alone: the binary with its libraries beside it, but for the C library, which belongs to the system. Each
# component is installed to a place of its own.
set(module "")
if(MPI_CXX_FOUND)
  set(module ${CMAKE_BINARY_DIR}/chakra-replay-mpi.so)
endif()
install(CODE "set(binary \"${CMAKE_BINARY_DIR}/chakra-replay\")\nset(module \"${module}\")\nset(strip \"${CMAKE_STRIP}\")
set(here \"${CMAKE_CURRENT_LIST_DIR}\")
set(archives \"${CHAKRA_ARCHIVES}\")" COMPONENT folder EXCLUDE_FROM_ALL)
install(CODE [[
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${binary} RESOLVED_DEPENDENCIES_VAR found
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)\\.so" "^linux-vdso" POST_EXCLUDE_REGEXES "/ld-linux[^/]*$")
  file(MAKE_DIRECTORY "${prefix}/bin" "${prefix}/lib/chakra_replay" "${prefix}/share/doc/chakra-replay")
  file(COPY_FILE ${binary} "${prefix}/bin/chakra-replay")
  set(copies)
  foreach(library ${found})
    get_filename_component(name ${library} NAME)
    file(COPY_FILE ${library} "${prefix}/lib/chakra_replay/${name}")
    list(APPEND copies "${prefix}/lib/chakra_replay/${name}")
  endforeach()
  find_program(PATCHELF patchelf REQUIRED)
  execute_process(COMMAND ${strip} "${prefix}/bin/chakra-replay" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PATCHELF} --set-rpath $ORIGIN/../lib/chakra_replay "${prefix}/bin/chakra-replay"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PATCHELF} --set-rpath $ORIGIN ${copies} COMMAND_ERROR_IS_FATAL ANY)
  if(module)
    file(COPY_FILE ${module} "${prefix}/lib/chakra_replay/chakra-replay-mpi.so")
    execute_process(COMMAND ${strip} "${prefix}/lib/chakra_replay/chakra-replay-mpi.so" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${PATCHELF} --remove-rpath "${prefix}/lib/chakra_replay/chakra-replay-mpi.so"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(COPY_FILE ${here}/../../LICENSE "${prefix}/share/doc/chakra-replay/LICENSE")
  file(COPY_FILE ${here}/debian_copyright "${prefix}/share/doc/chakra-replay/copyright")
  execute_process(COMMAND sh ${here}/licences.sh "${prefix}/share/doc/chakra-replay/libraries" ${found} ${archives}
    COMMAND_ERROR_IS_FATAL ANY)
]] COMPONENT folder EXCLUDE_FROM_ALL)

# Packing builds what is packed, not the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
add_custom_target(chakra_packed ALL DEPENDS chakra-replay ${docs}/changelog.gz)
include(CPack)
