# The installed package: headers, the libraries, targets, and what find_package(gantry) reads. gantry::gantry is headers
# alone, gantry::runtime compiles and loads kernels at run time, and both need nothing else; gantry::sim is there where the
# package was built with it and Boost.Context is found.

include(CMakePackageConfigHelpers)

set(_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gantry")

install(TARGETS gantry_headers gantry_runtime EXPORT gantryTargets)
if(TARGET gantry_sim)
  install(TARGETS gantry_sim EXPORT gantrySimTargets)
  install(EXPORT gantrySimTargets NAMESPACE gantry:: DESTINATION "${_config_dir}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gantry" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT gantryTargets NAMESPACE gantry:: DESTINATION "${_config_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/gantryConfig.cmake.in" "${PROJECT_BINARY_DIR}/gantryConfig.cmake"
  INSTALL_DESTINATION "${_config_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/gantryConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gantryConfig.cmake" "${PROJECT_BINARY_DIR}/gantryConfigVersion.cmake"
        DESTINATION "${_config_dir}")
