// What a page does beside its contents: light and dark, the list of sections, and <html> says that all is through:
// data-ready, or data-error.
const root = document.documentElement;
addEventListener("error", (event) => (root.dataset.error = event.message));
addEventListener(
  "securitypolicyviolation",
  (event) => (root.dataset.error = `policy: ${event.violatedDirective}`),
);

const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = ""; // "": as the system has it; remembered for as long as the page is open

function applyTheme(shown) {
  root.dataset.theme = shown;
  charts.forEach(draw);
}
const themeNow = () => theme || (dark.matches ? "dark" : "light");

function switchTheme() {
  theme = themeNow() === "dark" ? "light" : "dark";
  applyTheme(theme);
  nameSwitch();
}

function nameSwitch() {
  at("theme").hidden = false;
  at("theme").textContent = themeNow() === "dark" ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", `Show the page ${themeNow() === "dark" ? "light" : "dark"}`);
}

// Before anything is drawn.
function begin() {
  root.dataset.theme = themeNow();
  nameSwitch();
  at("theme").addEventListener("click", switchTheme);
  dark.addEventListener("change", () => {
    if (theme === "") applyTheme(themeNow());
    nameSwitch();
  });
  addEventListener("beforeprint", () => applyTheme("light"));
  addEventListener("afterprint", () => applyTheme(themeNow()));
}

// When all is there.
function end() {
  at("contents").append(
    ...[...document.querySelectorAll("main > section:not([hidden])")].map((section) =>
      make("li", {}, make("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)),
    ),
  );
  root.dataset.ready = "1";
}
