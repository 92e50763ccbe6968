/** Returns the spellings in which a secret text could be printed: whole, in part, and encoded. */
export function formsOf(value: string): readonly string[] {
  const lines = value.split('\n').filter((line) => line.length > 12 && !line.startsWith('-----'));
  return lines.flatMap((line) => {
    const shifted = [0, 1, 2].map((skip) =>
      Buffer.from(line.slice(skip))
        .toString('base64')
        .replace(/.{1,4}$/, ''),
    );
    const others = [encodeURIComponent(line), JSON.stringify(line).slice(1, -1), Buffer.from(line).toString('hex')];
    return [
      line,
      line.slice(0, 16),
      line.slice(-8),
      ...shifted,
      ...shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
      ...others,
    ];
  });
}
