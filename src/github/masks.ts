/** Commands that keep a secret out of the log from here on: the value, each of its lines, and the form that it travels in. */
export function maskCommands(secret: string | Uint8Array): string {
  const bytes = Buffer.from(secret);
  const text = bytes.toString();
  const values = new Set([text, bytes.toString('base64'), ...text.split(/\r\n|\r|\n/)].map((value) => value.trim()));
  return [...values].flatMap((value) => (value === '' ? [] : [`::add-mask::${escaped(value)}\n`])).join('');
}

/** The runner undoes exactly these: any other escape would mask another text. */
function escaped(value: string): string {
  return value.replace(/[%\r\n]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
