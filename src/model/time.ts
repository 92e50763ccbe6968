const days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether a text is a valid calendar date `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const last = month === '02' && !isLeap ? 28 : (days[Number(month) - 1] ?? 0);
  return Number(day) >= 1 && Number(day) <= last;
}

/** Returns a count of days for a `YYYY-MM-DD` date; only differences between two counts have a meaning. */
export function dayNumber(day: string): number {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const [years, months] = month > 2 ? [year, month - 3] : [year - 1, month + 9];
  return (
    365 * years + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400) + Math.floor((153 * months + 2) / 5) + date
  );
}

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

/**
 * Returns a text that orders like the time: gateways print fractions of a second with up to nine digits. Empty for a text that is no
 * time in UTC.
 */
export function timeKey(text: string): string {
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)$/.exec(text) ?? [];
  return seconds === undefined ? '' : `${seconds}.${fraction.padEnd(9, '0')}`;
}

/** Returns `2026-11-20 03:12 UTC`; other forms of a time stay as they are. */
export function timeText(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*Z$/, '$1 $2 UTC');
}
