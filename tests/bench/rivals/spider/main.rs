//! The smallest program of the crate `spider` that fetches the hosts of its seeds. A crawl of the crate has one start
//! URL, so there is one for each seed, side by side, with one connection each. It keeps nothing.
//!
//!     bench_spider URL...

use spider::tokio;
use spider::website::Website;

async fn crawl(seed: String) {
    let mut website = Website::new(&seed);
    website
        .with_respect_robots_txt(true)
        .with_delay(0)
        .with_depth(0)
        .with_concurrency_limit(Some(1));
    website.crawl().await;
}

#[tokio::main]
async fn main() {
    let crawls: Vec<_> = std::env::args().skip(1).map(|seed| tokio::spawn(crawl(seed))).collect();
    for crawl in crawls {
        if let Err(error) = crawl.await {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
