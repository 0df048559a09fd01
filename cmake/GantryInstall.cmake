# The installed package: headers, the libraries, targets, what find_package(gantry) and pkg-config read, the licence and the
# documentation. gantry::gantry is headers alone, gantry::planning has what they would make inline, gantry::runtime compiles
# and loads kernels at run time, and all three need nothing else, not even these headers at run time; gantry::library_shared
# is there where the package was built with the simulated SM, for projects in C too; gantry::sim and gantry::library_static
# where Boost.Context is found besides.

include(CMakePackageConfigHelpers)

set(_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gantry")

install(TARGETS gantry_headers gantry_planning gantry_runtime EXPORT gantryTargets)
if(TARGET gantry_sim)
  install(TARGETS gantry_shared EXPORT gantryTargets)
  install(TARGETS gantry_sim gantry_simulated gantry_static EXPORT gantrySimTargets)
  install(EXPORT gantrySimTargets NAMESPACE gantry:: DESTINATION "${_config_dir}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gantry" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT gantryTargets NAMESPACE gantry:: DESTINATION "${_config_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/gantryConfig.cmake.in" "${PROJECT_BINARY_DIR}/gantryConfig.cmake"
  INSTALL_DESTINATION "${_config_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/gantryConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gantryConfig.cmake" "${PROJECT_BINARY_DIR}/gantryConfigVersion.cmake"
        DESTINATION "${_config_dir}")

# The prefix as it is seen from the folder of the .pc files, so that an installation can be moved.
set(_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH GANTRY_PC_PREFIX "/${_pc_dir}" "/")
string(REGEX REPLACE "/$" "" GANTRY_PC_PREFIX "${GANTRY_PC_PREFIX}")
set(_packages gantry gantry-planning gantry-runtime)
if(TARGET gantry_shared)
  list(APPEND _packages libgantry libgantry-static)
endif()
foreach(_package IN LISTS _packages)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${_package}.pc.in" "${PROJECT_BINARY_DIR}/${_package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${_package}.pc" DESTINATION "${_pc_dir}")
endforeach()
