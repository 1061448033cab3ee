#include "node/sampleweb/sample_page.h"

#include <algorithm>

#include "node/sampleweb/sample_random.h"

namespace orbweaver::sample {

namespace {

constexpr double size_median = 11'000;  // bytes
constexpr double size_sigma = 0.7;      // mean = 11,000 * exp(0.245) = 14 KB
constexpr double size_min = 1'500;
constexpr double max_size = 300'000;
constexpr std::string_view base_directory = "/docs/base/";

std::uint64_t page_seed(const SampleWeb& web, unsigned host, unsigned page, std::uint64_t purpose) {
  return mix(mix(web.shape().seed, purpose), mix(host, page));
}

void append_title(std::string& out, Random& random, const Vocabulary& vocabulary) {
  const auto count = 2 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i != 0) out.push_back(' ');
    out.append(vocabulary.draw(random));
  }
}

// Writes the same link in the different ways that people use.
void append_link(std::string& out, const SampleLink& link, Random& random, bool topics) {
  std::string href;
  append_attribute(href, link.spelling);
  switch (link.kind) {
    case LinkKind::area:
      out.append("<map name=\"m\"><area shape=\"rect\" coords=\"0,0,9,9\" href=\"").append(href).append("\"></map>");
      return;
    case LinkKind::iframe:
      out.append("<iframe src=\"").append(href).append("\" width=\"300\"></iframe>");
      return;
    case LinkKind::rel_next:
      return;  // in the head
    case LinkKind::anchor:
      break;
  }
  const bool bare = link.spelling.find_first_of(" \t\n\"'=<>`?") == std::string::npos;
  switch (random.below(12)) {
    case 0:
      out.append("<A HREF='").append(href).append("'>");
      break;
    case 1:
      out.append(bare ? "<a href=" : "<a href=\"").append(href).append(bare ? ">" : "\">");
      break;
    case 2:
      out.append("<a class=\"x\" data-href=\"/fake/data-attribute\"\n   href = \" ").append(href).append("\n\">");
      break;
    case 3:
      out.append("<a title=\"a > b\" href=\"").append(link.spelling).append("\">");  // '&' is not escaped
      break;
    default:
      out.append("<a href=\"").append(href).append("\">");
  }
  append_title(out, random, {topics, link.topic});
  out.append("</a>");
}

void append_head(std::string& out, const PageLook& look, const std::vector<SampleLink>& links, Random& random,
                 unsigned host, unsigned page, const Vocabulary& vocabulary) {
  out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
  if (look.charset_in_meta) {
    if (random.chance(0.5)) {
      out.append("<meta charset=\"").append(encoding_label(look.encoding)).append("\">\n");
    } else {
      out.append("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=");
      out.append(encoding_label(look.encoding)).append("\">\n");
    }
  }
  out.append("<title>");
  append_title(out, random, vocabulary);
  out.append(" (").append(std::to_string(host)).append("/").append(std::to_string(page)).append(")</title>\n");
  if (look.has_base) out.append("<base href=\"").append(base_directory).append("\">\n");
  out.append("<link rel=\"stylesheet\" href=\"/static/site.css\">\n<script src=\"/static/site.js\"></script>\n");
  out.append("<style>a[href=\"/fake/style\"] { color: red } /* <a href=\"/fake/style-tag\"> */</style>\n");
  for (const SampleLink& link : links) {
    if (link.kind != LinkKind::rel_next) continue;
    out.append("<link rel=\"next\" href=\"");
    append_attribute(out, link.spelling);
    out.append("\">\n");
  }
  out.append("</head>\n<body>\n");
}

