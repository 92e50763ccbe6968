import { desiredByKey } from '../../model/desired.ts';
import { type AcceptedDrift, type Change, isRiskierThan, liveKeyOf, type Risk } from '../../model/plan/plan.ts';
import type { Headline } from '../../model/protection/protection.ts';
import type { AuditedWrite } from '../../model/result/drift.ts';
import type { ResourceId } from '../../model/resource.ts';
import { timeText } from '../../model/time.ts';
import type { StatedEffects } from '../../protection/accepted-effects.ts';
import { assessAcceptedDrift } from '../../protection/protection.ts';
import { type ApplyRecordOfWrites, findWriters } from '../drift/find-writers.ts';
import type { InheritedKeys } from '../../model/live.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { AcceptedDiff } from './accepted-drift.ts';

/** The audit log of the gateway since the base, and what is known of the writes of applies. */
export type AuditedChanges = { readonly writes: readonly AuditedWrite[]; readonly record?: ApplyRecordOfWrites | undefined };

/** The drift that a plan accepts, and what connections lost by it. */
export type AssessedDrift = {
  readonly accepted: readonly AcceptedDrift[];
  readonly headlines: readonly Headline[];
  readonly losing: readonly ResourceId[];
};

/** The effects that the plan states, who changed the gateway, and the secrets that connections inherit. */
type AssessmentBeside = {
  readonly stated: StatedEffects;
  readonly audit?: AuditedChanges | undefined;
  readonly inherited: InheritedKeys | undefined;
};

/** Assesses accepted drift beside the effects that the plan states; `audit` is absent if the gateway shows no log. */
export function assessAccepted(
  found: AcceptedDiff | undefined,
  { input: { registry }, live, named, applied }: Prepared,
  { stated, audit, inherited }: AssessmentBeside,
): AssessedDrift {
  if (found === undefined) return { accepted: [], headlines: [], losing: [] };
  const { diff, desired } = found;
  const states = { live: found.live, snapshots: found.snapshots(), differences: found.differences() };
  const effects = assessAcceptedDrift(diff, { ...states, desired, base: applied, registry, inherited }, stated);
  const writers = audit === undefined ? new Map<ResourceId, never>() : findWriters(diff, { desired, live, ...audit });
  const declared = desiredByKey(named.desired.resources);
  const changes = new Map(diff.changes.map((change) => [liveKeyOf(change), change]));
  const accepted = found.entries.flatMap((entry): readonly AcceptedDrift[] => {
    const key = liveKeyOf(entry);
    const isNew = entry.action === 'create';
    const risks = (effects.risks.get(key) ?? []).filter((risk) => !isNew || isAlarming(risk));
    const isAgreed = entry.action === 'delete' || (!isNew && declared.has(key) && named.liveById.has(key));
    const isStated = isAgreed && entry.fields.length + entry.edges.length > 0;
    if (!risks.some(isAlarming) && !isStated) return [];
    const fields = isStated || isNew ? entry.fields : changedFields(changes.get(key));
    return [{ ...entry, fields, risks, ...lastWriter(entry, writers) }];
  });
  return { accepted, headlines: effects.headlines.map((headline) => acceptedHeadline(headline, accepted)), losing: effects.losing };
}

function isAlarming({ class: one }: Risk): boolean {
  return isRiskierThan(one, 'neutral');
}

/** Returns the fields that the manifests change although the plan writes others: the gateway has a third value. */
function changedFields(change: Change | undefined): AcceptedDrift['fields'] {
  if (change === undefined || change.action === 'create' || change.action === 'delete') return [];
  return change.fields
    .filter(({ held, origin }) => held !== true && origin !== 'drift')
    .map(({ path, before, after }) => ({ path, before, after }));
}

/** Returns who last changed the object outside Ostiary, or else one of the ends of its attachments. */
function lastWriter(
  entry: Pick<AcceptedDrift, 'id' | 'key' | 'action' | 'edges'>,
  writers: ReadonlyMap<ResourceId, readonly AuditedWrite[]>,
): Pick<AcceptedDrift, 'by' | 'when'> {
  const isGone = entry.action === 'delete';
  const newest = (ids: readonly ResourceId[]): AuditedWrite | undefined =>
    ids
      .flatMap((id) => writers.get(id) ?? [])
      .filter(({ own, method }) => !own && !(isGone && method === 'POST'))
      .toSorted((left, right) => (left.at < right.at ? 1 : -1))[0];
  const write = newest([liveKeyOf(entry)]) ?? newest(entry.edges.flatMap(({ rule, connection }) => [rule, connection]));
  return write === undefined || write.by === '' ? {} : { by: write.by, when: write.at };
}

/** Returns the headline of accepted drift, with who caused it if that is known. */
function acceptedHeadline(headline: Headline, accepted: readonly AcceptedDrift[]): Headline {
  const ids = new Set([...headline.causes.map(({ by }) => by), ...headline.connections]);
  const causes = accepted.filter(({ id }) => headline.causes.some(({ by }) => by === id));
  const concerned = causes.length > 0 ? causes : accepted.filter((one) => ids.has(one.id));
  const known = concerned.flatMap(({ by, when }) => (by === undefined || when === undefined ? [] : [{ by, when }]));
  const [last, ...others] = [...new Map(known.map((one) => [`${one.by} ${one.when}`, one])).values()].toSorted((left, right) =>
    left.when < right.when ? 1 : -1,
  );
  const writer = last === undefined ? '' : ` by ${last.by}, ${timeText(last.when)}${others.length === 0 ? '' : ' and before'}`;
  const already = headline.direction === 'exposes' ? 'already gives that access' : 'already has the change';
  const text = `${headline.text} in the manifests; the gateway ${already} (changed outside Ostiary${writer})`;
  return { ...headline, text, accepted: true };
}
