# What GPUs share: kernels in their dialect, how operations use them, and their emulation on the host.
set(TEMPO9_GPU_SOURCES gpu/emulation/fiber.cpp gpu/emulation/group.cpp)
# Each defines the dialect's words for itself.
set(TEMPO9_GPU_APART gpu/emulated_kernels.cpp gpu/operations.cpp)
# A jump to another stack is what a fiber is; the checked variant of longjmp would refuse it.
set_source_files_properties(gpu/emulation/fiber.cpp PROPERTIES COMPILE_OPTIONS "-U_FORTIFY_SOURCE" SKIP_UNITY_BUILD_INCLUSION ON)
# Kernels read the same memory as numbers of different types.
set_source_files_properties(gpu/emulated_kernels.cpp PROPERTIES COMPILE_OPTIONS "-fno-strict-aliasing;$<$<NOT:$<CONFIG:Debug>>:-O2>")
