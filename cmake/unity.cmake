# MUSTER_UNITY: compiles many sources of a target as one file, which makes a build several times cheaper. The preset
# `debug` compiles each source alone and so checks its includes.

# Of all targets of these folders; a file gets at most about 4,000 lines. If two sources have come to define the same
# private name, run CMake again. Does nothing without universal-ctags.
function(muster_unity)
  find_program(CTAGS ctags)
  if(NOT CTAGS)
    message(STATUS "MUSTER_UNITY: no ctags (universal-ctags), so each source is compiled alone")
    return()
  endif()
  set(pairs)
  foreach(folder ${ARGN})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      if(NOT type MATCHES "EXECUTABLE|STATIC_LIBRARY")
        continue()
      endif()
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
      if(NOT folder STREQUAL test)
        # By default g++ inlines less in a large unit, which takes up to 2 % more instructions.
        target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:SHELL:--param large-unit-insns=200000>)
      endif()
      if(type STREQUAL STATIC_LIBRARY)
        # g++ takes a source that is included for a header, whose classes should have no members of private types.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
      endif()
      get_target_property(sources ${target} SOURCES)
      foreach(source ${sources})
        get_filename_component(path ${source} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR}/${folder})
        string(APPEND pairs "${target}\t${path}\n")
      endforeach()
    endforeach()
  endforeach()

  file(WRITE ${PROJECT_BINARY_DIR}/unity_sources.txt "${pairs}")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/cmake/unity_batches ${PROJECT_SOURCE_DIR} 4000
    INPUT_FILE ${PROJECT_BINARY_DIR}/unity_sources.txt OUTPUT_VARIABLE batches COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" batches "${batches}")
  foreach(line ${batches})
    string(REPLACE "\t" ";" line "${line}")
    list(GET line 0 batch)
    list(GET line 1 source)
    string(REGEX REPLACE "_[0-9]+$" "" target "${batch}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${batch})
  endforeach()
endfunction()
