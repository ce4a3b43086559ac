// search.js SITE QUERY...: the pages that the manual's search finds for each query, the best first, as lines QUERY, tab, page.
// It runs the site's own search, as a worker in a browser does.
const fs = require("fs");
const vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
let asked = "";
const read = (name) => fs.readFileSync(`${site}/search/${name}`, "utf8");

const worker = vm.createContext({
  console: { log() {}, error: console.error },
  postMessage(message) {
    for (const page of message.results ?? []) console.log(`${asked}\t${page.location}`);
  },
  importScripts: (...names) => names.forEach((name) => vm.runInContext(read(name), worker)),
  XMLHttpRequest: class {
    addEventListener(event, done) {
      this.done = done;
    }
    open(method, name) {
      this.responseText = read(name);
    }
    send() {
      this.done();
    }
  },
});
vm.runInContext(read("worker.js"), worker);
worker.onmessage({ data: { init: true } });
for (asked of queries) worker.onmessage({ data: { query: asked } });
