const colors: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '36': '#79c0ff',
};
const [characterWidth, lineHeight, margin] = [8.43, 20, 16];

/** Returns the picture of a terminal, as SVG, with a text that contains escape sequences for colors. */
export function terminalPicture(text: string, columns: number): string {
  const lines = text.trimEnd().split('\n');
  const [width, height] = [Math.ceil(columns * characterWidth) + 2 * margin, lines.length * lineHeight + 2 * margin];
  const rows = lines.map((line, index) => `<text x="${margin}" y="${margin + (index + 0.75) * lineHeight}">${spansOf(line)}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    '<g xml:space="preserve" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">',
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** A sequence that changes the style of what follows. */
const escapeSequence = new RegExp(`${String.fromCodePoint(0x1b)}\\[([\\d;]+)m`);

/** Returns a line as spans, each with its style. */
function spansOf(line: string): string {
  const parts = line.split(escapeSequence);
  const style = { color: '', weight: '', opacity: '' };
  return parts
    .map((part, index) => {
      if (index % 2 === 1) {
        for (const code of part.split(';')) changeStyle(style, code);
        return '';
      }
      const attributes = Object.entries({ fill: style.color, 'font-weight': style.weight, opacity: style.opacity });
      const set = attributes.filter(([, value]) => value !== '').map(([name, value]) => ` ${name}="${value}"`);
      const escaped = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      return part === '' || set.length === 0 ? escaped : `<tspan${set.join('')}>${escaped}</tspan>`;
    })
    .join('');
}

function changeStyle(style: { color: string; weight: string; opacity: string }, code: string): void {
  if (code === '1') style.weight = 'bold';
  else if (code === '2') style.opacity = '0.65';
  else if (code === '22') Object.assign(style, { weight: '', opacity: '' });
  else style.color = colors[code] ?? '';
}
