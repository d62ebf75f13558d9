#include "text/special_tokens.h"

#include <algorithm>

namespace tempo9::text {
namespace {

bool is_white_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

SpecialTokenTree::SpecialTokenTree(const Vocabulary& vocabulary) {
  std::vector<Name> names;
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    const bool control = vocabulary.is_control(token);
    if (!control && vocabulary.type(token) != TokenType::kUserDefined) continue;
    const std::string_view text = vocabulary.text(token);
    if (text.empty()) continue;
    names.push_back({text, {token, control, vocabulary.swallows_space(token)}});
  }
  // Of equal texts the first token stays, as everywhere.
  std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.text < b.text; });
  names.erase(
      std::unique(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.text == b.text; }),
      names.end());
  nodes_.emplace_back();
  grow(kRoot, names, 0, names.size(), 0);
  for (int byte = 0; byte < 256; ++byte) from_root_[byte] = find_edge(kRoot, static_cast<uint8_t>(byte));
}

// Puts names[begin, end), which share their first `depth` bytes, under `node`. Recursion is as deep as a name
// is long.
void SpecialTokenTree::grow(uint32_t node, const std::vector<Name>& names, size_t begin, size_t end,
                            size_t depth) {
  if (begin < end && names[begin].text.size() == depth) nodes_[node].entry = names[begin++].entry;
  const auto first_edge = static_cast<uint32_t>(edges_.size());
  for (size_t i = begin; i < end; ++i) {
    const auto byte = static_cast<uint8_t>(names[i].text[depth]);
    if (i > begin && edges_.back().byte == byte) continue;
    edges_.push_back({byte, static_cast<uint32_t>(nodes_.size())});
    nodes_.emplace_back();
  }
  nodes_[node].first_edge = first_edge;
  nodes_[node].edge_count = static_cast<uint32_t>(edges_.size()) - first_edge;
  size_t i = begin;
  for (uint32_t e = 0; e < nodes_[node].edge_count; ++e) {
    const Edge edge = edges_[first_edge + e];
    const size_t group = i;
    while (i < end && static_cast<uint8_t>(names[i].text[depth]) == edge.byte) ++i;
    grow(edge.node, names, group, i, depth + 1);
  }
}

uint32_t SpecialTokenTree::find_edge(uint32_t node, uint8_t byte) const {
  const auto begin = edges_.begin() + nodes_[node].first_edge, end = begin + nodes_[node].edge_count;
  const auto edge = std::lower_bound(begin, end, byte, [](const Edge& e, uint8_t b) { return e.byte < b; });
  return edge != end && edge->byte == byte ? edge->node : kNone;
}

std::optional<SpecialTokenScan::Hit> SpecialTokenScan::next(size_t from) {
  for (size_t at = from; at < text_.size(); ++at) {
    while (content_ < rules_->content.size() && rules_->content[content_].end <= at) ++content_;
    if (auto hit = match_at(at)) return hit;
  }
  return std::nullopt;
}

std::optional<SpecialTokenScan::Hit> SpecialTokenScan::match_at(size_t begin) const {
  std::optional<Hit> longest;
  bool swallows_space = false;
  uint32_t node = SpecialTokenTree::kRoot;
  for (size_t at = begin; at < text_.size(); ++at) {
    node = tree_->step(node, static_cast<uint8_t>(text_[at]));
    if (node == SpecialTokenTree::kNone) break;
    const SpecialTokenTree::Entry& entry = tree_->entry(node);
    if (entry.token == kNoToken || (entry.control && !allows_control(begin, at + 1))) continue;
    longest = Hit{begin, at + 1, entry.token};
    swallows_space = entry.swallows_space;
  }
  while (swallows_space && longest->end < text_.size() && is_white_space(text_[longest->end])) ++longest->end;
  return longest;
}

bool SpecialTokenScan::allows_control(size_t begin, size_t end) const {
  if (rules_->recognise == SpecialTokens::Recognise::kEverywhere) return true;
  if (rules_->recognise == SpecialTokens::Recognise::kNowhere) return false;
  for (size_t i = content_; i < rules_->content.size() && rules_->content[i].begin < end; ++i)
    if (std::max(begin, rules_->content[i].begin) < std::min(end, rules_->content[i].end)) return false;
  return true;
}

}  // namespace tempo9::text
