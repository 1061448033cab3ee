#include "node/fetch/curl_post.h"

#include <curl/curl.h>

#include <memory>

namespace orbweaver {

namespace {

std::size_t drop(char*, std::size_t size, std::size_t count, void*) { return size * count; }

}  // namespace

PostAnswer post_json(const PostTarget& target, const std::string& json) {
  ::curl_global_init(CURL_GLOBAL_DEFAULT);  // counts; never undone
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(::curl_easy_init(), ::curl_easy_cleanup);
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> fields(
      ::curl_slist_append(nullptr, "Content-Type: application/json"), ::curl_slist_free_all);
  if (!easy || !fields) return {0, "no memory for a request"};
  CURL* const handle = easy.get();
  ::curl_easy_setopt(handle, CURLOPT_URL, target.url.c_str());
  ::curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(handle, CURLOPT_PROXY, "");
  ::curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(target.timeout.count()));
  ::curl_easy_setopt(handle, CURLOPT_USERAGENT, target.user_agent.c_str());
  if (!target.ca_file.empty()) ::curl_easy_setopt(handle, CURLOPT_CAINFO, target.ca_file.c_str());
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields.get());
  ::curl_easy_setopt(handle, CURLOPT_POSTFIELDS, json.c_str());
  ::curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &drop);
  if (const CURLcode code = ::curl_easy_perform(handle); code != CURLE_OK)
    return {0, ::curl_easy_strerror(code)};  // its own words may name the host, which may be a secret
  PostAnswer answer;
  ::curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

}  // namespace orbweaver
