# XGrammar as a static library, from the sources that scripts/get_xgrammar.sh leaves. Not by its own CMakeLists.txt, which
# turns warnings into errors and demands link-time optimisation and install rules.
set(xgrammar ${PROJECT_SOURCE_DIR}/build/sources/xgrammar-0.2.9)
if(NOT EXISTS ${xgrammar})
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/get_xgrammar.sh COMMAND_ERROR_IS_FATAL ANY)
endif()

file(GLOB xgrammar_sources ${xgrammar}/cpp/*.cc ${xgrammar}/cpp/converter_ext/*.cc ${xgrammar}/cpp/support/*.cc)
add_library(xgrammar STATIC EXCLUDE_FROM_ALL ${xgrammar_sources})
set_target_properties(xgrammar PROPERTIES CXX_STANDARD 17)
target_include_directories(xgrammar SYSTEM PUBLIC ${xgrammar}/include ${xgrammar}/3rdparty/dlpack/include
  PRIVATE ${xgrammar}/3rdparty/picojson ${xgrammar}/cpp)
# Its messages go to two functions of ours (src/grammar/xgrammar_log.cpp) instead of standard error.
target_compile_definitions(xgrammar PRIVATE XGRAMMAR_LOG_CUSTOMIZE=1 XGRAMMAR_ENABLE_CPPTRACE=0
  XGRAMMAR_ENABLE_INTERNAL_CHECK=0)
target_compile_options(xgrammar PRIVATE -w -O2)
target_link_libraries(xgrammar PUBLIC Threads::Threads)
