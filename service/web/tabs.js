// Tabs as ARIA wants them: arrows move, Home and End jump, the address keeps the place.

const changed = new EventTarget();

export function onTab(listener) {
  changed.addEventListener("tab", (event) => listener(event.detail));
}

export function startTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panel = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

  function choose(tab, { focus = false, remember = true } = {}) {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      panel(other).hidden = !chosen;
    }
    if (focus) tab.focus();
    if (remember) history.replaceState(null, "", `#${panel(tab).id}`);
    changed.dispatchEvent(new CustomEvent("tab", { detail: panel(tab).id }));
  }

  for (const [place, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[(to + tabs.length) % tabs.length], { focus: true });
    });
  }
  const fromAddress = () => tabs.find((tab) => panel(tab).id === location.hash.slice(1));
  addEventListener("hashchange", () => fromAddress() && choose(fromAddress()));
  choose(fromAddress() || tabs[0], { remember: false });
}
