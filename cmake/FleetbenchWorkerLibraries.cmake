# The libraries that every worker needs: all that the GPU worker has beside CUDA. What is missing is told at
# once, by the name of its package.

find_package(Threads REQUIRED)
find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
endif()

set(missing "")
foreach(part IN ITEMS fmt:libfmt-dev nlohmann_json:nlohmann-json3-dev PKG_CONFIG:pkg-config HWLOC:libhwloc-dev)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 name)
  list(GET part 1 package)
  if(NOT ${name}_FOUND)
    list(APPEND missing ${package})
  endif()
endforeach()
if(missing)
  string(REPLACE ";" " " missing "${missing}")
  message(FATAL_ERROR "Missing, by the names of Debian's and Ubuntu's packages: ${missing}. Install them "
                      "(apt-get install ${missing}), or name the folder that has them in CMAKE_PREFIX_PATH.")
endif()
