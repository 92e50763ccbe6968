import { firstOf, groupBy } from '../../model/collections.ts';
import { desiredByKey, type DesiredState } from '../../model/desired.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import type { Headline } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import type { DestinationGain } from '../compare/destinations.ts';
import { controlRow } from '../controls/control-table.ts';
import type { PlanSnapshots } from '../posture/diff-postures.ts';
import { sharedTags } from '../common-tags.ts';
import { gainerOf, gainerText } from './new-access.ts';

const mostNames = 3;

/** Names the connections that led to a destination before: `what ledger-db leads to`. */
export function destinationText({ guarded }: Pick<DestinationGain, 'guarded'>): string {
  const names = guarded.map(nameOf);
  const text = names.length > mostNames ? firstOf(names, mostNames) : names.join(' and ');
  return `what ${text} ${names.length === 1 ? 'leads' : 'lead'} to`;
}

/** Says what people need at a destination: `without approval`, `after approval by 1 of dba`, `without guardrails`. */
export function destinationTerms({ terms: { approval }, without }: DestinationGain): string {
  const by =
    approval === undefined || approval === 'refused'
      ? 'without approval'
      : `after approval by ${approval.needed} of ${approval.groups.join(', ')}`;
  const controls = without.map((control) => controlRow(control).about.replace(/^the /, ''));
  return controls.length === 0 ? by : `without its ${controls.join(' and ')}`;
}

/** Builds one headline for the people who reach a destination in the same way. */
export function destinationHeadlines(
  gains: readonly DestinationGain[],
  snapshots: PlanSnapshots,
  desired: DesiredState,
): readonly Headline[] {
  const manifests = desiredByKey(desired.resources);
  return [...groupBy(gains, (one) => `${destinationText(one)}, ${destinationTerms(one)}`)].map(([what, members]): Headline => {
    const people = [...new Set(members.map(({ people: one }) => gainerText(gainerOf(one))))];
    const connections = [...new Set(members.map(({ connection }) => connection))];
    return {
      direction: 'weakens',
      text: `${firstOf(people, mostNames)} can reach ${what}, through ${connections.map(nameOf).slice(0, mostNames).join(', ')}`,
      connections,
      tags: sharedTags(connections, snapshots),
      causes: connections.map((by) => {
        const at = manifests.get(by)?.locate('/secret');
        return { by, place: at && formatPosition(at) };
      }),
      weight: controlRow('who').weight,
    };
  });
}
