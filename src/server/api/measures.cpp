#include "server/api/measures.h"

#include <fmt/format.h>

#include <iterator>

namespace tempo9::server {
namespace {

std::string labels_of(const Measure& m) {
  return m.label.empty() ? "" : fmt::format("{{{}=\"{}\"}}", m.label, m.label_value);
}

void write_histogram(const Measure& m, std::string& out) {
  uint64_t below = 0;
  const engine::Histogram& h = *m.histogram;
  auto end = std::back_inserter(out);
  for (size_t i = 0; i < h.bounds().size(); ++i)
    fmt::format_to(end, "{}_bucket{{le=\"{}\"}} {}\n", m.name, h.bounds()[i], below += h.in_class(i));
  fmt::format_to(end, "{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", m.name, h.count(), m.name,
                 h.sum(), m.name, h.count());
}

void write_measures(const std::vector<Measure>& measures, std::string& out) {
  std::string_view last;
  for (const Measure& m : measures) {
    if (m.name != last)
      fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", m.name, m.help, m.name,
                     m.histogram != nullptr ? "histogram"
                     : m.only_grows()       ? "counter"
                                            : "gauge");
    last = m.name;
    if (m.histogram != nullptr)
      write_histogram(m, out);
    else
      fmt::format_to(std::back_inserter(out), "{}{} {}\n", m.name, labels_of(m), m.value);
  }
}

// The names that vLLM uses (docs.vllm.ai, "Production metrics"), by which cache-aware routers choose a
// server.
std::vector<Measure> list_router_measures(const engine::Stats& s) {
  const double limit = static_cast<double>(s.kv_limit_bytes);
  return {
      {"vllm:num_requests_running", "Requests being computed.", {}, {}, static_cast<double>(s.running)},
      {"vllm:num_requests_waiting", "Requests in the queue.", {}, {}, static_cast<double>(s.queued)},
      {"vllm:kv_cache_usage_perc",
       "Part of the KV memory that requests use, 0 to 1.",
       {},
       {},
       limit > 0 ? static_cast<double>(s.kv.bytes_used) / limit : 0},
      {"vllm:prefix_cache_queries_total",
       "Tokens of admitted prompts.",
       {},
       {},
       static_cast<double>(s.prompt_tokens)},
      {"vllm:prefix_cache_hits_total",
       "Tokens of those that were found in the cache.",
       {},
       {},
       static_cast<double>(s.cached_tokens)},
  };
}

}  // namespace

std::vector<Measure> list_measures(const engine::Stats& s, const ServerCounts& counts) {
  std::vector<Measure> measures;
  const auto add = [&](std::string_view name, std::string_view help, auto value, std::string_view label = {},
                       std::string_view label_value = {}) {
    measures.push_back({name, help, label, label_value, static_cast<double>(value)});
  };
  add("tempo9_requests", "Requests by what they are doing.", s.running, "state", "running");
  add("tempo9_requests", "", s.queued, "state", "queued");
  add("tempo9_requests_finished_total", "Requests that have ended, for whatever reason.",
      s.requests_finished);
  add("tempo9_preemptions_total", "Times that a request gave way for lack of memory.", s.preemptions);
  add("tempo9_steps_total", "Steps computed.", s.steps);
  add("tempo9_passes_total", "Prompts' passes computed in slices between steps.", s.passes);
  add("tempo9_tokens_computed_total", "Rows of all steps and passes.", s.tokens_computed);
  add("tempo9_tokens_generated_total", "Tokens chosen.", s.tokens_generated);
  add("tempo9_prompt_tokens_total", "Tokens of admitted prompts.", s.prompt_tokens);
  add("tempo9_cached_tokens_total", "Tokens of those that were found in the cache.", s.cached_tokens);
  constexpr std::string_view kPages = "Pages by who holds them; free ones lie in slabs that others use.";
  add("tempo9_kv_pages", kPages, s.kv.pages_used, "state", "used");
  add("tempo9_kv_pages", kPages, s.kv.pages_cached, "state", "cached");
  add("tempo9_kv_pages", kPages, s.kv.pages_free, "state", "free");
  constexpr std::string_view kBytes = "The same in bytes.";
  add("tempo9_kv_bytes", kBytes, s.kv.bytes_used, "state", "used");
  add("tempo9_kv_bytes", kBytes, s.kv.bytes_cached, "state", "cached");
  add("tempo9_kv_bytes", kBytes, s.kv.bytes_free, "state", "free");
  add("tempo9_kv_touched_bytes", "Bytes of slabs that have ever been used: what the system has given.",
      s.kv.bytes_touched);
  add("tempo9_kv_limit_bytes", "Bound of all of them.", s.kv_limit_bytes);
  add("tempo9_kv_evictions_total", "Cached pages and snapshots given up for others.", s.kv.evictions);
  add("tempo9_snapshots", "Saved states of recurrent layers.", s.kv.snapshots);
  add("tempo9_snapshot_bytes", "Their bytes, part of those cached.", s.kv.bytes_snapshots);
  add("tempo9_weight_bytes", "Weights in the device's memory.", s.weight_bytes);
  add("tempo9_workspace_bytes", "Memory of a step besides weights and pages.", s.workspace_bytes);
  constexpr std::string_view kFaults = "Calls that replies got wrong and that are part of their text.";
  for (size_t i = 0; i < counts.call_faults.size(); ++i)
    add("tempo9_faulty_tool_calls_total", kFaults, counts.call_faults[i], "reason", chat::kCallFaultNames[i]);
  const auto add_histogram = [&](std::string_view name, std::string_view help, const engine::Histogram& h) {
    measures.push_back({.name = name, .help = help, .histogram = &h});
  };
  add_histogram("tempo9_time_to_first_token_seconds", "From submission to the first token.",
                s.first_token_seconds);
  add_histogram("tempo9_token_gap_seconds", "Between two tokens of a reply.", s.token_gap_seconds);
  add_histogram("tempo9_step_seconds", "Time of a step.", s.step_seconds);
  add_histogram("tempo9_step_rows", "Rows of a step.", s.step_rows);
  return measures;
}

std::string write_exposition(const engine::Stats& stats, const ServerCounts& counts) {
  std::string out;
  write_measures(list_measures(stats, counts), out);
  write_measures(list_router_measures(stats), out);
  return out;
}

}  // namespace tempo9::server
