// Responses that clients may come back to by id: for `previous_response_id`, or to read them again. In
// memory, bounded in bytes; the least recently used go first. Threads: any.
#pragma once
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tempo9::server {

struct StoredResponse {
  std::string response;  // the response object, as JSON
  std::string input;     // everything the model was shown before it, as a JSON array of items
  std::string output;    // what it gave, likewise
};

class ResponseStore {
 public:
  explicit ResponseStore(size_t most_bytes) : most_bytes_(most_bytes) {}

  // One that is larger than all there may be is not kept.
  void put(const std::string& id, StoredResponse response);
  std::optional<StoredResponse> find(std::string_view id);
  bool erase(std::string_view id);
  size_t bytes() const;

 private:
  struct Entry {
    std::string id;
    StoredResponse response;
    size_t bytes;
  };
  using Entries = std::list<Entry>;
  void drop(Entries::iterator entry);

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recently used first; this and the rest under mutex_
  std::unordered_map<std::string_view, Entries::iterator> by_id_;  // of the entries' own strings
  size_t bytes_ = 0;
};

}  // namespace tempo9::server
