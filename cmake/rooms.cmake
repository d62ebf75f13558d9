# With TEMPO9_BATCHES the sources of a target are compiled several at a time, so that headers are read once for all of
# them; `make lint` looks at each alone, which shows that each includes what it uses.
function(tempo9_compile_in_batches target)
  if(TEMPO9_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# A room is one folder under src/ and one static library. Its sources are listed, never globbed: the list is its table of
# contents. APART: sources that use the same local names for their own things, and so are never in a batch.
#   tempo9_room(text SOURCES tokenizer.cpp ... APART odd.cpp DEPENDS base gguf LIBRARIES PCRE2::8BIT)
function(tempo9_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;APART;DEPENDS;LIBRARIES" ${ARGN})
  add_library(tempo9_${name} STATIC ${ROOM_SOURCES} ${ROOM_APART})
  tempo9_compile_in_batches(tempo9_${name})
  set_source_files_properties(${ROOM_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(tempo9_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tempo9_${name} PRIVATE tempo9_warnings)
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(tempo9_${name} PUBLIC tempo9_${room})
  endforeach()
  target_link_libraries(tempo9_${name} PUBLIC ${ROOM_LIBRARIES})
endfunction()

# The small model that tests with the label `weights` load; scripts/get_model.sh puts it there.
set(TEMPO9_MODEL ${PROJECT_SOURCE_DIR}/models/SmolLM2-135M-Instruct.Q4_1.gguf CACHE FILEPATH "Model for tests")

# One GoogleTest program. LABEL is `fast` (no weights, part of every run), `weights` (needs the model, whose path it finds
# in the variable TEMPO9_MODEL) or `slow`.
#   tempo9_test(tokenizer_test SOURCES tokenizer_test.cpp DEPENDS text [LABEL fast])
function(tempo9_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;DEPENDS;LIBRARIES;ENVIRONMENT" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL fast)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE tempo9_warnings GTest::gtest_main ${TEST_LIBRARIES})
  foreach(room IN LISTS TEST_DEPENDS)
    target_link_libraries(${name} PRIVATE tempo9_${room})
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABEL}" ENVIRONMENT
    "TEMPO9_SOURCE_DIR=${PROJECT_SOURCE_DIR};TEMPO9_MODEL=${TEMPO9_MODEL};${TEST_ENVIRONMENT}")
endfunction()

# A fuzz target: one file that defines LLVMFuzzerTestOneInput. With TEMPO9_LIBFUZZER (clang) it is a libFuzzer program;
# otherwise a small driver runs the seed corpus and a fixed number of mutations of it, so every build can run it.
#   tempo9_fuzz(gguf SOURCES gguf_fuzz.cpp DEPENDS gguf)      corpus: fuzz/corpus/<name>/
function(tempo9_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(fuzz_${name} ${FUZZ_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(fuzz_${name} PRIVATE tempo9_warnings)
  foreach(room IN LISTS FUZZ_DEPENDS)
    target_link_libraries(fuzz_${name} PRIVATE tempo9_${room})
  endforeach()
  if(TEMPO9_LIBFUZZER)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/driver.cpp)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} --runs 10000 ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fast)
  endif()
endfunction()
