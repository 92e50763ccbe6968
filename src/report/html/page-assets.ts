/** The style sheet: light, dark and printed; the contrasts meet WCAG AA. */
export const htmlStyle: string = `
:root { --ink: #1b1f24; --quiet: #57606a; --page: #ffffff; --line: #d0d7de; --shade: #f6f8fa; --link: #0550ae;
  --weakens: #a40e26; --weakens-bg: #ffebe9; --strengthens: #116329; --strengthens-bg: #dafbe1;
  --both: #7d4e00; --both-bg: #fff8c5; --neutral: #0550ae; --neutral-bg: #ddf4ff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9ea7b3; --page: #0d1117; --line: #30363d; --shade: #161b22;
  --link: #79c0ff; --weakens: #ffa198; --weakens-bg: #490202; --strengthens: #7ee787; --strengthens-bg: #04260f;
  --both: #f2cc60; --both-bg: #341a00; --neutral: #a5d6ff; --neutral-bg: #051d4d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1rem 1.5rem 4rem; color: var(--ink); background: var(--page);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
a { color: var(--link); } .skip { position: absolute; left: -99rem; } .skip:focus { position: static; }
.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: .7em; height: .7em; fill: currentColor; vertical-align: baseline; }
code, pre, .mono { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { overflow-x: auto; background: var(--shade); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; margin: .4rem 0; }
.quiet { color: var(--quiet); font-weight: 400; }
ul.headlines { list-style: none; padding: 0; } ul.headlines > li { margin: .3rem 0; padding: .4rem .6rem; border-left: 4px solid var(--line);
  background: var(--shade); }
ul.headlines > li.weakens { border-color: var(--weakens); } ul.headlines > li.strengthens { border-color: var(--strengthens); }
ul.headlines > li.unknown, ul.headlines > li.exposes, ul.headlines > li.reroutes { border-color: var(--both); }
.badge { display: inline-block; padding: 0 .45em; border-radius: 1em; font-size: .8rem; font-weight: 600; border: 1px solid; white-space: nowrap; }
.weakens.badge, td.weakens { color: var(--weakens); background: var(--weakens-bg); }
.strengthens.badge, td.strengthens { color: var(--strengthens); background: var(--strengthens-bg); }
.both.badge, .unknown.badge, .exposes.badge, .reroutes.badge, td.both, td.unknown { color: var(--both); background: var(--both-bg); }
.neutral.badge, td.neutral { color: var(--neutral); background: var(--neutral-bg); }
.tools { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .6rem 0;
  background: var(--page); border-bottom: 1px solid var(--line); }
.tools input[type=search] { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--quiet); border-radius: 6px;
  padding: .25rem .5rem; min-width: 16rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; padding: .2rem 0; }
.filters select { max-width: 16rem; } .tools select, .filters select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--quiet); border-radius: 6px; padding: .25rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; } caption { text-align: left; color: var(--quiet); padding: .25rem 0; max-width: min(74rem, calc(100vw - 3rem)); }
th, td { text-align: left; vertical-align: top; padding: .15rem .5rem; border: 1px solid var(--line); }
thead th { background: var(--shade); } td.tags { min-width: 20rem; }
/* Measuring every cell of a long table takes longer than all else. */
.many table.picture { table-layout: fixed; width: 100%; min-width: 70rem; } .many table.picture th:first-child { width: 12rem; }
.many table.picture td { white-space: normal; } .many table.picture thead th { padding: .15rem .3rem; font-size: .85rem; overflow-wrap: anywhere; }
table.picture td { position: relative; text-align: center; white-space: nowrap; font-size: .85rem; padding: .05rem .4rem; }
table.picture td.none { color: var(--quiet); }
table.picture td.weakens, table.picture td.strengthens, table.picture td.both, table.picture td.unknown, table.picture td.neutral {
  font-weight: 700; border: 2px solid currentColor; }
table.picture tbody th { font-weight: 400; white-space: nowrap; } table.picture tr.group th { font-weight: 600; background: var(--shade); }
table.permissions tbody th { font-weight: 600; } table.permissions td { min-width: 7rem; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: 0 .6rem; }
summary { cursor: pointer; padding: .35rem 0; } .many details { content-visibility: auto; contain-intrinsic-size: auto 2.2rem; }
details[open] > summary { border-bottom: 1px solid var(--line); margin-bottom: .4rem; }
summary .mono { font-weight: 600; }
.gains { color: var(--strengthens); } .loses { color: var(--weakens); } .becomes { color: var(--both); }
@media screen and (max-width: 40rem) { .tools { position: static; } table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack, table.stack caption, table.stack tbody, table.stack tr, table.stack th, table.stack td { display: block; border: 0; overflow-wrap: anywhere; } table.stack tr { border: 1px solid var(--line); margin: .4rem 0; }
  table.stack td[data-label]::before { content: attr(data-label) ': '; color: var(--quiet); } table.stack td.tags, table.permissions td { min-width: 0; } table.stack td:empty { display: none; } }
.refusals { border: 2px solid var(--weakens); border-radius: 6px; padding: .2rem 1rem; }
[hidden] { display: none !important; }
@media print { .tools, .skip { display: none; } body { max-width: none; } details { break-inside: avoid; content-visibility: visible !important; }
  .scroll { overflow: visible; } table { width: 100%; } tr, li { break-inside: avoid; } h2, h3 { break-after: avoid; }
  table.picture, .many table.picture { min-width: 0; table-layout: auto; } table.picture td, table.picture th, .many table.picture thead th { white-space: normal; overflow-wrap: normal; font-size: .6rem; padding: .05rem .1rem; }
  table.picture tbody th { overflow-wrap: anywhere; min-width: 5.5rem; }
  td.tags { min-width: 0; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
@media print { @page { margin: 12mm; } }
`;

