import { groupBy } from '../model/collections.ts';
import type { Headline } from '../model/protection/protection.ts';
import { nameOf } from '../model/resource.ts';
import { controlRow } from './controls/control-table.ts';
import type { Difference } from './access/terms.ts';
import { effective } from './effective/effective.ts';
import { causesAt, type DeciderPosition } from './permission/decider-positions.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import type { ProtectionSnapshot } from './posture/protection-snapshot.ts';
import { sharedTags } from './common-tags.ts';

/** Returns when people lose their access after a plan, and when before it: `until 2027-01-01, was 2026-12-01`, `without an end, was until 2026-12-01`. */
export function extensionText(
  { connection, former, member }: Pick<Difference, 'connection' | 'former'> & { readonly member: readonly string[] },
  { before, after }: { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot },
): string {
  const was = former === undefined ? undefined : effective(before, former)?.endFor(member).until;
  const until = effective(after, connection)?.endFor(member).until;
  return until === undefined ? `without an end, was until ${was}` : `until ${until}, was ${was}`;
}

/** Builds one headline for each group that keeps its access for longer, and each of its old and new ends. */
export function extensionHeadlines(
  differences: readonly Difference[],
  snapshots: PlanSnapshots,
  positionOf: DeciderPosition,
): readonly Headline[] {
  const extended = differences.flatMap((one) => {
    if (one.part !== 'until' || one.causes.more === undefined || 'machine' in one.people) return [];
    const { member } = one.people;
    return [{ one, text: `${member.join(', ')} can reach\n${extensionText({ ...one, member }, snapshots)}` }];
  });
  return [...groupBy(extended, ({ text }) => text)].map(([text, members]): Headline => {
    const connections = [...new Set(members.map(({ one }) => one.connection))];
    const [who, end] = text.split('\n');
    return {
      direction: 'weakens',
      text: `${who} ${connections.length === 1 ? nameOf(members[0].one.connection) : `${connections.length} connections`} ${end}`,
      connections,
      tags: sharedTags(connections, snapshots),
      causes: causesAt(
        members.flatMap(({ one }) => one.causes.more ?? []),
        positionOf,
      ),
      weight: controlRow('who').weight,
    };
  });
}
