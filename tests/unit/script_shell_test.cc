// Which pages are shells that scripts fill, in the forms that frameworks' builds have; and which are not.
#include "node/html/script_shell.h"

#include <gtest/gtest.h>

namespace orbweaver::html {
namespace {

bool is_shell(std::string_view html) { return look_for_shell(html).is_shell(); }

TEST(ScriptShell, WhatFrameworksBuild) {
  const char* const react = R"(<!doctype html><html lang="en"><head><meta charset="utf-8"/><title>React App</title>
    <script defer="defer" src="/static/js/main.1f3a.js"></script><link href="/static/css/main.css" rel="stylesheet">
    </head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body>)";
  const char* const vue = R"(<!DOCTYPE html><html lang=""><head><title>shop</title></head><body><noscript><strong>We're
    sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div>
    <script src=/js/chunk-vendors.js></script><script src=/js/app.js></script></body></html>)";
  const char* const vite = R"(<!doctype html><html><head><script type="module" crossorigin src="/assets/index.js">
    </script></head><body><div id="app"><div class="spinner">Loading…</div></div></body></html>)";
  const char* const angular = R"(<!doctype html><html><head><base href="/"><title>Portal</title></head><body>
    <app-root></app-root><script src="polyfills.js" type="module"></script><script src="main.js" type="module"></script>
    </body></html>)";
  const char* const nuxt = R"(<!DOCTYPE html><html><head></head><body><div id="__nuxt"></div>
    <script type="application/json" id="__NUXT_DATA__">[{"state":1}]</script><script src="/_nuxt/entry.js"></script>)";
  const char* const unknown = R"(<html><body><noscript>Bitte JavaScript einschalten.</noscript><div class=x></div>
    <script src=a.js></script></body></html>)";
  const char* const swagger = R"(<!DOCTYPE html><html lang="en"><head><title>Swagger UI</title></head><body>
    <div id="swagger-ui"></div><script src="./swagger-ui-bundle.js" charset="UTF-8"></script></body></html>)";
  for (const char* page : {react, vue, vite, angular, nuxt, unknown, swagger}) EXPECT_TRUE(is_shell(page)) << page;
  EXPECT_EQ(look_for_shell(react).root, "div#root");
  EXPECT_EQ(look_for_shell(angular).root, "app-root");
  EXPECT_EQ(look_for_shell(nuxt).scripts, 1u) << "data is no script";
  EXPECT_EQ(look_for_shell(react).why(),
            "0 bytes of text, 0 links, 1 scripts; scripts fill div#root; it asks for JavaScript");
  EXPECT_EQ(look_for_shell(vite).text_bytes, 10u) << "Loading…";
}

TEST(ScriptShell, APageWithTextOrLinksIsNone) {
  const std::string text(300, 'x');
  EXPECT_FALSE(is_shell("<div id=root><p>" + text + "</p></div><script src=a.js></script>")) << "made on the server";
  EXPECT_FALSE(is_shell("<div id=app><a href=1>1</a><a href=2>2</a><a href=3>3</a></div><script src=a.js></script>"));
  EXPECT_FALSE(is_shell("<p>short</p><rustdoc-toolbar></rustdoc-toolbar><script src=a.js></script>"))
      << "an element of its own among the content";
  EXPECT_FALSE(is_shell("<div id=photo><img src=a.jpg></div><script src=a.js></script>")) << "a picture";
  EXPECT_FALSE(is_shell("<script src=a.js></script>")) << "nothing to fill: it may lead elsewhere";
  EXPECT_FALSE(is_shell("<div id=app></div>")) << "no script that could fill it";
  EXPECT_FALSE(is_shell("<div id=app></div><script>var a = 1;</script>"));
  EXPECT_FALSE(is_shell("<p>short</p><script src=counter.js></script>")) << "a short page with a counter";
  EXPECT_FALSE(is_shell("<p>short</p><noscript><img src=pixel></noscript><script src=counter.js></script>"));
  EXPECT_FALSE(is_shell(""));
  EXPECT_TRUE(is_shell("<div id=app></div><script>" + std::string(2'000, 'x') + "</script>")) << "it is in the page";
}

TEST(ScriptShell, WhatIsNotShownIsNoText) {
  const std::string text(300, 'x');
  EXPECT_TRUE(is_shell("<title>" + text + "</title><style>" + text + "</style><template>" + text +
                       "</template><div id=root></div><script src=a.js></script>"));
  EXPECT_EQ(look_for_shell("<body><svg><title>t</title></svg><script type=text/template><p>" + text +
                           "</p></script><div id=root></div>")
                .text_bytes,
            0u);
}

}  // namespace
}  // namespace orbweaver::html
