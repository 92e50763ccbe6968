import { durationText } from '../model/duration.ts';
import type { Value } from '../model/plan/plan.ts';
import { tokensOf, type Pointer } from '../model/pointer.ts';
import type { ControlType } from '../model/protection/protection.ts';

/** Fields that count seconds. */
const inSeconds: ReadonlySet<string> = new Set(['access_max_duration', 'git_hook_ttl']);

/** One side of a field as people read it: seconds become minutes and hours. */
export function spokenValue(path: Pointer, value: Value): Value {
  const [name = '', ...rest] = tokensOf(path);
  if (!inSeconds.has(name) || rest.length > 0 || !('value' in value) || typeof value.value !== 'number') return value;
  return { value: durationText(value.value) };
}

/** A part of a posture as people read it. */
export function spokenPart(aspect: ControlType, text: string): string {
  const [, seconds] = aspect === 'duration' ? (/^(\d+) s$/.exec(text) ?? []) : [];
  return seconds === undefined ? text : durationText(Number(seconds));
}
