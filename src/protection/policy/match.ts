import { isObject } from '../../model/json.ts';
import { overlaps, pointer } from '../../model/pointer.ts';
import type { Policy } from '../../model/protection/policy.ts';
import { noNames, respellText, type Spelling } from '../../model/spec/spelling.ts';
import { matchesGlob } from '../pattern/glob.ts';
import type { ResourceSnapshot } from '../posture/protection-snapshot.ts';

/** Returns whether a policy applies to a connection; `unseen` when its tags cannot be read. */
export function policyMatches({ match }: Policy, name: string, { spec, unknown }: ResourceSnapshot): boolean | 'unseen' {
  if (!isOneOf(match.name, name) || !includesValue(match.type, spec['type']) || !includesValue(match.subtype, spec['subtype']))
    return false;
  const asked = Object.entries(match.tags);
  if (asked.length === 0) return true;
  const path = pointer('connection_tags');
  if (unknown.some((one) => overlaps(one, path))) return 'unseen';
  const tags = spec['connection_tags'];
  return asked.every(([key, values]) => isObject(tags) && includesValue(values, Object.hasOwn(tags, key) ? tags[key] : undefined));
}

function includesValue(values: readonly string[], value: unknown): boolean {
  return values.length === 0 || (typeof value === 'string' && values.includes(value));
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Returns a policy whose match has the names of manifests in place of those of a gateway. */
export function withManifestNames(policy: Policy, spelling: Spelling | undefined): Policy {
  const names = spelling?.toManifest.get('Connection') ?? noNames;
  const { match } = policy;
  const subtype = match.subtype.map((one) => respellText(names, 'subtype', one));
  return { ...policy, match: { ...match, subtype } };
}
