#!/usr/bin/env python3
"""Builds the manual, a static site, from the files of the tree: build.py OUT [BINARY].

The manual has the guides, the README of each folder, the tables of predictions against measurements, `--help all` of
every command, the tables of keys, and the protos, whose comments describe every file format. mkdocs (Debian: mkdocs)
lays out the pages, makes the search index, and reports broken links as errors. OUT/site/index.html opens without a
server; the search needs one (python3 -m http.server).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

GUIDES = [
    "doctor", "formats", "troubleshooting", "captures", "convert", "groups", "one_rank", "nsys", "call_logs",
    "astra_sim", "generate", "training_files", "plan", "hybrids", "collectives", "messages", "calibrate", "networks", "clouds",
    "faults", "packets", "extend", "report", "critical_path", "what_if", "fixed_time", "kernels", "kernel_model",
    "energy", "cost", "goodput", "where_to_train", "sweeps", "comparing", "python",
]
PICTURES = (".svg", ".png")
WORDS_END = r"[\s\-=,:;/()\[\]|]+"  # ends of words for the search: --fabric=fluid is two words


def title_of(text, otherwise):
    for line in text.splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return otherwise


class Manual:
    def __init__(self, out, binary):
        self.docs = out / "docs"
        self.site = out / "site"
        self.binary = binary
        self.pages = {}  # path in the tree -> path in docs
        self.nav = []

    def choose(self):
        """Selects the files of the tree that become pages, and their paths."""
        self.pages["README.md"] = "index.md"
        for name in GUIDES:
            path = f"examples/guide/{name}.md"
            if (SOURCE / path).exists():
                self.pages[path] = f"guide/{name}.md"
        others = sorted((SOURCE / "examples/guide").glob("*.md"))
        missing = [p.name for p in others if f"examples/guide/{p.name}" not in self.pages]
        if missing:
            sys.exit(f"build.py: guides without a place in GUIDES: {', '.join(missing)}")
        for path in sorted((SOURCE / "test/validation").glob("*.md")):
            self.pages[f"test/validation/{path.name}"] = f"measured/{path.name}"
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "*README.md"], capture_output=True, text=True)
        names = listed.stdout.split() or [str(p.relative_to(SOURCE)) for p in SOURCE.glob("*/**/README.md")]
        for name in sorted(names):
            if name != "README.md" and not name.startswith(("build", "replay/page/vendor")):
                self.pages[name] = "rooms/" + name[: -len("/README.md")].replace("/", "_") + ".md"

    def link(self, source, page, match):
        """Converts a link of a file in the tree to a link of the site; only its text if the target is no page."""
        bang, text, target = match.group(1), match.group(2), match.group(3)
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        name, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), name))
        if path not in self.pages and f"{path}/README.md" in self.pages:
            path = f"{path}/README.md"
        if path in self.pages:
            to = os.path.relpath(self.pages[path], os.path.dirname(page) or ".")
            return f"{bang}[{text}]({to}{'#' + anchor if anchor else ''})"
        if path.endswith(PICTURES) and (SOURCE / path).exists():
            copy = self.docs / "pictures" / path.replace("/", "_")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / path, copy)
            to = os.path.relpath(f"pictures/{copy.name}", os.path.dirname(page) or ".")
            return f"{bang}[{text}]({to})"
        return f"{text} (`{path}`)" if text.strip("`") != path else f"`{path}`"

    def write(self, page, text):
        path = self.docs / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def copy_pages(self):
        for source, page in self.pages.items():
            text = (SOURCE / source).read_text()
            blocks = re.split(r"(^```.*?^```\s*$)", text, flags=re.M | re.S)
            for i in range(0, len(blocks), 2):
                blocks[i] = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", lambda m: self.link(source, page, m), blocks[i])
            # mkdocs needs a blank line before a list.
            for i in range(0, len(blocks), 2):
                blocks[i] = re.sub(r"(^[^\n|>\-*#\s][^\n]*\n)(?=- )", r"\1\n", blocks[i], flags=re.M)
            self.write(page, "".join(blocks))

    def run(self, *words):
        env = dict(os.environ, COLUMNS="100")
        run = subprocess.run([self.binary, *words], capture_output=True, text=True, env=env)
        if run.returncode != 0:
            sys.exit(f"build.py: {self.binary} {' '.join(words)}: status {run.returncode}\n{run.stderr}")
        return run.stdout

    def help_of(self, *command):
        return self.run(*command, "--help", "all") if command else self.run("--help")

    @staticmethod
    def rows(text, heading):
        """The names at the start of the rows under a heading."""
        _, _, section = text.partition(f"\n{heading}\n")
        return re.findall(r"^  ([\w-]+)", section.partition("\n\n")[0], flags=re.M)

    def commands(self, *above):
        return self.rows(self.help_of(*above), "Commands:")

    def reference(self):
        pages = []
        for name in self.commands():
            text = f"# {name}\n\n```text\n{self.help_of(name)}```\n"
            for sub in self.commands(name):
                text += f"\n## {name} {sub}\n\n```text\n{self.help_of(name, sub)}```\n"
            self.write(f"commands/{name}.md", text)
            pages.append(f"commands/{name}.md")
        return pages

    def keys(self):
        """Writes a page for each topic of `help`; for networks, transports and fabrics with the keys of each kind."""
        pages = []
        for topic in self.rows(self.run("help"), "Topics:"):
            text = self.run("help", topic)
            out = [f"# {topic}\n\n```text\n{text}```\n"]
            table = "\n\n\n" + text.rsplit("\n\n", 1)[1]
            for name in self.rows(table, "") if topic in ("network", "transport") else []:
                out.append(f"\n## {name}\n\n```text\n{self.run('help', name)}```\n")
            self.write(f"keys/{topic}.md", "".join(out))
            pages.append(f"keys/{topic}.md")
        return pages

    def formats(self):
        pages = []
        for path in sorted((SOURCE / "proto").glob("*.proto")):
            text = path.read_text()
            intro = re.match(r"((?://[^\n]*\n)+)", text)
            out = [f"# {path.name}\n"]
            if intro:
                out.append("\n".join(line[2:].strip() for line in intro.group(1).splitlines()) + "\n")
            # Each top-level message and enum, with the comment before it.
            for m in re.finditer(r"((?:^//[^\n]*\n)*)^((?:message|enum|extend) ([\w.]+) \{.*?^\})", text, flags=re.M | re.S):
                out.append(f"## {m.group(3)}\n")
                comment = " ".join(line[2:].strip() for line in m.group(1).splitlines())
                out.append(comment + "\n" if comment and m.start() > 0 else "")
                out.append(f"```protobuf\n{m.group(2)}\n```\n")
            self.write(f"formats/{path.stem}.md", "\n".join(out))
            pages.append(f"formats/{path.stem}.md")
        return pages

    def configure(self, commands, keys, formats):
        def entries(prefix):
            return [p for p in self.pages.values() if p.startswith(prefix)]

        sections = [
            ("Guides", entries("guide/")), ("Commands", commands), ("Keys", keys), ("Files", formats),
            ("Predictions and measurements", entries("measured/")), ("The code, room by room", entries("rooms/")),
        ]
        lines = [
            "site_name: chakra-replay", f"docs_dir: {self.docs}", f"site_dir: {self.site}", "use_directory_urls: false",
            "theme: {name: readthedocs, navigation_depth: 2, highlightjs: false}", "extra_css: [manual.css]",
            "markdown_extensions: [tables, fenced_code, toc]", f"plugins: [search: {{separator: '{WORDS_END}'}}]", "nav:", "  - Start: index.md",
        ]
        for title, pages in sections:
            if pages:
                lines.append(f"  - {title}:")
                for page in pages:
                    name = title_of((self.docs / page).read_text(), page).replace("`", "").replace('"', "'")
                    lines.append(f'    - "{name}": {page}')
        shutil.copy(HERE / "manual.css", self.docs / "manual.css")
        # Debian's theme refers to files by names that Debian's package does not have.
        scripts = self.docs / "js"
        scripts.mkdir()
        shutil.copy("/usr/share/javascript/jquery/jquery.min.js", scripts / "jquery-3.6.0.min.js")
        (scripts / "theme_extra.js").write_text("// Nothing: the theme's own script does all that is used.\n")
        config = self.docs.parent / "mkdocs.yml"
        config.write_text("\n".join(lines) + "\n")
        return config

    def make(self):
        for folder in (self.docs, self.site):
            shutil.rmtree(folder, ignore_errors=True)
        self.choose()
        self.copy_pages()
        config = self.configure(self.reference(), self.keys(), self.formats())
        run = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "-f", config])
        if run.returncode != 0:
            sys.exit("build.py: mkdocs refuses the manual; see above")
        self.search_words()

    def search_words(self):
        """Makes the search treat input as words: it would read the dashes of an option as "not", a colon as a field."""
        worker = self.site / "search/worker.js"
        text, by_syntax = worker.read_text(), "index.search(query)"
        by_words = "index.query(function (q) { lunr.tokenizer(query).forEach(function (t) { q.term(t.toString(), {}); }); })"
        if text.count(by_syntax) != 1:
            sys.exit(f"build.py: {worker}: expected {by_syntax} once, as mkdocs 1.4 has it")
        worker.write_text(text.replace(by_syntax, by_words))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: build.py OUT [BINARY]; BINARY is build/chakra-replay where it is not named")
    binary = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else SOURCE / "build/chakra-replay").resolve()
    if not binary.exists():
        sys.exit(f"build.py: {binary}: no such file; build it first: examples/quickstart.sh")
    if shutil.which("mkdocs") is None:
        sys.exit("build.py: mkdocs is not installed: apt-get install mkdocs")
    out = pathlib.Path(sys.argv[1]).resolve()
    Manual(out, binary).make()
    print(out / "site/index.html")


if __name__ == "__main__":
    main()
