# What each kind of package has. Read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL binary debian)
else()
  set(CPACK_COMPONENTS_ALL binary manual libraries)
endif()
