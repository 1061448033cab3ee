#include "node/lab/commands/lab_order_command.h"

#include <memory>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/order.h"
#include "node/sampleweb/sample_text.h"

namespace orbweaver {

void add_lab_order(CLI::App& lab, int& code) {
  struct Options {
    OrderOptions order;
    ReportOutput output;
  };
  const auto options = std::make_shared<Options>();
  OrderOptions& order = options->order;
  CLI::App* command = lab.add_subcommand("order", "orders of crawling: how soon each finds what is sought");
  command->add_option("--seed", order.seed, "of the sample web")->capture_default_str();
  command->add_option("--hosts", order.hosts, "of the sample web")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  command->add_option("--pages", order.pages, "of all its hosts together")
      ->check(CLI::Range(10u, 1'000'000u))
      ->capture_default_str();
  command->add_option("--topics", order.topics, "that its pages are about; the first of them is sought")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command->add_option("--topic-words", order.topic_words, "that the crawl by topic is given")
      ->check(CLI::Range(1u, sample::topic_words_each))
      ->capture_default_str();
  command->add_option("--fetches", order.fetches, "fetches in flight, for each peer")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command->add_option("--peers", order.peers, "that crawl")->check(CLI::Range(1u, 64u))->capture_default_str();
  command->add_option("--orders", order.orders, "breadth, depth, topic, opic, inlinks")
      ->delimiter(',')
      ->check(CLI::IsMember({"breadth", "depth", "topic", "opic", "inlinks"}))
      ->type_name("LIST");
  command->add_option("--directory", order.directory, "where the crawls live while it runs")->type_name("DIR");
  add_report_flags(*command, options->output);
  command->callback([options, &code] { code = finish_experiment(lab_order(options->order), options->output); });
}

}  // namespace orbweaver
