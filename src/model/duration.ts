const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** Formats whole seconds: `30 min`, `1 h 30 min`, `2 d`. */
export function durationText(seconds: number): string {
  if (!Number.isSafeInteger(seconds) || seconds <= 0) return `${seconds} s`;
  let rest = seconds;
  const parts = units.flatMap(([length, unit]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.join(' ');
}
