# Decides whether GPU code is built. Sets FLEETBENCH_GPU_ENABLED, and where that is true enables CUDA,
# finds its libraries as CUDA::…, sets CMAKE_CUDA_ARCHITECTURES and, where nccl.h is found,
# FLEETBENCH_NCCL_INCLUDE.

set(FLEETBENCH_GPU AUTO CACHE STRING "Build the GPU worker: AUTO (where a CUDA toolkit is found), ON, OFF")
set_property(CACHE FLEETBENCH_GPU PROPERTY STRINGS AUTO ON OFF)
if(NOT FLEETBENCH_GPU MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "FLEETBENCH_GPU: '${FLEETBENCH_GPU}' is none of AUTO, ON, OFF")
endif()

# Of the chips that fleets have, those that the toolkit can build for; others run the PTX of the first.
function(fleetbench_cuda_architectures result)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" known "${known}")
  set(architectures "")
  foreach(number 80 90 100 120)
    if("compute_${number}" IN_LIST known)
      if(architectures)
        list(APPEND architectures ${number}-real)
      else()
        set(architectures ${number})
      endif()
    endif()
  endforeach()
  if(NOT architectures)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} knows none of the architectures 80, 90, 100, 120")
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()

set(FLEETBENCH_GPU_ENABLED OFF)
if(NOT FLEETBENCH_GPU STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # Toolkits seldom are in PATH.
    find_program(FLEETBENCH_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATH_SUFFIXES bin
                 PATHS /usr/local/cuda/bin)
    mark_as_advanced(FLEETBENCH_NVCC)
    if(FLEETBENCH_NVCC)
      set(ENV{CUDACXX} ${FLEETBENCH_NVCC})
    endif()
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(FLEETBENCH_GPU_ENABLED ON)
  elseif(FLEETBENCH_GPU STREQUAL "ON")
    message(FATAL_ERROR "FLEETBENCH_GPU is ON, but no nvcc that works was found; CUDACXX may name one")
  else()
    message(STATUS "GPU worker: not built, as no CUDA toolkit was found")
  endif()
endif()

if(FLEETBENCH_GPU_ENABLED)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    fleetbench_cuda_architectures(CMAKE_CUDA_ARCHITECTURES)
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  # Shared, so that tests can put simulated libraries before the real ones.
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  message(STATUS "GPU worker: CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")

  # Its declarations are all that is needed of NCCL: the library is opened when it is measured. The
  # header comes with NCCL, and not with the toolkit.
  find_path(FLEETBENCH_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(FLEETBENCH_NCCL_INCLUDE)
  if(NOT FLEETBENCH_NCCL_INCLUDE)
    message(STATUS "NCCL probes: not built, as no nccl.h was found (libnccl-dev has it; "
                   "FLEETBENCH_NCCL_INCLUDE may name its folder)")
  endif()

  # nvcc has known C++20 since 12.0, CMake that it does since 3.26.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)

  # What every target with CUDA sources is built with.
  add_library(fleetbench_gpu_options INTERFACE)
  target_include_directories(fleetbench_gpu_options INTERFACE ${PROJECT_SOURCE_DIR})
  target_compile_options(
    fleetbench_gpu_options
    INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra -lineinfo>)
  # LD_LIBRARY_PATH goes before the folder that the program remembers.
  target_link_options(fleetbench_gpu_options INTERFACE LINKER:--enable-new-dtags)
  target_link_libraries(fleetbench_gpu_options INTERFACE CUDA::cudart)
endif()
