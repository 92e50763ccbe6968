import type { Plan } from '../../src/index.ts';
import { isObject, type Json } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import { type ModelObject, type ModelState } from './gateway-objects.ts';
import { isSource } from './judge-inherited.ts';
import type { Finding, Law } from './laws.ts';
import type { Pair } from './pairs.ts';
import { isUnfinished, openModes, unreviewedModes } from './open-modes.ts';
import { judgeConnection } from './protection-model.ts';
import { reroutedCredentials } from './credential-routes.ts';
import { declaredOn, withKeptSecrets, withUnknownSecrets } from './kept-state.ts';
import { reportOf } from './plan-report.ts';
import type { Run } from './run-pair.ts';
import { worldsOf } from './worlds.ts';

/** What the merge of a pair can exercise. */
export const mergeFeatures = [
  'a hidden secret that the manifests change',
  'an unresolved secret that the manifests change',
  'a hidden secret that is written',
  'a credential that goes elsewhere, as the manifests alone show',
  'a loss that the gateway already has',
  'a mode that opens without review',
  'an open mode that loses review',
] as const;

type MergeFeature = (typeof mergeFeatures)[number];

type Merge = { readonly findings: readonly Finding[]; readonly features: readonly MergeFeature[] };

/**
 * Judges what the manifests change since the base: nothing of it is invisible, whatever the token of the pull request may read (`seen` is
 * its plan) and whatever the gateway has already.
 */
export function judgeMerge(pair: Pair, done: Run, seen: Plan): Merge {
  const parts = [judgeSecrets(pair, done, seen), judgeWritten(pair, done, seen), judgeRoutes(pair, done, seen), judgeAccepted(pair, done)];
  const unreviewed = new Set(connectionsOf(pair.manifests).flatMap((id) => unreviewedFeatures(pair, done, id)));
  return {
    findings: parts.flatMap(({ findings }) => findings),
    features: [...parts.flatMap(({ features }) => features), ...unreviewed],
  };
}

function connectionsOf(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap(({ kind, metadata }) => (kind === 'Connection' ? [`Connection/${metadata.name}`] : []));
}

function finding(law: Law, connection: string, why: string): Finding {
  return { law, connection, why };
}

function secretsIn(manifests: readonly Manifest[], id: string): Readonly<Record<string, Json>> {
  const found = manifests.find(({ kind, metadata }) => `${kind}/${metadata.name}` === id)?.spec['secret'];
  return isObject(found) ? found : {};
}

function isNamed({ changes, accepted, unwrittenSecrets }: Plan, id: string, path: string): boolean {
  const fields = [...changes, ...accepted].flatMap((change) => (change.id === id ? change.fields : []));
  return [...fields, ...unwrittenSecrets.filter((one) => one.id === id)].some((one) => one.path === path || one.path === '/secret');
}

/** Returns whether a plan names an object that was deleted outside Ostiary: nothing of it is written, and a later plan that creates it shows all of it. */
function isNamedAsDeleted({ changes }: Plan, id: string): boolean {
  return changes.some((change) => change.id === id && change.error?.code === 'plan/deleted-outside');
}

/** Every secret that differs between the manifests is named, readable or not. */
function judgeSecrets(pair: Pair, { before }: Run, seen: Plan): Merge {
  const { base } = pair;
  if (base === undefined) return { findings: [], features: [] };
  const ids = connectionsOf(pair.manifests).filter((id) => connectionsOf(base).includes(id) && isOurs(before[id]));
  const changed = ids.flatMap((id) => {
    const [had, has] = [secretsIn(base, id), secretsIn(pair.manifests, id)];
    const keys = [...new Set([...Object.keys(had), ...Object.keys(has)])];
    return keys.filter((key) => JSON.stringify(had[key]) !== JSON.stringify(has[key])).map((key) => ({ id, path: `/secret/${key}` }));
  });
  const invisible = changed.filter(({ id, path }) => !isNamed(seen, id, path) && !(before[id] === undefined && isNamedAsDeleted(seen, id)));
  const feature = `${pair.sight === 'hidden' ? 'a hidden' : 'an unresolved'} secret that the manifests change` as const;
  return {
    findings: invisible.map(({ id, path }) => finding('invisible change', id, `${path} differs from the base`)),
    features: changed.length > 0 && pair.sight !== 'shown' ? [feature] : [],
  };
}

/** A secret that an apply writes is named or counted by every plan. */
function judgeWritten({ sight }: Pair, { plan }: Run, seen: Plan): Merge {
  const written = plan.changes
    .filter(({ action }) => action !== 'blocked' && action !== 'held')
    .flatMap(({ id, fields }) => fields.filter(({ after }) => 'secret' in after).map(({ path }) => ({ id, path })));
  const isCounted = ({ id, path }: (typeof written)[number]): boolean =>
    isNamed(seen, id, path) || seen.notCompared.some((one) => one.id === id && (one.path === path || one.path === '/secret'));
  return {
    findings: written.filter((one) => !isCounted(one)).map(({ id, path }) => finding('claims to match', id, `${path} is written`)),
    features: written.length > 0 && sight === 'hidden' ? ['a hidden secret that is written'] : [],
  };
}

