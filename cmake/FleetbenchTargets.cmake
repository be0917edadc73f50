# What every target of the project is built with, and the version that all of them carry.

add_library(fleetbench_options INTERFACE)
target_include_directories(fleetbench_options INTERFACE ${PROJECT_SOURCE_DIR})
# nvcc knows none of these.
target_compile_options(
  fleetbench_options
  INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
            -Wnon-virtual-dtor -Wno-missing-field-initializers>)
if(FLEETBENCH_SANITIZE)
  # What takes longest to compile is done without: UndefinedBehaviorSanitizer's look at each pointer,
  # where AddressSanitizer looks as well, and checks in line instead of calls.
  target_compile_options(fleetbench_options INTERFACE -fsanitize=${FLEETBENCH_SANITIZE}
                                                      -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow
                                                      $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>
                                                      -fno-sanitize-recover=all
                                                      -fno-omit-frame-pointer)
  target_compile_definitions(fleetbench_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(fleetbench_options INTERFACE -fsanitize=${FLEETBENCH_SANITIZE})
endif()

# All code counts which of its branches an input took.
if(FLEETBENCH_FUZZ)
  target_compile_options(fleetbench_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Nearly every file reads these, and reading them is much of the time to compile it.
# Written once: a newer one would have all be built again.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Carries the precompiled headers.\n")
add_library(fleetbench_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(fleetbench_precompiled PRIVATE fleetbench_options fmt::fmt
                                                       nlohmann_json::nlohmann_json)
target_precompile_headers(fleetbench_precompiled PRIVATE <fmt/format.h> <nlohmann/json.hpp> <map>
                          <optional> <string> <vector>)

# fleetbench_library(NAME SOURCES... [LINK LIBRARIES...])
function(fleetbench_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC fleetbench_options ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM fleetbench_precompiled)
endfunction()

# fleetbench_mpi_program(TARGET): an executable that loads MPI.
function(fleetbench_mpi_program target)
  if(FLEETBENCH_SANITIZE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/sanitizers/keep_loaded.cpp)
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  endif()
endfunction()

# The commit that was built, so that ranks of different builds can refuse to work together.
find_package(Git QUIET)
set(FLEETBENCH_COMMIT "unknown")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} describe --always --dirty
                  OUTPUT_VARIABLE FLEETBENCH_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
