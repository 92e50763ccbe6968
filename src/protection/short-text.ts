const longest = 60;

/** A text, cut where it is long. */
export function cutText(text: string): string {
  const characters = Array.from(text.slice(0, 4 * longest));
  return characters.length > longest ? `${characters.slice(0, longest - 3).join('')}...` : text;
}

/** A text in quotes as it stands, cut where it is long. */
export function shortText(text: string): string {
  return `"${cutText(text)}"`;
}
