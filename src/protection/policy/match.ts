import { isObject } from '../../model/json.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import type { Policy } from '../../model/protection/policy.ts';
import type { ResourceSnapshot } from '../posture/protection-snapshot.ts';

/** Returns whether a policy applies to a connection; `unseen` when its tags cannot be read. */
export function policyMatches({ match }: Policy, name: string, { spec, unknown }: ResourceSnapshot): boolean | 'unseen' {
  if (!isOneOf(match.name, name) || !includesValue(match.type, spec['type']) || !includesValue(match.subtype, spec['subtype']))
    return false;
  const asked = Object.entries(match.tags);
  if (asked.length === 0) return true;
  const path = pointer('connection_tags');
  if (unknown.some((one) => isPointerWithin(one, path) || isPointerWithin(path, one))) return 'unseen';
  const tags = spec['connection_tags'];
  return asked.every(([key, values]) => isObject(tags) && includesValue(values, Object.hasOwn(tags, key) ? tags[key] : undefined));
}

function includesValue(values: readonly string[], value: unknown): boolean {
  return values.length === 0 || (typeof value === 'string' && values.includes(value));
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Returns whether a name matches a glob: `*` matches any characters, `?` one. Backtracks only to the last star. */
export function matchesGlob(pattern: string, name: string): boolean {
  let [at, star, back] = [0, -1, 0];
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at;
      back = index;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      back += 1;
      index = back;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
