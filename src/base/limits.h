// Every bound of the program in one place. A bound that a user may change has the option's name beside it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tempo9::limits {

// GGUF files.
inline constexpr uint64_t kMaxTensorDimensions = 4;
inline constexpr uint64_t kMaxMetadataKeyBytes = 65535;  // the format's own limit
inline constexpr uint64_t kMaxTensorNameBytes = 1024;    // the format says 64; converters exceed it
inline constexpr uint64_t kMaxMetadataEntries = 1u << 16;
inline constexpr uint64_t kMaxTensors = 1u << 20;
inline constexpr uint32_t kMaxAlignment = 1u << 20;
inline constexpr uint32_t kMaxSplitFiles = 1024;

// Vocabularies.
inline constexpr size_t kMaxVocabularyTokens = 1 << 24;
inline constexpr size_t kMaxTokenBytes =
    2048;  // loading takes time in proportion to it, searching for special tokens too

// HTTP.
inline constexpr size_t kMaxHeaderBytes = 64 << 10;
inline constexpr size_t kMaxBodyBytes = 64 << 20;
inline constexpr size_t kMaxBodyBytesInFlight = 512 << 20;  // of all requests being received at once
inline constexpr size_t kMaxUnsentBytes = 16 << 20;  // of a stream whose client does not read; then it is cut
inline constexpr int kMaxConnections = 512;

// Requests.
inline constexpr int kMaxStopStrings = 16;
inline constexpr size_t kMaxStopStringBytes = 1024;
inline constexpr int kMaxTopLogprobs = 20;
inline constexpr int kMaxQueuedRequests = 256;
inline constexpr int kMaxChoices = 8;     // `n`
inline constexpr int kMaxSequences = 64;  // prompts times choices of one request
inline constexpr size_t kMaxLogitBiases = 4096;
inline constexpr int kMaxJsonDepth = 128;
inline constexpr size_t kMaxJsonValues = 1 << 20;
inline constexpr size_t kMaxStoredResponseBytes = 64 << 20;  // of Responses kept for `previous_response_id`
inline constexpr size_t kMaxEmbeddingInputs = 2048;          // texts of one request
inline constexpr size_t kMaxUnknownFields = 256;             // names remembered, so that each is logged once

// Chat templates: they come with the model's file, and what they read comes from clients.
inline constexpr size_t kMaxTemplateSourceBytes = 1 << 20;
inline constexpr int kMaxTemplateNesting = 200;  // statements and expressions within each other
inline constexpr int kMaxTemplateDepth = 1000;   // the same while running, macros that call macros included
inline constexpr int kMaxTemplateValueDepth = 200;  // lists and dicts within each other
inline constexpr size_t kMaxTemplateSteps = 20'000'000;
inline constexpr size_t kMaxTemplateProbeSteps = 500'000;  // of each conversation tried while loading
inline constexpr size_t kMaxTemplateMemoryBytes = 256 << 20;
inline constexpr size_t kMaxTemplateOutputBytes = 64 << 20;
inline constexpr size_t kMaxTemplateRange = 100'000;  // items of range(), as in Jinja's sandbox

// Structured output: schemas and grammars come from clients.
inline constexpr size_t kMaxGrammarBytes =
    1 << 20;  // of a grammar's text, written by a client or made of a schema
inline constexpr size_t kMaxGrammarRules = 20'000;
inline constexpr int kMaxSchemaDepth = 128;  // schemas within each other, references and allOf followed
inline constexpr size_t kMaxSchemaSteps =
    200'000;  // keywords looked at, again for each place that refers to them
inline constexpr size_t kMaxRegexLength = 4096;
inline constexpr int kMaxRegexDepth = 64;
inline constexpr int64_t kMaxRegexSize = 1 << 17;  // characters, repeats written out
inline constexpr int kGrammarSeconds = 5;          // for compiling one
inline constexpr int kMaxLateGrammars =
    2;  // compiled beyond that time at once; until one ends, others are refused
inline constexpr int kMaxQueuedGrammars = 64;
inline constexpr size_t kMaxGrammarCacheBytes = 256 << 20;  // of compiled grammars kept for their next use

// Replies.
inline constexpr size_t kMaxCallNameBytes = 256;  // of names in a call that no quotes enclose

// KV memory.
inline constexpr int kPageTokens = 64;
inline constexpr size_t kSlabBytes = 32 << 20;

}  // namespace tempo9::limits
