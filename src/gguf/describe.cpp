#include "gguf/describe.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "gguf/printable.h"
#include "gguf/scalar.h"
#include "quant/formats.h"

namespace tempo9::gguf {
namespace {

constexpr uint64_t kShownElements = 6;
constexpr size_t kShownCharacters = 60;
constexpr size_t kShownTensors = 10;

std::string format_bytes(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string format_count(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Rows of text in columns as wide as their widest cell; those listed in `right` are aligned to the right.
// Width is counted in characters of UTF-8.
class Table {
 public:
  explicit Table(std::vector<bool> right) : right_(std::move(right)), widths_(right_.size()) {}

  void add(std::vector<std::string> row) {
    for (size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], width(row[i]));
    rows_.push_back(std::move(row));
  }

  std::string text() const {
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string space(widths_[i] - width(row[i]), ' ');
        line += "  " + (right_[i] ? space + row[i] : row[i] + space);
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
  }

 private:
  static size_t width(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  }

  std::vector<bool> right_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string format_type(const Entry& entry) {
  if (entry.type != ValueType::kArray) return std::string(type_name(entry.type));
  return fmt::format("{}[{}]", type_name(entry.element_type), entry.count);
}

std::string format_value(const Entry& entry) {
  std::string out;
  Reader reader(entry.raw);
  const uint64_t shown = std::min(entry.count, kShownElements);
  for (uint64_t i = 0; i < shown; ++i) {
    if (i > 0) out += ", ";
    if (entry.element_type == ValueType::kString) {
      std::string_view text;
      CHECK(reader.read(text));
      out += entry.type == ValueType::kArray ? fmt::format("\"{}\"", printable(text, kShownCharacters))
                                             : printable(text, kShownCharacters);
    } else {
      const uint8_t* bytes = entry.raw.data() + i * scalar_bytes(entry.element_type);
      out += visit_scalar(entry.element_type, bytes, [](auto value) { return fmt::format("{}", value); });
    }
  }
  return shown < entry.count ? out + ", …" : out;
}

std::string describe_metadata(const Metadata& metadata) {
  Table table({false, false, false});
  for (const Entry& entry : metadata.entries())
    table.add({printable(entry.key), format_type(entry), format_value(entry)});
  return fmt::format("\nMetadata: {}\n{}", format_count(metadata.entries().size(), "key"), table.text());
}

std::string describe_types(std::span<const Tensor> tensors) {
  struct Sum {
    uint64_t tensors = 0, elements = 0, bytes = 0;
  };
  std::map<uint32_t, Sum> sums;
  Sum total;
  for (const Tensor& tensor : tensors)
    for (Sum* sum : {&sums[tensor.type], &total}) {
      ++sum->tensors;
      sum->elements += tensor.columns() * tensor.rows();
      sum->bytes += tensor.data.size();
    }
  Table table({false, true, true, true, false});
  for (const auto& [type, sum] : sums)
    table.add({quant::type_name(type), format_count(sum.tensors, "tensor"),
               format_count(sum.elements, "element"), format_bytes(sum.bytes),
               quant::find_format(type) == nullptr ? "(cannot be computed with)" : ""});
  return fmt::format("\nTensors: {}, {}, {}\n{}", total.tensors, format_count(total.elements, "element"),
                     format_bytes(total.bytes), table.text());
}

std::string describe_largest(std::span<const Tensor> tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto shown = static_cast<std::ptrdiff_t>(std::min(order.size(), kShownTensors));
  std::ranges::partial_sort(order, order.begin() + shown, [&](size_t a, size_t b) {
    return std::pair(tensors[b].data.size(), a) < std::pair(tensors[a].data.size(), b);
  });
  Table table({false, false, true, true});
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    const Tensor& tensor = tensors[order[static_cast<size_t>(i)]];
    const auto shape = std::span(tensor.shape).first(static_cast<size_t>(tensor.dimensions));
    table.add({printable(tensor.name), quant::type_name(tensor.type),
               fmt::format("{}", fmt::join(shape, " x ")), format_bytes(tensor.data.size())});
  }
  return "\nLargest tensors\n" + table.text();
}

}  // namespace

std::string describe(const File& file) {
  std::string out = fmt::format("GGUF version {}, {}, alignment {}\n", file.version(),
                                format_bytes(file.total_bytes()), file.alignment());
  out += describe_metadata(file.metadata());
  out += describe_types(file.tensors());
  if (!file.tensors().empty()) out += describe_largest(file.tensors());
  return out;
}

}  // namespace tempo9::gguf
