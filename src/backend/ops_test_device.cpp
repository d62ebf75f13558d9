#include "backend/ops_test_device.h"

#include <cmath>

namespace tempo9::backend {

const std::vector<Candidate>& candidates() {
  static const std::vector<Candidate> list = [] {
    std::vector<Candidate> found;
    for (const std::string isa : {"scalar", "avx2", "avx512", "avx512bf16", "neon_dotprod", "neon_i8mm"}) {
      for (const int threads : {1, 3}) {
        const DeviceOptions options{threads, isa};
        if (create_device("cpu", options))
          found.push_back({fmt::format("cpu/{}/{} threads", isa, threads), "cpu", options});
      }
    }
    found.push_back({"deferred", "deferred", {2, ""}});
    for (const std::string order : {"forward", "shuffled"})
      found.push_back({"gpu_host/" + order, "gpu_host", {0, order}});
    for (const std::string variant : {"", "plain"})
      if (create_device("cuda", {0, variant})) found.push_back({"cuda/" + variant, "cuda", {0, variant}});
    return found;
  }();
  return list;
}

TestWeight random_weight(std::mt19937& random, quant::Format format, int rows, int columns) {
  const quant::FormatInfo& info = quant::format_info(format);
  TestWeight weight{
      format, rows, columns, {}, Values(static_cast<size_t>(rows) * static_cast<size_t>(columns))};
  const size_t row_bytes = info.row_bytes(static_cast<size_t>(columns));
  weight.bytes.resize(row_bytes * static_cast<size_t>(rows));
  const Values wanted =
      random_values(random, weight.values.size(), 1.0f / std::sqrt(static_cast<float>(columns)));
  for (int r = 0; r < rows; ++r) {
    const size_t first = static_cast<size_t>(r) * static_cast<size_t>(columns);
    uint8_t* row = weight.bytes.data() + static_cast<size_t>(r) * row_bytes;
    for (int b = 0; b < columns / info.block_columns; ++b)
      info.encode(wanted.data() + first + static_cast<size_t>(b * info.block_columns),
                  row + b * info.block_bytes);
    quant::decode_row(format, row, static_cast<size_t>(columns), weight.values.data() + first);
  }
  return weight;
}

}  // namespace tempo9::backend
