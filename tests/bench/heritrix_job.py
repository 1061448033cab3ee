"""A Heritrix 3 job for tests/bench/run: its own default profile, with the overrides that make it comparable with the
others: no politeness delay, no images, scripts or styles, no hop limit. One request at a time per host is its rule
anyway."""

import glob
import os
import zipfile

PROFILE = "org/archive/crawler/restlet/profile-crawler-beans.cxml"
NO_PAGES = r".*\.(?i)(css|js|png|gif|jpe?g|svg|ico|woff2?)(\?.*)?$"
OVERRIDES = """
metadata.operatorContactUrl=https://example.org/bot
metadata.jobName=bench
metadata.description=bench
crawlController.maxToeThreads={toes}
crawlController.pauseAtStart=false
disposition.delayFactor=0
disposition.minDelayMs=0
disposition.maxDelayMs=0
disposition.respectCrawlDelayUpToSeconds=0
warcWriter.enabled={archive}
"""


def command(home, directory, seeds, archive):
    """Writes the job below `directory`; the command that runs it and ends with it."""
    engine = glob.glob(os.path.join(home, "lib", "heritrix-engine-*.jar"))
    if not engine:
        raise FileNotFoundError(f"{home}/lib has no heritrix-engine: unpack heritrix-VERSION-dist.zip of Maven Central")
    with zipfile.ZipFile(engine[0]) as jar:
        profile = jar.read(PROFILE).decode("utf-8")
    begin = profile.index("metadata.operatorContactUrl=")
    end = profile.index("##..more?..##", begin)
    overrides = OVERRIDES.format(toes=max(4, len(seeds)), archive=str(archive).lower())
    profile = profile[:begin] + overrides.lstrip() + profile[end:]
    example = "http://example.example/example"
    if example not in profile or "TooManyHopsDecideRule\">" not in profile:
        raise ValueError("this Heritrix has another profile than 3.13's")
    profile = profile.replace(example, "\n".join(seeds))
    profile = profile.replace(
        'TooManyHopsDecideRule">', 'TooManyHopsDecideRule"><property name="maxHops" value="10000"/>', 1)
    # Sub-resources come in by this rule, out of scope too; pages are what is compared.
    reject = ('<bean class="org.archive.modules.deciderules.MatchesListRegexDecideRule">'
              '<property name="decision" value="REJECT"/><property name="regexList"><list>'
              f"<value>{NO_PAGES}</value></list></property></bean>")
    scheme = '<bean class="org.archive.modules.deciderules.SchemeNotInSetDecideRule">'
    profile = profile.replace(scheme, reject + scheme, 1)
    job = os.path.join(directory, "jobs", "bench")
    os.makedirs(job)
    with open(os.path.join(job, "crawler-beans.cxml"), "w", encoding="utf-8") as out:
        out.write(profile)
    return ["java", "-Xmx256m", f"-Dheritrix.home={home}", "-cp", os.path.join(home, "lib", "*"),
            "org.archive.crawler.Heritrix", "-a", "bench:bench", "-p", "0", "-j", os.path.join(directory, "jobs"),
            "-r", "bench"]
