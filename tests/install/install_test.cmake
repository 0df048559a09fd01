# Run by ctest with: source, build, consumer, work, version, generator, compiler, sanitize.
#
# The consumer's source is the C++ example of README.md, so that what the first page shows is what a user can build.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${work}")
run(${CMAKE_COMMAND} --install "${build}" --prefix "${work}/prefix")

file(COPY "${consumer}/" DESTINATION "${work}/consumer")
file(READ "${source}/README.md" readme)
if(NOT readme MATCHES "```cpp\n([^`]*)```")
  message(FATAL_ERROR "README.md has no C++ example; the consumer is made of it.")
endif()
file(WRITE "${work}/consumer/main.cpp" "${CMAKE_MATCH_1}\nint main() {}\n")

set(flags "")
if(sanitize)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${sanitize}")
endif()
run(${CMAKE_COMMAND} -S "${work}/consumer" -B "${work}/build" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DGANTRY_VERSION_WANTED=${version}" ${flags})
run(${CMAKE_COMMAND} --build "${work}/build")
run("${work}/build/consumer")
run("${work}/build/simulate")
run("${work}/build/compile" "${work}/cache")
