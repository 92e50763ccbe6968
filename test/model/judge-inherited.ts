import type { Plan } from '../../src/index.ts';
import { reroutedCredentials } from './credential-routes.ts';
import { sharedCredential } from './declared-state.ts';
import { resourceOf, textOf, type ModelState } from './gateway-objects.ts';
import { declaredOn } from './kept-state.ts';
import type { Finding } from './laws.ts';
import type { Pair } from './pairs.ts';
import { isRisky, reportOf } from './plan-report.ts';
import type { Run } from './run-pair.ts';

/** How a session sends an inherited credential where it did not send it before. */
export const inheritedFeatures = [
  'an inherited credential that goes elsewhere',
  'an inherited credential at another own endpoint',
  'an inherited credential of another agent',
  'an inherited credential of another command or type',
  'an inherited credential of another resource',
  'an inherited credential that was hidden by an own one',
  'an inherited credential of a new connection',
  'an inherited credential of the first connection of a resource',
  'an inherited credential of a replaced connection',
  'an inherited credential that the token cannot see',
] as const;

type InheritedFeature = (typeof inheritedFeatures)[number];

/** The findings about inherited credentials, and what the pair exercised of them. */
export type InheritedJudgement = { readonly findings: readonly Finding[]; readonly features: readonly InheritedFeature[] };

/**
 * Judges the credentials that connections inherit from their resources: a plan names each one that it sends elsewhere. A token that
 * may not see the secrets of resources (`hidden`) makes a plan that cannot exclude it.
 */
export function judgeInherited(pair: Pair, { plan, before, after }: Run, keys: 'shown' | 'hidden'): InheritedJudgement {
  const known = { before, applied: declaredOn(before, pair.base ?? []) };
  const seen = keys === 'shown' ? after : withoutHidden(after, before, plan);
  const redirected = Object.keys(after).flatMap((id) => {
    if (!id.startsWith('Connection/') || pair.unmanaged.includes(id)) return [];
    const subject = before[id] === undefined ? pair.predecessors[id] : id;
    const options = { id, ...(subject === undefined ? {} : { predecessor: subject }), isShared: isSource };
    return reroutedCredentials(known, seen, options).some(({ isInherited }) => isInherited) ? [{ id, subject }] : [];
  });
  const findings = redirected.flatMap(({ id }): readonly Finding[] => {
    const found = (why: string): Finding => ({ law: 'inherited credential unnamed', connection: id, why });
    const isNamed = reportOf(plan, id).headlines.some((verdict) => verdict === 'reroutes' || (keys === 'hidden' && verdict === 'unknown'));
    return [
      ...(isNamed ? [] : [found(`no headline of a token that sees ${keys} keys says that one goes elsewhere`)]),
      ...(isRisky(plan, id, 'reroutes', { before, after }) ? [] : [found(`the risk of a plan with ${keys} keys is too low`)]),
    ];
  });
  if (redirected.length > 0 && keys === 'hidden') return { findings, features: ['an inherited credential that the token cannot see'] };
  const causes = redirected.flatMap(({ id, subject }) => causesOf(pair, { before, after }, { id, subject }));
  return { findings, features: redirected.length === 0 ? [] : ['an inherited credential that goes elsewhere', ...new Set(causes)] };
}

/** Returns a state in which the secrets that a plan does not compare, as its report counts, are as before. */
function withoutHidden(after: ModelState, before: ModelState, { notCompared }: Plan): ModelState {
  return Object.fromEntries(
    Object.entries(after).map(([id, one]) => {
      const paths = notCompared.flatMap((hidden) => (hidden.id === id ? [hidden.path] : []));
      const isHidden = ([path]: readonly [string, string]): boolean => paths.some((hidden) => hidden === path || hidden === '/secret');
      const kept = Object.entries(before[id]?.secrets ?? {}).filter(isHidden);
      const own = Object.entries(one.secrets ?? {}).filter((entry) => !isHidden(entry));
      return [id, paths.length === 0 ? one : { ...one, secrets: Object.fromEntries([...own, ...kept]) }];
    }),
  );
}

/** Returns whether a credential comes from a source outside the manifests, so that two connections may share it. */
export function isSource(credential: string): boolean {
  return credential.startsWith(sharedCredential);
}

type States = { readonly before: ModelState; readonly after: ModelState };

/** Lists what may send an inherited credential of a connection elsewhere. */
function causesOf(
  pair: Pair,
  { before, after }: States,
  { id, subject }: { readonly id: string; readonly subject: string | undefined },
): readonly InheritedFeature[] {
  if (subject === undefined) {
    const resource = resourceOf(after, id);
    const isShared = Object.keys(before).some((one) => one.startsWith('Connection/') && resourceOf(before, one)?.id === resource?.id);
    return [
      'an inherited credential of a new connection',
      ...(isShared ? [] : (['an inherited credential of the first connection of a resource'] as const)),
    ];
  }
  const [had, has] = [before[subject], after[id]];
  const differs = (field: string): boolean => JSON.stringify(had?.spec?.[field] ?? null) !== JSON.stringify(has?.spec?.[field] ?? null);
  const lost = Object.keys(had?.secrets ?? {}).filter((path) => path !== host && has?.secrets?.[path] === undefined);
  const inherited = pair.resources[textOf(has?.spec?.['resource_name'])] ?? {};
  return [
    ...(had?.secrets?.[host] === has?.secrets?.[host] ? [] : (['an inherited credential at another own endpoint'] as const)),
    ...(differs('agent_id') ? (['an inherited credential of another agent'] as const) : []),
    ...(['command', 'type', 'subtype'].some(differs) ? (['an inherited credential of another command or type'] as const) : []),
    ...(differs('resource_name') ? (['an inherited credential of another resource'] as const) : []),
    ...(lost.some((path) => inherited[path.replace('/secret/', '')] !== undefined)
      ? (['an inherited credential that was hidden by an own one'] as const)
      : []),
    ...(subject === id ? [] : (['an inherited credential of a replaced connection'] as const)),
  ];
}

const host = '/secret/envvar:HOST';
