// Runs the block functions over standard input, for comparison with other implementations:
//   quant_dump decode Q4_K < blocks > floats
//   quant_dump encode Q4_K < floats > blocks
#include <cstdio>
#include <cstring>
#include <vector>

#include "quant/formats.h"

int main(int argc, char** argv) {
  using namespace tempo9;
  const quant::FormatInfo* info = nullptr;
  for (const quant::FormatInfo& format : quant::formats())
    if (argc == 3 && std::strcmp(argv[2], format.name) == 0) info = &format;
  if (info == nullptr) {
    std::fprintf(stderr, "usage: quant_dump decode|encode FORMAT < input > output\n");
    return 2;
  }
  std::vector<uint8_t> block(static_cast<size_t>(info->block_bytes));
  std::vector<float> values(static_cast<size_t>(info->block_columns));
  if (std::strcmp(argv[1], "decode") == 0) {
    while (std::fread(block.data(), block.size(), 1, stdin) == 1) {
      info->decode(block.data(), values.data());
      std::fwrite(values.data(), sizeof(float), values.size(), stdout);
    }
  } else {
    while (std::fread(values.data(), sizeof(float), values.size(), stdin) == values.size()) {
      info->encode(values.data(), block.data());
      std::fwrite(block.data(), block.size(), 1, stdout);
    }
  }
  return std::ferror(stdin) != 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
