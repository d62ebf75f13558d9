// The overview, and strings made fit for a terminal.
#include "gguf/describe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gguf/printable.h"
#include "gguf/writer.h"

namespace tempo9::gguf {
namespace {

TEST(Utf8, StrictlyByTheStandard) {
  for (std::string_view good : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << printable(good);
  for (std::string_view bad : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf",
                               "\xed\xa0\x80", "\xe2\x82", "\xe2\x82\x41", "\xf0\x8f\xbf\xbf",
                               "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok\xfe"})
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
}

TEST(Printable, EscapesWhatATerminalWouldActOn) {
  EXPECT_EQ(printable("plain text, ünïcödé 漢字 🦀"), "plain text, ünïcödé 漢字 🦀");
  EXPECT_EQ(printable("\x1b[31mred\x07\n\t\r\x7f\\"), "\\u{1b}[31mred\\u{7}\\n\\t\\u{d}\\u{7f}\\\\");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u{9b}");              // C1: a control sequence in one character
  EXPECT_EQ(printable("a\xe2\x80\xae z"), "a\\u{202e} z");  // direction override
  EXPECT_EQ(printable("\xe2\x80\x8b\xef\xbb\xbf"), "\\u{200b}\\u{feff}");
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\u{e0041}");  // tag
  EXPECT_EQ(printable("x\xff\xc3"), "x\\xff\\xc3");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\u{0}b");
}

TEST(Printable, ShortensByCharacters) {
  EXPECT_EQ(printable("ääää", 4), "ääää");
  EXPECT_EQ(printable("äääää", 4), "ääää…");
  EXPECT_EQ(printable(std::string(1000, '\x01'), 1), "\\u{1}…");
}

std::string describe_bytes(const std::vector<uint8_t>& bytes) {
  const auto file = File::parse(bytes);
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return describe(**file);
}

TEST(Describe, Overview) {
  Writer writer;
  writer.set("general.name", "evil \x1b[2J name");
  writer.set("n", uint8_t{200});
  writer.set("x", 0.5f);
  writer.set("flag", true);
  writer.set_array("list", std::vector<int16_t>{-1, 2, 3, 4, 5, 6, 7});
  writer.set_array("words", std::vector<std::string>{"a", "b\n"});
  const auto small = writer.add_tensor("small", 0, std::vector<uint64_t>{8});
  const auto large = writer.add_tensor("large", 2, std::vector<uint64_t>{64, 32});
  const auto other = writer.add_tensor("other", 16, std::vector<uint64_t>{256});
  std::vector<std::vector<uint8_t>> data;
  for (uint64_t bytes : {small, large, other}) data.emplace_back(bytes);
  const auto bytes = writer.to_bytes(data);
  EXPECT_EQ(describe_bytes(bytes), fmt::format(R"(GGUF version 3, {:.2f} KiB, alignment 32

Metadata: 6 keys
  flag          bool       true
  general.name  string     evil \u{{1b}}[2J name
  list          int16[7]   -1, 2, 3, 4, 5, 6, …
  n             uint8      200
  words         string[2]  "a", "b\n"
  x             float32    0.5

Tensors: 3, 2312 elements, 1.22 KiB
  F32      1 tensor     8 elements      32 B
  Q4_0     1 tensor  2048 elements  1.12 KiB
  IQ2_XXS  1 tensor   256 elements      66 B  (cannot be computed with)

Largest tensors
  large  Q4_0     64 x 32  1.12 KiB
  other  IQ2_XXS      256      66 B
  small  F32            8      32 B
)",
                                               static_cast<double>(bytes.size()) / 1024));
}

TEST(Describe, FileWithoutAnything) {
  const auto bytes = Writer().to_bytes({});
  EXPECT_EQ(describe_bytes(bytes),
            "GGUF version 3, 32 B, alignment 32\n\nMetadata: 0 keys\n\n"
            "Tensors: 0, 0 elements, 0 B\n");
}

}  // namespace
}  // namespace tempo9::gguf
