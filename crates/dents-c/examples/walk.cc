// Shows how many files below each PATH have the same extension, and their sizes: walk PATH...
#include <dents.h>
#include <dirent.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

// A walk for one range-based loop. Its destructor ends the walk.
class Walk {
public:
  explicit Walk(const std::vector<std::string> &roots, const dents_walk_options &options = {}) {
    std::vector<const char *> words;
    for (const std::string &root : roots)
      words.push_back(root.c_str());
    words.push_back(nullptr);
    dents_walk *opened = nullptr;
    if (int error = dents_walk_open(&opened, words.data(), &options))
      throw std::system_error(error, std::generic_category(), "dents_walk_open");
    walk.reset(opened);
  }

  class Iterator {
  public:
    explicit Iterator(dents_walk *of) : walk(of), entry(of ? dents_walk_next(of) : nullptr) {}
    const dents_entry &operator*() const { return *entry; }
    Iterator &operator++() {
      entry = dents_walk_next(walk);
      return *this;
    }
    bool operator!=(const Iterator &other) const { return entry != other.entry; }

  private:
    dents_walk *walk;
    const dents_entry *entry;
  };

  Iterator begin() { return Iterator(walk.get()); }
  Iterator end() { return Iterator(nullptr); }
  // The directory that was returned last is not entered.
  void skip() { dents_walk_skip(walk.get()); }
  // Why the walk ended early.
  std::error_code error() const { return {dents_walk_error(walk.get()), std::generic_category()}; }

private:
  struct Close {
    void operator()(dents_walk *of) const noexcept { dents_walk_close(of); }
  };
  std::unique_ptr<dents_walk, Close> walk;
};

int main(int argc, char **argv) try {
  struct Sum {
    std::uint64_t files = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  dents_walk_options options{};
  options.facts = DENTS_SIZE;
  Walk walk(std::vector<std::string>(argv + 1, argv + argc), options);
  for (const dents_entry &entry : walk) {
    if (entry.errnum != 0) {
      std::cerr << "walk: " << entry.path << ": " << std::strerror(entry.errnum) << '\n';
    } else if (entry.type == DT_DIR && std::strcmp(entry.name, ".git") == 0) {
      walk.skip();
    } else if (entry.type == DT_REG) {
      const char *dot = std::strrchr(entry.name, '.');
      Sum &sum = sums[dot ? dot : "(none)"];
      sum.files += 1;
      sum.bytes += entry.size;
    }
  }
  for (const auto &[extension, sum] : sums)
    std::cout << extension << '\t' << sum.files << '\t' << sum.bytes << '\n';
  if (std::error_code error = walk.error())
    throw std::system_error(error, "walk");
  return 0;
} catch (const std::system_error &error) {
  std::cerr << error.what() << '\n';
  return 2;
}
