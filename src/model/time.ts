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

const instant = /^(\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d)))?$/;

/** Returns the seconds of a day, at its beginning, or of a time with its offset from UTC; only differences have a meaning. Not a number for other texts. */
function secondsOf(text: string): number {
  const [, day = '', hour = '0', minute = '0', second = '0', fraction = '0', sign, hours = '0', minutes = '0'] = instant.exec(text) ?? [];
  const isTime = [hour, hours].every((one) => Number(one) < 24) && [minute, second, minutes].every((one) => Number(one) < 60);
  if (!isDay(day) || !isTime) return Number.NaN;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
  return dayNumber(day) * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(`${second}.${fraction}`) - offset;
}

/** Returns whether a text is a valid end: a day `YYYY-MM-DD`, or a time with its offset from UTC. */
export function isEnd(text: string): boolean {
  return !Number.isNaN(secondsOf(text));
}

/** Returns when something ends: what holds until a day holds through that whole day in UTC. */
function endTime(until: string): number {
  return secondsOf(until) + (until.length === 10 ? 86_400 : 0);
}

/** Returns whether something that holds until a day or a time has ended `now`, which is a time, or the beginning of a day. */
export function hasEnded(until: string, now: string): boolean {
  return endTime(until) <= secondsOf(now);
}

/** Returns whether one end is later than another one. */
export function endsLater(until: string, other: string): boolean {
  return endTime(until) > endTime(other);
}

/** An end is announced this many days before. */
const noticeDays = 14;

/** Returns `ends in 3 days (2027-02-28)` for an end that is near; undefined for other ends. */
export function nearEndText(until: string, now: string): string | undefined {
  const left = dayNumber(until.slice(0, 10)) - dayNumber(now.slice(0, 10));
  if (left > noticeDays) return undefined;
  return `ends ${left <= 0 ? 'today' : `in ${left} day${left === 1 ? '' : 's'}`} (${until})`;
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
