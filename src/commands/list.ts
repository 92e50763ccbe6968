import type { DesiredResource } from '../model/desired.ts';
import { compareText } from '../model/json.ts';
import { addToGroup } from '../model/collections.ts';
import { notComparedCount } from '../model/plan/not-compared.ts';
import { type Change, type Plan, remainingOrphans, type UncomparedSecret } from '../model/plan/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import type { CliContext } from '../console/context/cli-context.ts';
import {
  viewFormats,
  type PlanFlags,
  type ViewFlags,
  baseOptions,
  cacheOption,
  formatOption,
  pathsArgument,
  secretsOption,
  selectionOption,
  targetOptions,
  todayOption,
  type DefineCommand,
} from '../console/options.ts';
import { printView } from './get.ts';
import { announceTarget } from '../console/connect.ts';
import { printerFor } from '../console/output/printer.ts';
import { openProject } from '../project/open-project.ts';
import { createPlan } from '../planning/create-plan.ts';
import { accessText } from '../report/rows/groups.ts';

type ListFlags = ViewFlags & PlanBaseOptions & Pick<PlanFlags, 'secrets' | 'today'>;

/** Defines `ostiary list`. */
export const defineList: DefineCommand = (command, run) => {
  baseOptions(cacheOption(selectionOption(targetOptions(command.argument(...pathsArgument)))))
    .addOption(formatOption(viewFormats))
    .addOption(todayOption())
    .addOption(secretsOption().default('unresolved'))
    .action((paths, flags) => run((context) => runList({ ...flags, paths }, context)));
};

/** An object that the manifests declare, or that they declared and is still live. */
type ListedObject = { readonly kind: string; readonly name: string; readonly place: string; readonly state: string };

/** Lists the objects under management, each with its manifest and how it compares with the gateway. Returns exit code 0. */
async function runList(flags: ListFlags, context: CliContext): Promise<number> {
  const project = await openProject(flags, context);
  const { plan, desired, gateway } = await createPlan(project, { ...flags, allow: [], import: [], revert: [] }, context, {
    purpose: 'preview',
  });
  await gateway.close();
  announceTarget(project, flags, context);
  const objects = listObjects(plan, desired.resources);
  const rows = objects.map(({ kind, name, place, state }) => [kind, name, place, state]);
  const document = { objects: objects.map(({ place, ...one }) => ({ ...one, ...(place === '' ? {} : { place }) })) };
  printView({ document, listing: { headers: ['kind', 'name', 'manifest', 'state'], rows } }, flags.format, printerFor(context, flags));
  return 0;
}

function listObjects(plan: Plan, resources: readonly DesiredResource[]): readonly ListedObject[] {
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  const uncompared = new Map<ResourceId, UncomparedSecret[]>();
  for (const one of plan.notCompared) addToGroup(uncompared, one.id, one);
  const declared = resources.map(({ id, locate }): ListedObject => {
    const change = changes.get(id);
    const { file, line } = locate('');
    return {
      kind: kindOf(id),
      name: nameOf(id),
      place: `${file}:${line}`,
      state: stateIn(change, uncompared.get(id) ?? []),
    };
  });
  const remaining = new Set(remainingOrphans(plan).map(({ id }) => id));
  const orphaned = plan.orphans.map((orphan): ListedObject => {
    const state = remaining.has(orphan.id) ? `orphaned, still live${accessText(orphan)}` : 'to delete';
    return { kind: kindOf(orphan.id), name: nameOf(orphan.id), place: '', state };
  });
  return [...declared, ...orphaned].toSorted((left, right) => compareText(left.kind, right.kind) || compareText(left.name, right.name));
}

const stateByAction: Readonly<Record<Change['action'], string>> = {
  create: 'to create',
  update: 'to update',
  rename: 'to rename',
  delete: 'to delete',
  blocked: 'blocked',
  held: 'held',
};

function stateIn(change: Change | undefined, uncompared: readonly UncomparedSecret[]): string {
  if (uncompared.length === 0) return change === undefined ? 'in sync' : stateOf(change);
  return `${change === undefined ? 'no change seen' : stateOf(change)}, ${notComparedCount(uncompared)}`;
}

function stateOf({ action, managedBy, adoption, fields }: Change): string {
  if (adoption === true) return 'to import';
  if (action === 'blocked' && managedBy !== undefined) return `blocked, managed by ${managedBy}`;
  const isDrift = action === 'update' && fields.length > 0 && fields.every(({ origin }) => origin === 'drift');
  return isDrift ? 'drift, to revert' : stateByAction[action];
}
