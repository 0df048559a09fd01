# Run by ctest with: build, consumer, work, version, generator, compiler.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${work}")
run(${CMAKE_COMMAND} --install "${build}" --prefix "${work}/prefix")
run(${CMAKE_COMMAND} -S "${consumer}" -B "${work}/build" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DGANTRY_VERSION_WANTED=${version}")
run(${CMAKE_COMMAND} --build "${work}/build")
run("${work}/build/consumer")
