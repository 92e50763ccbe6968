const longest = 60;

/** Cuts a text to 60 characters. */
export function cutText(text: string): string {
  const characters = Array.from(text.slice(0, 4 * longest));
  return characters.length > longest ? `${characters.slice(0, longest - 3).join('')}...` : text;
}

/** Cuts a text to 60 characters and puts it in quotes, without escaping. */
export function shortText(text: string): string {
  return `"${cutText(text)}"`;
}
