import type { PermissionPair } from './permission-pairs.ts';
import type { WholeRun } from './run-permission-pair.ts';

type Test = (run: WholeRun, pair: PermissionPair) => boolean;

const changed = (run: WholeRun, kind: string, action: string): boolean =>
  run.plan.changes.some((change) => change.id.startsWith(`${kind}/`) && change.action === action);

/** What a pair can exercise beside what access alone does. */
const tests: Readonly<Record<string, Test>> = {
  'the first runbook rule': ({ before, after }) => before.access.runbookRules.length === 0 && after.access.runbookRules.length > 0,
  'the last runbook rule': ({ before, after }) => before.access.runbookRules.length > 0 && after.access.runbookRules.length === 0,
  'a new runbook rule beside another': (run) => run.before.access.runbookRules.length > 0 && changed(run, 'RunbookRule', 'create'),
  'a deleted runbook rule beside another': (run) => changed(run, 'RunbookRule', 'delete') && run.after.access.runbookRules.length > 0,
  'a changed runbook rule': (run) => changed(run, 'RunbookRule', 'update'),
  'a renamed runbook rule': (run) => changed(run, 'RunbookRule', 'rename'),
  'a runbook rule for every connection': ({ after }) => after.access.runbookRules.some(({ connections }) => connections.length === 0),
  'a new attribute': (run) => changed(run, 'Attribute', 'create'),
  'a changed attribute': (run) => changed(run, 'Attribute', 'update'),
  'a deleted attribute': (run) => changed(run, 'Attribute', 'delete'),
  'an attribute and a runbook rule together': (run) =>
    ['RunbookRule', 'Attribute'].every((kind) => run.plan.changes.some(({ id }) => id.startsWith(`${kind}/`))),
  'a guardrail by attribute is lost': (run) => isContentLost(run, 'word'),
  'masking by attribute is lost': (run) => isContentLost(run, 'type'),
  'a window that the plan names': ({ plan }) => plan.singleWrites.some(({ windows }) => windows.length > 0),
  'two writes or more': ({ moments }) => moments.length > 1,
};

function isContentLost({ before, after }: WholeRun, prefix: string): boolean {
  return Object.entries(after.content).some(([name, blocks]) =>
    [...(before.content[name] ?? [])].some((one) => one.startsWith(prefix) && !blocks.has(one)),
  );
}

/** Lists all that a pair can exercise. */
export const permissionFeatures: readonly string[] = [...Object.keys(tests), 'a stop after a write that is continued'];

/** Lists what a pair exercised. */
export function permissionFeaturesOf(pair: PermissionPair, run: WholeRun): readonly string[] {
  return Object.keys(tests).filter((name) => tests[name]?.(run, pair) === true);
}
