# Run by ctest with: source, build, consumer, work, version, generator, compiler, sanitize.
#
# Installs what was built, and takes from the source tree what use_test.cmake needs. That builds and runs programs with the
# package where both the source tree and its build are hidden, as far as this machine lets a test hide them.

include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

file(REMOVE_RECURSE "${work}")
run(${CMAKE_COMMAND} --install "${build}" --prefix "${work}/prefix")
if(EXISTS "${work}/prefix/gantry")
  message(FATAL_ERROR "the Python package is installed outside of every Python: ${work}/prefix/gantry")
endif()
if(NOT sanitize)  # whose reports name sources
  refuse_paths("${work}/prefix" "${source}" "${build}")
endif()

# The consumer's source is the C++ example of README.md, so that what the first page shows is what a user can build.
file(COPY "${consumer}/" DESTINATION "${work}/consumer")
code_block("${source}/README.md" cpp "" readme)
file(WRITE "${work}/consumer/main.cpp" "${readme}\nint main() {}\n")
write_guide("${source}/docs/guide/sizes-at-run-time.md" "${work}/guide")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/steps.cmake" "${CMAKE_CURRENT_LIST_DIR}/use_test.cmake" DESTINATION "${work}")

set(hide [[keep=$(mktemp -d) && mount --bind "$3" "$keep" && mount -t tmpfs none "$2" && mount -t tmpfs none "$1" &&
           mkdir -p "$3" && mount --move "$keep" "$3" && rmdir "$keep" && cd "$3" && shift 3 && exec "$@"]])
set(hidden unshare -rm sh -c "${hide}" sh "${source}" "${build}" "${work}")
execute_process(COMMAND ${hidden} test ! -e "${source}/CMakeLists.txt" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(STATUS "the source tree cannot be hidden here: the programs are built and run beside it")
  set(hidden "")
endif()
run(${hidden} ${CMAKE_COMMAND} -D "work=${work}" -D "version=${version}" -D "generator=${generator}"
    -D "compiler=${compiler}" -D "sanitize=${sanitize}" -P "${work}/use_test.cmake")