/** A credential that the manifests send elsewhere is named, even if no live value can be read; an inherited one may be unknown. */
function judgeRoutes(pair: Pair, { before }: Run, seen: Plan): Merge {
  const { base } = pair;
  if (base === undefined) return { findings: [], features: [] };
  const kept = knownSecrets(pair, base, before);
  const [applied, wished] = [base, pair.manifests].map((manifests) => withKeptSecrets(declaredOn(before, manifests), kept, manifests));
  if (applied === undefined || wished === undefined) throw new Error('the manifests declare nothing');
  const ids = connectionsOf(pair.manifests).filter((id) => applied[id] !== undefined && before[id] !== undefined && isOurs(before[id]));
  const rerouted = ids.flatMap((id) => {
    const routes = reroutedCredentials({ before: {}, applied }, wished, { id, isShared: () => false });
    return routes.length === 0 ? [] : [{ id, isCertain: pair.sight !== 'hidden' || routes.some(({ isInherited }) => !isInherited) }];
  });
  const unnamed = rerouted.filter(({ id, isCertain }) => {
    return !reportOf(seen, id).headlines.some((verdict) => verdict === 'reroutes' || (!isCertain && verdict === 'unknown'));
  });
  return {
    findings: unnamed.map(({ id }) =>
      finding('invisible change', id, 'the manifests send a credential elsewhere, and no headline says so'),
    ),
    features: rerouted.length > 0 && pair.sight !== 'shown' ? ['a credential that goes elsewhere, as the manifests alone show'] : [],
  };
}

/**
 * Returns the gateway with the secrets that the token of the pull request knows. Without their values, no source is known to have that of a live
 * secret, unless the applied manifest says that the secret is from there.
 */
function knownSecrets({ sight }: Pair, base: readonly Manifest[], before: ModelState): ModelState {
  if (sight === 'shown') return before;
  const applied = declaredOn(before, base);
  return withUnknownSecrets(before, (id, path, value) => sight === 'hidden' || (isSource(value) && applied[id]?.secrets?.[path] !== value));
}

const losing = new Set(['weakens', 'both', 'mixed', 'unknown', 'incomparable', 'exposes', 'reroutes']);

/** What the manifests and the apply leave weaker than the base is named, also if the gateway lost it before. */
function judgeAccepted(pair: Pair, { plan, before, after }: Run): Merge {
  const { base } = pair;
  // The manifests decide neither ignored fields nor managed objects.
  const isDecided = !ignores([...(base ?? []), ...pair.manifests]) && Object.values(before).every(isOurs);
  if (base === undefined || !pair.readsAccess || !isDecided) return { findings: [], features: [] };
  const [applied, wished] = [declaredOn(before, base), declaredOn(before, pair.manifests)];
  const possible = worldsOf(pair);
  const isCompared = (id: string): boolean => before[id] !== undefined && isOurs(before[id]) && !isUnfinished(pair, before, id);
  const ids = connectionsOf(pair.manifests).filter((id) => applied[id] !== undefined && isCompared(id));
  const demandsOf = (from: ModelState, to: ModelState, id: string): readonly string[] =>
    judgeConnection(from, to, id, { possible }).demands.map((demand) => [...demand].join(' or '));
  const lost = ids.filter((id) => {
    const declared = demandsOf(applied, wished, id);
    return demandsOf(applied, after, id).some((demand) => declared.includes(demand));
  });
  const unnamed = lost.filter(
    (id) => !plan.protection.headlines.some(({ direction, connections }) => losing.has(direction) && connections.some((one) => one === id)),
  );
  return {
    findings: unnamed.map((id) => finding('accepted loss unnamed', id, 'the manifests admit more than the base, and no headline says so')),
    features: lost.some((id) => demandsOf(before, after, id).length === 0) ? ['a loss that the gateway already has'] : [],
  };
}

function isOurs(object: ModelObject | undefined): boolean {
  return (object?.managedBy ?? '') === '';
}

function ignores(manifests: readonly Manifest[]): boolean {
  return manifests.some(({ metadata }) => metadata['ignore'] !== undefined);
}

/** Returns what a mode without review is exercised by: one that opens, and a rule of other modes, or of some sessions only. */
function unreviewedFeatures(pair: Pair, { before, after }: Run, id: string): readonly MergeFeature[] {
  const modes = unreviewedModes(after, id, pair);
  const isNew = modes.some((mode) => !openModes(before, id, pair).includes(mode));
  const isLost = modes.some((mode) => openModes(before, id, pair).includes(mode) && !unreviewedModes(before, id, pair).includes(mode));
  return [
    ...(isNew ? (['a mode that opens without review'] as const) : []),
    ...(isLost ? (['an open mode that loses review'] as const) : []),
  ];
}
