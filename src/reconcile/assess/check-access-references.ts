import { canonical, compareText } from '../../model/json.ts';
import { desiredById, desiredByKey, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Diff, type Refusal, renamesOf, withNames } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { type AccessReference, accessReferenceKind } from '../../model/protection/access-reference.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { gainerText } from '../../protection/questions/new-access.ts';
import { deciderTexts } from '../../protection/permission/access-test-findings.ts';
import {
  checkAccessReferences,
  type ExceededReference,
  type EarlierConnection,
} from '../../protection/permission/check-access-references.ts';
import { deciderPositions } from '../../protection/permission/decider-positions.ts';
import { type WeakenedReference, weakenedReferences } from '../../protection/permission/weakened-references.ts';
import { liveSnapshot, plannedSnapshot, type ProtectionSnapshot, rulesOn } from '../../protection/posture/protection-snapshot.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type AccessLine, foldedTexts, foldLines, lineRefusals } from './access-lines.ts';
import { type WeakenedFindings, weakenedFindings, type WeakenedStatement } from './weakened-checks.ts';

/** What references refuse, what they warn about, and what they no longer forbid. */
type ReferenceFindings = WeakenedFindings & { readonly refusals: readonly Refusal[]; readonly diagnostics: readonly Diagnostic[] };

const noFindings: ReferenceFindings = { refusals: [], diagnostics: [], unwritten: [], headlines: [] };

/**
 * Refuses a plan after which people have more than the references of the manifests, and of the reviewed commit, grant at most; also if they
 * have it already, because the manifests state it. What no manifest states, and what cannot be known and does not change, is a warning.
 * What the applied references or the reviewed ones forbid, and these do not, is named.
 */
export function checkReferencedAccess(
  { input, desired, live, applied }: Prepared,
  diff: Diff,
  reviewed: readonly AccessReference[] = [],
): ReferenceFindings {
  const { accessReferences: now = [] } = desired;
  const references = distinctReferences([...now, ...reviewed]);
  const earlier = [...(applied?.accessReferences ?? []), ...reviewed];
  if (references.length + earlier.length === 0) return noFindings;
  const after = plannedSnapshot(diff, live, input.registry);
  const before = liveSnapshot(withNames(live, renamesOf(diff.changes)), input.registry, diff.target.dialect);
  const formerOf = formerIds(desired, before);
  const manifests = desiredById(desired.resources);
  const asItWas = (id: ResourceId): EarlierConnection | undefined => {
    const spec = before.resources.get(formerOf(id) ?? id)?.spec;
    const manifest = manifests.get(id);
    return spec && { id: (manifest && formerIdOf(manifest)) ?? id, spec };
  };
  const weakened = weakenedReferences({ now, earlier, snapshot: after, formerOf: asItWas }).map(weakenedStatement);
  const found = checkAccessReferences(references, after, asItWas);
  const had = new Set(checkAccessReferences(references, before).map(keyOf));
  const stated = statedBy(desired);
  const isRefused = (one: ExceededReference): boolean => {
    if (one.outcome === 'exceeds') return !had.has(keyOf(one)) || one.by.slice(0, 1).some(stated);
    const former = formerOf(one.connection);
    return former === undefined || isChanged([before, former], [after, one.connection]);
  };
  const isDecidedNow = ({ id }: Decider): boolean => before.resources.get(id)?.spec !== after.resources.get(id)?.spec;
  const lineOf = referenceLines(desired, isDecidedNow, after);
  const lines = found.map((one) => [one, lineOf(one)] as const);
  const linesOf = (is: (one: ExceededReference) => boolean): readonly AccessLine[] =>
    lines.flatMap(([one, line]) => (is(one) ? [line] : []));
  const left = (outcome: ExceededReference['outcome']): readonly AccessLine[] =>
    linesOf((one) => one.outcome === outcome && !isRefused(one));
  return {
    refusals: lineRefusals('plan/access-reference', linesOf(isRefused)),
    diagnostics: [
      ...lineDiagnostics({ code: 'plan/access-reference-exceeded', severity: 'warning' }, left('exceeds')),
      ...lineDiagnostics({ code: 'plan/access-reference-unknown', severity: 'warning' }, left('unknown')),
    ],
    ...weakenedFindings('access-reference-weakened', weakened),
  };
}

