# The CPU device. Each target is one translation unit, and the only one that is compiled for its instruction set.
set(TEMPO9_CPU_SOURCES
  cpu/attention.cpp cpu/attention_plan.cpp cpu/cpu_kernels.cpp cpu/expert_groups.cpp cpu/experts.cpp cpu/isa.cpp cpu/linear.cpp
  cpu/pages.cpp cpu/panel_formats.cpp cpu/panel_weight.cpp cpu/recurrent.cpp cpu/rows.cpp cpu/weight_arena.cpp
  cpu/targets/scalar.cpp)

set(TEMPO9_AVX2 -mavx2 -mfma -mf16c)
set(TEMPO9_AVX512 ${TEMPO9_AVX2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mprefer-vector-width=512)
set(TEMPO9_NEON -march=armv8.2-a+dotprod+fp16)
# The warnings come from the compiler's own intrinsics.
# Reassociated integer sums need more registers than there are.
set(TEMPO9_KERNEL_OPTIONS -fno-math-errno -fno-trapping-math -Wno-uninitialized -Wno-psabi
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-reassoc;-Wno-maybe-uninitialized>)
# Kernels are optimised whenever anything is, but for the sanitizers, which would take minutes to compile.
if(NOT TEMPO9_SANITIZE)
  list(APPEND TEMPO9_KERNEL_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()
function(tempo9_cpu_target file)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${TEMPO9_KERNEL_OPTIONS};${ARGN}")
endfunction()

tempo9_cpu_target(cpu/targets/scalar.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND TEMPO9_CPU_SOURCES cpu/targets/avx2.cpp cpu/targets/avx512.cpp cpu/targets/avx512bf16.cpp cpu/targets/amx.cpp)
  tempo9_cpu_target(cpu/targets/avx2.cpp ${TEMPO9_AVX2})
  tempo9_cpu_target(cpu/targets/avx512.cpp ${TEMPO9_AVX512})
  tempo9_cpu_target(cpu/targets/avx512bf16.cpp ${TEMPO9_AVX512} -mavx512bf16)
  tempo9_cpu_target(cpu/targets/amx.cpp ${TEMPO9_AVX512} -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND TEMPO9_CPU_SOURCES cpu/targets/neon_dotprod.cpp cpu/targets/neon_i8mm.cpp)
  tempo9_cpu_target(cpu/targets/neon_dotprod.cpp ${TEMPO9_NEON})
  tempo9_cpu_target(cpu/targets/neon_i8mm.cpp ${TEMPO9_NEON}+i8mm)
endif()
