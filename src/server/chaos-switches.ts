import { chaosHeader, type Chaos, type Effect } from './chaos.ts';
import { Rejection } from './rejection.ts';

const longestDelay = 60_000;

/** What each switch does, by its spelling. */
const switches: Readonly<Record<string, (value: string) => Effect | undefined>> = {
  delay: (value) => (within(value, 0, longestDelay) ? { delayMs: Number(value) } : undefined),
  status: (value) => statuses.map((status) => ({ status })).find(({ status }) => String(status) === value),
  'retry-after': (value) => (within(value, 0, 3600) ? { retryAfter: Number(value) } : undefined),
  drop: (value) => (Object.hasOwn(drops, value) ? drops[value] : undefined),
  fail: (value) => (value === 'after-commit' ? { status500AfterCommit: true } : undefined),
};

const statuses = [429, 500, 502, 503, 504] as const;
const drops: Readonly<Record<string, Effect>> = { before: { dropBefore: true }, after: { dropAfter: true } };

/** Does to each request what its own header asks for, such as `delay=200, status=429, retry-after=1`. */
export const chaosBySwitches: Chaos = ({ switches: asked }) => (asked === undefined ? undefined : readSwitches(asked));

function readSwitches(text: string): Effect {
  const effects = text.split(',').map((part) => {
    const [name = '', value = ''] = part.trim().split('=');
    const effect = Object.hasOwn(switches, name) ? switches[name]?.(value) : undefined;
    if (effect === undefined) {
      const known = 'delay=MS, status=429|500|502|503|504, retry-after=SECONDS, drop=before|after, fail=after-commit';
      throw new Rejection(400, `${chaosHeader} has ${known}, not ${JSON.stringify(part.trim())}`);
    }
    return effect;
  });
  return Object.assign({}, ...effects);
}

function within(text: string, from: number, to: number): boolean {
  return /^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to;
}
