#include "base/system_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace tempo9 {
namespace {

// The number after `key` in /proc/meminfo-like lines "key: 123 kB", in bytes.
uint64_t memory_line(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == key && file >> kilobytes) return kilobytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// What the control group leaves, where it sets a limit.
uint64_t group_room() {
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  uint64_t limit = 0, used = 0;
  if (!(limit_file >> limit) || !(used_file >> used)) return std::numeric_limits<uint64_t>::max();
  return limit > used ? limit - used : 0;
}

}  // namespace

uint64_t available_memory_bytes() {
  return std::min(memory_line("/proc/meminfo", "MemAvailable:"), group_room());
}

}  // namespace tempo9
