/**
 * Returns a text that orders like the time: gateways print fractions of a second with up to nine digits. Empty for a text that is no
 * time in UTC.
 */
export function timeKey(text: string): string {
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)$/.exec(text) ?? [];
  return seconds === undefined ? '' : `${seconds}.${fraction.padEnd(9, '0')}`;
}
