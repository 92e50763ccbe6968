import { chaosHeader, type Chaos, type ChaosEffect } from './http/chaos.ts';
import { Rejection } from './http/rejection.ts';

const maxDelayMs = 60_000;

/** What each switch does, by its spelling. */
const switchEffects: Readonly<Record<string, (value: string) => ChaosEffect | undefined>> = {
  delay: (value) => (isInRange(value, 0, maxDelayMs) ? { delayMs: Number(value) } : undefined),
  status: (value) => chaosStatuses.map((status) => ({ status })).find(({ status }) => String(status) === value),
  'retry-after': (value) => (isInRange(value, 0, 3600) ? { retryAfter: Number(value) } : undefined),
  drop: (value) => (Object.hasOwn(dropEffects, value) ? dropEffects[value] : undefined),
  fail: (value) => (value === 'after-commit' ? { status500AfterCommit: true } : undefined),
};

const chaosStatuses = [429, 500, 502, 503, 504] as const;
const dropEffects: Readonly<Record<string, ChaosEffect>> = { before: { dropBefore: true }, after: { dropAfter: true } };

/** Does to each request what its own header asks for, such as `delay=200, status=429, retry-after=1`. */
export const chaosFromSwitches: Chaos = ({ switches: asked }) => (asked === undefined ? undefined : readSwitches(asked));

function readSwitches(text: string): ChaosEffect {
  const effects = text.split(',').map((part) => {
    const [name = '', value = ''] = part.trim().split('=');
    const effect = Object.hasOwn(switchEffects, name) ? switchEffects[name]?.(value) : undefined;
    if (effect === undefined) {
      const known = 'delay=MS, status=429|500|502|503|504, retry-after=SECONDS, drop=before|after, fail=after-commit';
      throw new Rejection(400, `${chaosHeader} has ${known}, not ${JSON.stringify(part.trim())}`);
    }
    return effect;
  });
  return Object.assign({}, ...effects);
}

function isInRange(text: string, from: number, to: number): boolean {
  return /^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to;
}
