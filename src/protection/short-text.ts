/** A pattern in quotes as it stands, cut where it is long. */
export function shortPattern(text: string): string {
  return `"${cut(text)}"`;
}

/** A text in quotes, cut where it is long. */
export function shortText(text: string): string {
  return JSON.stringify(cut(text));
}

function cut(text: string): string {
  const characters = Array.from(text.slice(0, 200));
  return characters.length > 60 ? `${characters.slice(0, 57).join('')}...` : text;
}
