// What llama.cpp computes for a text: token ids and the logits of every position, for comparison with ours.
//   llama_logits MODEL TEXT TOKENS WINDOW THREADS IDS.txt LOGITS.npy
// The first TOKENS ids of TEXT are computed in separate sequences of WINDOW tokens, with the peer's default
// options. IDS.txt has one sequence a line; LOGITS.npy is float32 [TOKENS, vocabulary].
#include <llama.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "llama_logits: %s\n", why.c_str());
  std::exit(1);
}

std::vector<llama_token> tokenize(const llama_vocab* vocabulary, const std::string& text, size_t wanted) {
  std::vector<llama_token> ids(text.size());
  const int n = llama_tokenize(vocabulary, text.data(), static_cast<int32_t>(text.size()), ids.data(),
                               static_cast<int32_t>(ids.size()), false, false);
  if (n < static_cast<int>(wanted)) give_up("the text has fewer tokens than asked for");
  ids.resize(wanted);
  return ids;
}

// The header that makes raw floats a NumPy file: 128 bytes, ended by a newline.
void write_npy_header(std::ofstream& out, size_t rows, size_t columns) {
  std::string description = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                            ", " + std::to_string(columns) + "), }";
  description.resize(117, ' ');
  out << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << description << '\n';
}

// One sequence, from an empty cache; every position's logits are appended to `out`.
void compute(llama_context* context, std::vector<llama_token>& ids, int vocabulary_size, std::ofstream& out) {
  llama_memory_clear(llama_get_memory(context), true);
  llama_batch batch = llama_batch_init(static_cast<int32_t>(ids.size()), 0, 1);
  batch.n_tokens = static_cast<int32_t>(ids.size());
  for (int i = 0; i < batch.n_tokens; ++i) {
    batch.token[i] = ids[static_cast<size_t>(i)];
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  if (llama_decode(context, batch) != 0) give_up("llama_decode failed");
  for (int i = 0; i < batch.n_tokens; ++i) {
    out.write(reinterpret_cast<const char*>(llama_get_logits_ith(context, i)),
              static_cast<std::streamsize>(sizeof(float)) * vocabulary_size);
  }
  llama_batch_free(batch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) give_up("usage: llama_logits MODEL TEXT TOKENS WINDOW THREADS IDS.txt LOGITS.npy");
  const size_t tokens = std::strtoul(argv[3], nullptr, 10);
  const size_t window = std::strtoul(argv[4], nullptr, 10);
  const int threads = std::atoi(argv[5]);

  llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (!model) give_up("cannot load the model");
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = static_cast<uint32_t>(window);
  params.n_threads = params.n_threads_batch = threads;
  llama_context* context = llama_init_from_model(model, params);
  if (!context) give_up("cannot make a context");

  std::ostringstream text;
  text << std::ifstream(argv[2], std::ios::binary).rdbuf();
  const llama_vocab* vocabulary = llama_model_get_vocab(model);
  const std::vector<llama_token> ids = tokenize(vocabulary, text.str(), tokens);
  const int vocabulary_size = llama_vocab_n_tokens(vocabulary);

  std::ofstream ids_file(argv[6]), logits_file(argv[7], std::ios::binary);
  write_npy_header(logits_file, tokens, static_cast<size_t>(vocabulary_size));
  for (size_t begin = 0; begin < tokens; begin += window) {
    std::vector<llama_token> sequence(
        ids.begin() + static_cast<std::ptrdiff_t>(begin),
        ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + window, tokens)));
    for (size_t i = 0; i < sequence.size(); ++i) ids_file << (i ? "," : "") << sequence[i];
    ids_file << '\n';
    compute(context, sequence, vocabulary_size, logits_file);
  }
  if (!ids_file.flush() || !logits_file.flush()) give_up("cannot write the results");
  llama_free(context);
  llama_model_free(model);
  return 0;
}
