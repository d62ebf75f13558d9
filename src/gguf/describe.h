// A readable overview of a GGUF file for the command line.
#pragma once
#include <string>

#include "gguf/file.h"

namespace tempo9::gguf {

// Version and size, metadata with arrays abbreviated, tensors summed by type, the largest tensors. Text from
// the file is escaped (printable.h), so it is safe on a terminal. Ends with a newline.
std::string describe(const File& file);

}  // namespace tempo9::gguf
