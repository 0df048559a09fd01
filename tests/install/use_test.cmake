# Run by install_test.cmake, from a copy, with: work, version, generator, compiler, sanitize.

include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(flags "")
if(sanitize)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${sanitize}")
endif()
run(${CMAKE_COMMAND} -S "${work}/consumer" -B "${work}/build" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DGANTRY_VERSION_WANTED=${version}" ${flags})
run(${CMAKE_COMMAND} --build "${work}/build")
run("${work}/build/consumer")
run("${work}/build/simulate")
run("${work}/build/product")
run("${work}/build/product_linked")
run("${work}/build/compile" "${work}/cache")

# As the guide has them, and with the other library each. All four ways of both languages: moved_test.cmake.
set(ENV{GANTRY_CACHE_DIR} "${work}/cache")
use_guide(cpp find_package shared)
use_guide(c find_package shared)
use_guide(c pkg-config shared)
use_guide(c find_package static)
use_guide(cpp pkg-config static)
