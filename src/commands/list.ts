import { InvalidArgumentError, Option } from 'commander';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredResource } from '../model/desired.ts';
import { compareText } from '../model/json.ts';
import { addToGroup } from '../model/collections.ts';
import { notComparedCount } from '../model/plan/not-compared.ts';
import {
  type Change,
  deletedOutside,
  secretDeletedOutside,
  type EdgeChange,
  type Plan,
  remainingOrphans,
  type UncomparedSecret,
} from '../model/plan/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import type { CliContext } from './context/cli-context.ts';
import {
  viewFormats,
  type PlanFlags,
  type ViewFlags,
  baseOptions,
  cacheOption,
  formatOption,
  groups,
  pathsArgument,
  secretsOption,
  selectionOption,
  targetOptions,
  todayOption,
  type DefineCommand,
} from './context/options.ts';
import { printView } from './get.ts';
import { announceTarget } from './session/connect.ts';
import { printerFor } from './output/printer.ts';
import { openProject } from '../project/open-project.ts';
import { createPlan } from './planning/create-plan.ts';
import { accessText } from '../report/rows/groups.ts';

/** The states that can be asked for; an object can be in several. */
const listStates = [
  'in-sync',
  'create',
  'update',
  'rename',
  'delete',
  'import',
  'drifted',
  'held',
  'managed',
  'blocked',
  'orphan',
  'unknown',
] as const;

type ListState = (typeof listStates)[number];

type ListFlags = ViewFlags & PlanBaseOptions & Pick<PlanFlags, 'secrets' | 'today'> & { readonly state: readonly ListState[] };

/** Defines `ostiary list`. */
export const defineList: DefineCommand = (command, run) => {
  baseOptions(cacheOption(selectionOption(targetOptions(command.argument(...pathsArgument)))))
    .addOption(stateOption())
    .addOption(formatOption(viewFormats))
    .addOption(todayOption())
    .addOption(secretsOption().default('unresolved'))
    .action((paths, flags) => run((context) => runList({ ...flags, paths }, context)));
};

function stateOption(): Option {
  return new Option('--state <state>', 'list only objects in this state (repeatable)')
    .choices([...listStates])
    .argParser((text: string, earlier: readonly ListState[]) => {
      const state = listStates.find((one) => one === text);
      if (state === undefined) throw new InvalidArgumentError(`expected one of: ${listStates.join(', ')}`);
      return [...earlier, state];
    })
    .default([])
    .helpGroup(groups.own);
}

/** An object that the manifests declare, or that they declared and is still live; the text of its state is the first of `states` in words. */
type ListedObject = {
  readonly kind: string;
  readonly name: string;
  readonly place: string;
  readonly state: string;
  readonly states: readonly ListState[];
};

/** Lists the objects under management, each with its manifest and how it compares with the gateway. Returns exit code 0. */
async function runList(flags: ListFlags, context: CliContext): Promise<number> {
  const project = await openProject(flags, context);
  const { plan, desired, gateway, warnings } = await createPlan(project, { ...flags, allow: [], import: [], revert: [] }, context, {
    purpose: 'preview',
  });
  await gateway.close();
  announceTarget(project, flags, context);
  const isAsked = ({ states }: ListedObject): boolean => flags.state.length === 0 || states.some((one) => flags.state.includes(one));
  const objects = listObjects(plan, desired.resources, warnings).filter(isAsked);
  const rows = objects.map(({ kind, name, place, state }) => [kind, name, place, state]);
  const document = {
    objects: objects.map(({ kind, name, place, state }) => ({ kind, name, ...(place === '' ? {} : { place }), state })),
  };
  printView({ document, listing: { headers: ['kind', 'name', 'manifest', 'state'], rows } }, flags.format, printerFor(context, flags));
  return 0;
}

function listObjects(plan: Plan, resources: readonly DesiredResource[], warnings: readonly Diagnostic[]): readonly ListedObject[] {
  const codes = new Map(warnings.flatMap(({ code, resource }) => (resource === undefined ? [] : [[resource, code] as const])));
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  const edges = new Map<ResourceId, EdgeChange[]>();
  for (const edge of plan.edges) if (edge.by !== undefined) addToGroup(edges, edge.by, edge);
  const uncompared = new Map<ResourceId, UncomparedSecret[]>();
  for (const one of plan.notCompared) addToGroup(uncompared, one.id, one);
  const declared = resources.map(({ id, locate }): ListedObject => {
    const { file, line } = locate('');
    const change = changes.get(id);
    const hidden = uncompared.get(id) ?? [];
    const unchanged = hidden.length === 0 ? ([['in-sync'], 'in sync'] as const) : ([['unknown'], 'no change seen'] as const);
    const [states, text] = change === undefined ? unchanged : stateOf(change, { edges: edges.get(id) ?? [], code: codes.get(id) ?? '' });
    const state = hidden.length === 0 ? text : `${text}, ${notComparedCount(hidden)}`;
    return { kind: kindOf(id), name: nameOf(id), place: `${file}:${line}`, state, states };
  });
  const remaining = new Set(remainingOrphans(plan).map(({ id }) => id));
  const orphaned = plan.orphans.map((orphan): ListedObject => {
    const stays = remaining.has(orphan.id);
    const state = stays ? `orphaned, still live${accessText(orphan)}` : 'to delete';
    return { kind: kindOf(orphan.id), name: nameOf(orphan.id), place: '', state, states: stays ? ['orphan'] : ['orphan', 'delete'] };
  });
  return [...declared, ...orphaned].toSorted((left, right) => compareText(left.kind, right.kind) || compareText(left.name, right.name));
}

type ChangeFacts = {
  readonly edges: readonly EdgeChange[];
  /** The code of the warning about the object; empty without one. */
  readonly code: string;
};

/** Returns the states of a changed object, and the text of the first. */
function stateOf({ action, managedBy, adoption, fields }: Change, { edges, code }: ChangeFacts): readonly [readonly ListState[], string] {
  if (adoption === true) return [['import'], 'to import'];
  if (action === 'blocked') return managedBy === undefined ? [['blocked'], 'blocked'] : [['managed'], `blocked, managed by ${managedBy}`];
  if (action === 'held') return [['held', 'drifted'], 'held'];
  if (action === 'create') {
    const isDeleted = fields.some(({ origin }) => origin === 'drift' || origin === 'both');
    const [states, place] = isDeleted ? ([['drifted'], 'deleted outside Ostiary'] as const) : ([[], 'not on the gateway'] as const);
    if (code === deletedOutside || code === 'plan/keep-missing') return [[...states, 'blocked'], `${place}, needs its secrets`];
    return [['create', ...states], isDeleted ? `${place}, to create` : 'to create'];
  }
  const origins = action === 'update' ? [...fields, ...edges].map(({ origin }) => origin) : [];
  const drifted = origins.filter((origin) => origin === 'drift').length;
  if (drifted > 0 && drifted === origins.length)
    return [['drifted'], code === secretDeletedOutside ? 'drift, secret deleted' : 'drift, to revert'];
  return [[action, ...(drifted > 0 || origins.includes('both') ? (['drifted'] as const) : [])], `to ${action}`];
}
