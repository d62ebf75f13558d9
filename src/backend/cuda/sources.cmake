# NVIDIA GPUs, with TEMPO9_CUDA (`make cuda`). Kernels are compiled by nvcc into one object; everything else is plain
# C++ over the CUDA runtime, which is linked statically and finds the driver when the program runs.
option(TEMPO9_CUDA "Compute on NVIDIA GPUs (scripts/get_cuda.sh fetches the compiler)" OFF)
set(TEMPO9_CUDA_TOOLKIT ${PROJECT_SOURCE_DIR}/build/cuda-toolkit/nvidia/cu13 CACHE PATH "Where bin/nvcc is")
# What a chip's own code is made for, and PTX from which drivers make it for other chips.
set(TEMPO9_CUDA_TARGETS -gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_80,code=compute_80)

set(TEMPO9_CUDA_SOURCES)
if(TEMPO9_CUDA)
  list(APPEND TEMPO9_CUDA_SOURCES
    cuda/cuda_api.cpp cuda/cuda_device.cpp cuda/cuda_memory.cpp cuda/cuda_stream.cpp cuda/cuda_weight.cpp
    cuda/heads.cpp cuda/launch_queue.cpp cuda/pinned.cpp cuda/tensor/attend.cpp cuda/tensor/operation.cpp cuda/tensor/repack.cpp)
  # The same names for what is alike.
  set_source_files_properties(cuda/tensor/attend.cpp cuda/tensor/operation.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()

function(tempo9_use_cuda room)
  if(NOT TEMPO9_CUDA)
    return()
  endif()
  foreach(kernels kernels tensor/kernels)
    string(REPLACE / _ name ${kernels})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda_${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${TEMPO9_CUDA_TOOLKIT}/bin/nvcc -std=c++17 -O3 -fmad=false --expt-relaxed-constexpr -I${PROJECT_SOURCE_DIR}/src
        ${TEMPO9_CUDA_TARGETS} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${kernels}.cu -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${kernels}.cu
      DEPFILE ${object}.d VERBATIM)
    target_sources(${room} PRIVATE ${object})
  endforeach()
  target_compile_definitions(${room} PRIVATE TEMPO9_CUDA)
  target_include_directories(${room} SYSTEM PRIVATE ${TEMPO9_CUDA_TOOLKIT}/include)
  target_link_libraries(${room} PUBLIC ${TEMPO9_CUDA_TOOLKIT}/lib/libcudart_static.a ${CMAKE_DL_LIBS} rt Threads::Threads)
endfunction()
