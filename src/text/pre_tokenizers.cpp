// Sources: the `pre_tokenizer` and `normalizer` of each family's published tokenizer.json; for Tekken the
// `pattern` of tekken.json, for Falcon's digits see below. Patterns stand as published, save where a comment
// says why. Every pattern must match at least one character, and must settle a run of any length in time
// linear in it.
#include "text/pre_tokenizers.h"

#include <algorithm>
#include <array>

namespace tempo9::text {
namespace {

// The byte-level pre-tokenizer of GPT-2.
#define TEMPO9_GPT2_WORDS R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"

constexpr std::array<SplitPass, 1> kGpt2 = {{{TEMPO9_GPT2_WORDS}}};

// Each digit apart, then as GPT-2.
constexpr std::array<SplitPass, 2> kDigitsThenGpt2 = {{{R"(\p{N})"}, {TEMPO9_GPT2_WORDS}}};

// Files from before tokenizer.ggml.pre existed; the meaning is llama.cpp's.
constexpr std::array<SplitPass, 4> kDefault = {{
    {R"([\p{P}$+<=>^~|]+)"},
    {TEMPO9_GPT2_WORDS},
    {R"(\p{N}+)"},
    {R"([0-9][0-9][0-9])"},
}};

// Falcon looks for digits after its bytes have become letters of the byte alphabet. Six bytes of other
// characters are spelled with a superscript or a fraction there, which are digits too: hence the pass on
// bytes.
constexpr std::array<SplitPass, 4> kFalcon = {{
    {R"([\p{P}$+<=>^`|~]+)"},
    {TEMPO9_GPT2_WORDS},
    {R"([0-9\xB2\xB3\xB9\xBC-\xBE]+)", true},
    {R"([0-9][0-9][0-9])", true},
}};

constexpr std::array<SplitPass, 1> kLlama3 = {{{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
}}};

constexpr std::array<SplitPass, 1> kQwen2 = {{{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
}}};

constexpr std::array<SplitPass, 1> kQwen35 = {{{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
}}};

constexpr std::array<SplitPass, 1> kGpt4o = {{{
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
}}};

constexpr std::array<SplitPass, 1> kTekken = {{{
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
}}};

// Letters of alphabets with upper and lower case, as the family lists them.
#define TEMPO9_DEEPSEEK_LETTERS                                                                          \
  R"(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})" \
  R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"   \
  R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"    \
  R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77})"             \
  R"(\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"             \
  R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC})"      \
  R"(\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"     \
  R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D})"      \
  R"(\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})"               \
  R"(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE})"      \
  R"(\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"              \
  R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"             \
  R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2})"     \
  R"(\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"

// Published with `\s+$` in the fourth place; the look-behind says the same without trying every start of a
// run.
constexpr std::array<SplitPass, 6> kDeepSeekLlm = {{
    {R"([\r\n])"},
    {R"(\s?[)" TEMPO9_DEEPSEEK_LETTERS R"(]+)"},
    {R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)"},
    {R"((?<!\s)\s++\z)"},
    {R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)"},
    {R"(\p{N})"},
}};

constexpr std::array<SplitPass, 5> kDeepSeekCoder = {{
    {R"([\r\n])"},
    {R"(\s?\p{L}+)"},
    {R"(\s?\p{P}+)"},
    {R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)"},
    {R"(\p{N})"},
}};

constexpr std::array<SplitPass, 3> kDeepSeekV3 = {{
    {R"(\p{N}{1,3})"},
    {R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)"},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
     R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
}};

// Designated so that a line shows only what differs from the defaults.
constexpr std::array kPreTokenizers = {
    PreTokenizer{.name = "default", .passes = kDefault},
    PreTokenizer{.name = "gpt-2", .passes = kGpt2},
    PreTokenizer{.name = "phi-2", .passes = kGpt2},
    PreTokenizer{.name = "mpt", .passes = kGpt2, .composes = true},   // GPT-NeoX's vocabulary
    PreTokenizer{.name = "olmo", .passes = kGpt2, .composes = true},  // likewise
    PreTokenizer{.name = "smollm", .passes = kDigitsThenGpt2},
    PreTokenizer{.name = "starcoder", .passes = kDigitsThenGpt2},
    PreTokenizer{.name = "refact", .passes = kDigitsThenGpt2},
    PreTokenizer{.name = "command-r", .passes = kDigitsThenGpt2, .composes = true},
    PreTokenizer{.name = "falcon", .passes = kFalcon},
    PreTokenizer{.name = "llama-bpe", .passes = kLlama3, .whole_pieces = true, .adds_begin_of_text = true},
    PreTokenizer{.name = "llama3", .passes = kLlama3, .whole_pieces = true, .adds_begin_of_text = true},
    PreTokenizer{.name = "llama-v3", .passes = kLlama3, .whole_pieces = true, .adds_begin_of_text = true},
    PreTokenizer{.name = "smaug-bpe",
                 .passes = kLlama3},  // Llama 3's vocabulary, converted without the flags
    PreTokenizer{.name = "glm4", .passes = kLlama3, .whole_pieces = true},
    PreTokenizer{.name = "qwen2", .passes = kQwen2, .composes = true},
    PreTokenizer{.name = "deepseek-r1-qwen", .passes = kQwen2, .composes = true},
    PreTokenizer{.name = "qwen35", .passes = kQwen35, .composes = true},
    PreTokenizer{.name = "gpt-4o", .passes = kGpt4o, .whole_pieces = true},
    PreTokenizer{.name = "llama4", .passes = kGpt4o, .whole_pieces = true},
    PreTokenizer{.name = "tekken", .passes = kTekken, .whole_pieces = true, .adds_begin_of_text = true},
    PreTokenizer{.name = "deepseek-llm", .passes = kDeepSeekLlm},
    PreTokenizer{.name = "deepseek-coder", .passes = kDeepSeekCoder},
    PreTokenizer{.name = "deepseek-v3", .passes = kDeepSeekV3},
};

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto found = std::find_if(kPreTokenizers.begin(), kPreTokenizers.end(),
                                  [&](const PreTokenizer& known) { return known.name == name; });
  return found == kPreTokenizers.end() ? nullptr : &*found;
}

}  // namespace tempo9::text