function weakenedStatement({ name, text, connections, at }: WeakenedReference): WeakenedStatement {
  return { id: `${accessReferenceKind}/${name}`, path: pointer(text), text: `access reference ${name} ${text}`, connections, at };
}

/** Returns references without those that state the same twice. */
function distinctReferences(references: readonly AccessReference[]): readonly AccessReference[] {
  const texts = references.map(({ name, others, entries }) => [name, others, ...entries.map(({ text }) => text)].join('\n'));
  return references.filter((_, index) => texts.indexOf(texts[index] ?? '') === index);
}

/** Returns a lookup of what a connection was before the plan: itself, unless it is unfinished, or what it replaces; undefined for a new one. */
export function formerIds(
  desired: DesiredState,
  before: Pick<ProtectionSnapshot, 'resources'>,
  unfinished: ReadonlySet<ResourceId> = new Set(),
): (id: ResourceId) => ResourceId | undefined {
  const manifests = desiredByKey(desired.resources);
  return (id) => {
    if (before.resources.has(id) && !unfinished.has(id)) return id;
    const replaces = manifests.get(id)?.replaces;
    const predecessor = replaces === undefined ? undefined : resourceId(kindOf(id), replaces);
    return predecessor !== undefined && before.resources.has(predecessor) ? predecessor : undefined;
  };
}

function keyOf({ reference, at, connection, groups, verb, found }: ExceededReference): string {
  return JSON.stringify([reference, at.file, at.line, connection, groups, verb, found]);
}

/** Returns whether a manifest states the field that decides, or the object has no field. */
function statedBy(desired: DesiredState): (decider: Decider) => boolean {
  const manifests = desiredByKey(desired.resources);
  return ({ id, path }) => manifests.get(id)?.spec[tokensOf(path)[0] ?? ''] !== undefined;
}

/** Returns what writes a finding as a line at what grants it: what changes before the rest. */
export function referenceLines(
  desired: DesiredState,
  isDecidedNow: (decider: Decider) => boolean = () => false,
  state?: ProtectionSnapshot,
): (finding: ExceededReference) => AccessLine {
  const positionOf = deciderPositions(desired, state);
  const textOf = deciderTexts(desired, state);
  return ({ reference, at, connection, groups, verb, most, found, by }) => {
    const deciders = [...by.filter(isDecidedNow), ...by];
    const granting = [...deciders, { id: connection, path: '' }];
    const granted = [...new Set(deciders.map(textOf))].slice(0, 5);
    return {
      access: { connection, groups, verb },
      who: gainerText({ groups }),
      verb,
      what: `${found}, but reference ${reference} allows at most: ${most} (${at.file}:${at.line})`,
      hint: granted.length === 0 ? 'no manifest decides it' : `decided by ${granted.join(', ')}`,
      at: granting.map(positionOf).find((one) => one !== undefined) ?? at,
    };
  };
}

/** Returns lines as diagnostics: what is the same for several people, or on several connections, is one of them. */
export function lineDiagnostics(head: Pick<Diagnostic, 'code' | 'severity'>, lines: readonly AccessLine[]): readonly Diagnostic[] {
  return foldLines(lines).map((all) => ({ ...head, ...foldedTexts(all) }));
}

/** Returns whether a connection, or something that decides its access, is another one. */
function isChanged(...sides: readonly (readonly [ProtectionSnapshot, ResourceId])[]): boolean {
  const texts = sides.map(([snapshot, id]) => {
    const rules = [...rulesOn(snapshot, id)].toSorted(compareText);
    return canonical([id, ...rules].map((one) => [kindOf(one), snapshot.resources.get(one)?.spec ?? null]));
  });
  return new Set(texts).size > 1;
}