/** The script for search, filters and printing. It reads attributes that Ostiary wrote, and never turns text into HTML. */
export const htmlScript: string = `
(() => {
  const search = document.getElementById('search');
  const direction = document.getElementById('direction');
  const chosenDirection = () => direction?.value ?? '';
  const count = document.getElementById('count');
  const same = document.getElementById('same');
  const rows = [...document.querySelectorAll('[data-name]')];
  const parts = [...document.querySelectorAll('[data-part]')];
  const choices = [...document.querySelectorAll('[data-choice]')];
  const chosen = (name) => choices.filter((choice) => choice.dataset.choice === name && choice.value !== '');
  const isChosen = ({ dataset: { connection, verbs, groups, except } }) => connection === undefined || (
    chosen('connection').every((choice) => choice.value === connection) &&
    chosen('verb').every((choice) => JSON.parse(verbs).includes(choice.value)) &&
    chosen('group').every((choice) => groups === undefined ? !JSON.parse(except).includes(choice.value) : JSON.parse(groups).includes(choice.value)));
  const apply = () => {
    const words = search.value.trim().toLowerCase().split(/\\s+/);
    const filters = search.value.trim() !== '' || chosenDirection() !== '' || choices.some((choice) => choice.value !== '');
    let shown = 0;
    for (const row of rows) {
      const fits = (filters || same?.checked || row.dataset.direction !== 'same') && words.every((word) => row.dataset.name.includes(word)) && (chosenDirection() === '' || row.dataset.direction === chosenDirection()) && isChosen(row);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    for (const rest of document.querySelectorAll('[data-rest]')) if (filters) rest.open = true;
    for (const part of parts) part.hidden = part.querySelector('[data-name]:not([hidden])') === null;
    count.textContent = !filters ? '' : shown + ' of ' + rows.length + ' shown';
  };
  search.addEventListener('input', apply);
  direction?.addEventListener('change', apply);
  same?.addEventListener('change', apply);
  apply();
  for (const choice of choices) choice.addEventListener('change', apply);
  const folded = () => [...document.querySelectorAll('details:not([open])')];
  let opened = [];
  // On paper, a short page shows everything; of a long one, what is unfolded.
  addEventListener('beforeprint', () => { opened = folded().length > 60 ? [] : folded(); for (const one of opened) one.open = true; });
  addEventListener('afterprint', () => { for (const one of opened) one.open = false; opened = []; });
  document.getElementById('fold')?.addEventListener('click', () => {
    const closed = folded();
    for (const one of closed.length > 0 ? closed : document.querySelectorAll('details')) one.open = closed.length > 0;
  });
})();
`;

/** The style of a report on access; on a narrow screen each row is a block. */
export const accessStyle: string = `
table.access { width: 100%; font-size: .9rem; } table.access th[scope=row] { font-weight: 600; } table.access td { overflow-wrap: break-word; } table.access td.mono, table.access td .mono { overflow-wrap: anywhere; } table.access td:has(> div .mono) { min-width: 17rem; }
table.access tbody tr { content-visibility: auto; } table.access { margin-top: .5rem; }
@media screen and (max-width: 48rem) { table.access thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  code { overflow-wrap: anywhere; }
  table.access, table.access tbody, table.access tr, table.access th, table.access td { display: block; }
  table.access tr { margin: .6rem 0; } table.access td > div { display: inline; } table.access td > div + div::before { content: ' '; } table.access td::before { content: attr(data-label) ': '; color: var(--quiet); } table.access td:empty { display: none; } }
@media print { .filters:not(:has(option:not([value='']):checked)) { display: none; } @page { size: A4 landscape; } table.access { font-size: .65rem; } thead { display: table-header-group; } }
`;
