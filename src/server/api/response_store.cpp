#include "server/api/response_store.h"

#include <utility>

namespace tempo9::server {
namespace {

constexpr size_t kEntryBytes = 256;  // what an entry takes besides its texts, about

}  // namespace

void ResponseStore::put(const std::string& id, StoredResponse response) {
  const size_t bytes =
      kEntryBytes + id.size() + response.response.size() + response.input.size() + response.output.size();
  if (bytes > most_bytes_) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_id_.find(id); found != by_id_.end()) drop(found->second);
  while (bytes_ + bytes > most_bytes_) drop(std::prev(entries_.end()));
  entries_.push_front({id, std::move(response), bytes});
  by_id_.emplace(entries_.front().id, entries_.begin());
  bytes_ += bytes;
}

std::optional<StoredResponse> ResponseStore::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->response;
}

bool ResponseStore::erase(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  drop(found->second);
  return true;
}

size_t ResponseStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void ResponseStore::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_id_.erase(entry->id);
  entries_.erase(entry);
}

}  // namespace tempo9::server
