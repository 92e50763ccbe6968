const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Makes text harmless in HTML, attributes included. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Writes the little Markdown that descriptions use (paragraphs, lists, code, bold) as HTML; anything else stays text. */
export function renderText(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => (block.startsWith('- ') ? `<ul>${renderEntries(block)}</ul>` : `<p>${renderLine(block)}</p>`))
    .join('\n');
}

/** Writes one line of it, for a cell of a table. */
export function renderLine(text: string): string {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .map((part) => {
      if (/^`.+`$/s.test(part)) return `<code>${escapeText(part.slice(1, -1))}</code>`;
      return /^\*\*.+\*\*$/s.test(part) ? `<strong>${escapeText(part.slice(2, -2))}</strong>` : escapeText(part);
    })
    .join('');
}

function renderEntries(block: string): string {
  const entries = block.split(/^- /m).filter((entry) => entry !== '');
  return entries.map((entry) => `<li>${renderLine(entry.trim())}</li>`).join('');
}
