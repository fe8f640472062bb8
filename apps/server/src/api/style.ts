/** Quiet surfaces, one accent, tabular figures; light and dark as the system says; from 320 px on. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2330, #e4e8ef); --quiet: light-dark(#566074, #a3adbf);
  --ground: light-dark(#f6f7f9, #11151c); --surface: light-dark(#fff, #191f29); --line: light-dark(#dde1e8, #2b3442);
  --accent: light-dark(#1857c9, #84adff); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
header, .columns { max-width: 74rem; margin: 0 auto; padding: 1.5rem 1rem 0; }
h1 { margin: 0; font-size: 1.7rem; letter-spacing: -0.02em; }
h2 { margin: 0 0 0.75rem; font-size: 1.15rem; }
h3 { margin: 1rem 0 0.3rem; font-size: 0.85rem; color: var(--quiet); }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.columns { display: grid; gap: 2rem; grid-template-columns: 15rem minmax(0, 1fr); padding-bottom: 4rem; }
nav { position: sticky; top: 1rem; align-self: start; display: grid; }
nav a { display: flex; justify-content: space-between; gap: 1rem; padding: 0.35rem 0.5rem; color: inherit; text-decoration: none; border-radius: 6px; }
nav a:hover { background: var(--surface); color: var(--accent); }
nav span, .who { color: var(--quiet); }
nav span { white-space: nowrap; }
section + section { margin-top: 2.5rem; }
details { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0 0.9rem; margin-bottom: 0.5rem; }
details[open] { padding-bottom: 0.9rem; }
summary { display: flex; flex-wrap: wrap; gap: 0.2rem 0.7rem; align-items: baseline; padding: 0.6rem 0; cursor: pointer; }
summary::-webkit-details-marker { display: none; }
summary::after { content: '+'; margin-left: auto; color: var(--quiet); }
details[open] > summary::after { content: '−'; }
.method { font: 600 0.75rem/1.4 ui-monospace, monospace; min-width: 3.4rem; color: var(--accent); }
.delete { color: light-dark(#b3261e, #ff9d93); }
.post, .put { color: light-dark(#8a5200, #f2bd6b); }
.what { color: var(--quiet); flex: 1 1 14rem; }
.who { margin: 0; }
code, pre { font: 0.86rem/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: 0.7rem 0.9rem; background: var(--ground); border-radius: 6px; overflow: auto; max-height: 24rem; overflow-wrap: normal; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-top: 1px solid var(--line); }
th { font-weight: 500; color: var(--quiet); border-top: 0; }
@media (max-width: 768px) { .columns { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; } nav { position: static; } }
`
