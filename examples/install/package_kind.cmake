# What each kind of package has. Read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL binary shell debian)
else()
  set(CPACK_COMPONENTS_ALL shell manual folder)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