// Text that only looks like links: a crawler that requests /fake/… has parsed the page wrongly.
void append_fakes(std::string& out, Random& random) {
  switch (random.below(4)) {
    case 0:
      out.append("<!-- <a href=\"/fake/comment\">old</a> -- > <a href='/fake/comment-tail'>older</a> -->\n");
      break;
    case 1:
      out.append("<script>document.write('<a href=\"/fake/script\">x<\\/a>'); if (1 < 2) go(\"/fake/go\");</script>\n");
      break;
    case 2:
      out.append("<textarea rows=\"2\"><a href=\"/fake/textarea\">not a link</a></textarea>\n");
      break;
    default:
      out.append("<p title='<a href=\"/fake/title\">'>&lt;a href=\"/fake/escaped\"&gt;</p>\n");
  }
  out.append("<form action=\"/submit\" method=\"post\"><input name=\"q\"></form>\n");
}

}  // namespace

PageLook page_look(const SampleWeb& web, unsigned host, unsigned page) {
  Random random(page_seed(web, host, page, 0x6c6f6f6b));
  PageLook look;
  const auto draw = random.below(100);
  look.encoding = draw < 86   ? Encoding::utf_8
                  : draw < 91 ? Encoding::windows_1251
                  : draw < 96 ? Encoding::shift_jis
                              : Encoding::iso_8859_1;
  const auto where = random.below(3);
  look.charset_in_header = where != 0;
  look.charset_in_meta = where != 1;
  look.has_base = page != 0 && random.chance(0.03);
  return look;
}

std::string page_base(const SampleWeb& web, unsigned host, unsigned page) {
  return page_look(web, host, page).has_base ? std::string(base_directory) : web.page_path(host, page);
}

std::string page_html(const SampleWeb& web, unsigned host, unsigned page) {
  Random random(page_seed(web, host, page, 0x68746d6c));
  const PageLook look = page_look(web, host, page);
  const std::vector<SampleLink> links = web.page_links(host, page);
  const Vocabulary vocabulary{web.shape().topics > 0, web.topic(host, page)};
  const auto target =
      static_cast<std::size_t>(std::clamp(random.log_normal(size_median, size_sigma), size_min, max_size));

  std::string out;
  out.reserve(target + 4096);
  append_head(out, look, links, random, host, page, vocabulary);
  out.append("<h1>");
  append_title(out, random, vocabulary);
  out.append("</h1>\n<ul class=\"nav\">\n");
  const std::size_t in_list = std::min<std::size_t>(links.size(), 12);
  for (std::size_t i = 0; i < in_list; ++i) {
    out.append("<li>");
    append_link(out, links[i], random, vocabulary.has_topic);
    out.append("</li>\n");
  }
  out.append("</ul>\n");
  append_fakes(out, random);
  out.append("<p>").append(foreign_words(look.encoding, random)).append("</p>\n");
  out.append("<img src=\"/img/").append(std::to_string(page % 100)).append(".png\" alt=\"figure\">\n");

  // The rest of the links, spread evenly over the rest of the text.
  std::size_t next = in_list;
  while (next < links.size() || out.size() < target) {
    if (random.chance(0.2)) {
      out.append("<h2>");
      append_title(out, random, vocabulary);
      out.append("</h2>\n");
    }
    out.append("<p>");
    const std::size_t text_left = target > out.size() ? target - out.size() : 0;
    const std::size_t links_left = links.size() - next;
    const std::size_t before_link = links_left == 0 ? text_left : text_left / (links_left + 1);
    append_sentences(out, random, std::min<std::size_t>(before_link, 700), vocabulary);
    if (next < links.size()) append_link(out, links[next++], random, vocabulary.has_topic);
    out.append("</p>\n");
  }
  return out.append("</body>\n</html>\n");
}

std::string small_html(std::string_view title, const std::vector<std::string>& spellings) {
  std::string out = "<!DOCTYPE html>\n<html><head><title>";
  out.append(title).append("</title></head>\n<body><h1>").append(title).append("</h1>\n<ul>\n");
  for (const std::string& spelling : spellings) {
    out.append("<li><a href=\"").append(spelling).append("\">go</a></li>\n");
  }
  return out.append("</ul></body></html>\n");
}

}  // namespace orbweaver::sample
