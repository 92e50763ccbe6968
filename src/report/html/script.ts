/** What makes the page search, filter and print; it reads attributes that we wrote and never makes HTML of text. */
export const script: string = `
(() => {
  const search = document.getElementById('search');
  const way = document.getElementById('way');
  const told = document.getElementById('told');
  const rows = [...document.querySelectorAll('[data-name]')];
  const parts = [...document.querySelectorAll('[data-part]')];
  const apply = () => {
    const words = search.value.trim().toLowerCase().split(/\\s+/);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => row.dataset.name.includes(word)) && (way.value === '' || row.dataset.way === way.value);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    for (const part of parts) part.hidden = part.querySelector('[data-name]:not([hidden])') === null;
    told.textContent = search.value.trim() === '' && way.value === '' ? '' : shown + ' of ' + rows.length + ' shown';
  };
  search.addEventListener('input', apply);
  way.addEventListener('change', apply);
  const folded = () => [...document.querySelectorAll('details:not([open])')];
  let opened = [];
  addEventListener('beforeprint', () => { opened = folded(); for (const one of opened) one.open = true; });
  addEventListener('afterprint', () => { for (const one of opened) one.open = false; opened = []; });
  document.getElementById('fold').addEventListener('click', () => {
    const closed = folded();
    for (const one of closed.length > 0 ? closed : document.querySelectorAll('details')) one.open = closed.length > 0;
  });
})();
`;
