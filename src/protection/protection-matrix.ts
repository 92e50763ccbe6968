import type { Plan } from '../model/plan/plan.ts';
import {
  type ProtectionMatrix,
  type ProtectionMatrixRow,
  type ControlColumn,
  controlTypes,
  type PostureChange,
} from '../model/protection/protection.ts';
import { memoizeByObject } from '../model/collections.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { postureIn } from './posture/posture.ts';
import { controlColumns } from './controls/control-table.ts';
import { emptyPosture, enforcedTexts, type Posture } from './controls/control-row.ts';

/** Builds one row per connection with its controls before and after a plan, including unchanged connections; sorted by id. There are no rows without snapshots. */
export function buildProtectionMatrix(plan: Plan, snapshots: Pick<PlanSnapshots, 'before' | 'after'> | undefined): ProtectionMatrix {
  if (snapshots === undefined) return { columns: controlColumns, rows: [] };
  const { before, after } = snapshots;
  const changed = new Map(plan.protection.connections.map((change) => [change.connection, change]));
  const ids = new Set([...before.resources.keys(), ...after.resources.keys()].filter((id) => kindOf(id) === 'Connection'));
  // Thousands of connections have equal cells.
  const shared = new Map<string, ProtectionMatrixRow['cells']>();
  const rows = [...ids].toSorted().map((id) => {
    const row = rowOf(id, postureIn(before, id), postureIn(after, id), changed.get(id));
    const text = JSON.stringify(row.cells);
    const cells = shared.get(text) ?? row.cells;
    shared.set(text, cells);
    return { ...row, cells };
  });
  const distinct = [...shared.values()].flat();
  const empty = new Set(controlColumns.filter((column) => isLeftOut(column, distinct)).map(({ type }) => type));
  const shown = memoizeByObject((cells: ProtectionMatrixRow['cells']) => cells.filter(({ control }) => !empty.has(control)));
  return {
    columns: controlColumns.filter(({ type }) => !empty.has(type)),
    rows: rows.map((row) => ({ ...row, cells: shown(row.cells) })),
  };
}

/** Returns whether no connection has a control of an optional column, or all have the one that includes all others. */
function isLeftOut({ type, all, isOptional }: ControlColumn, cells: ProtectionMatrixRow['cells']): boolean {
  if (all === undefined && isOptional === undefined) return false;
  const own = cells.filter(({ control }) => control === type);
  return own.every(({ before, after, direction }) => {
    const texts = [...before, ...after];
    return direction === undefined && (isOptional === true ? texts.length === 0 : texts.length > 0 && texts.every((text) => text === all));
  });
}

function rowOf(
  connection: ResourceId,
  had: Posture | undefined,
  has: Posture | undefined,
  change: PostureChange | undefined,
): ProtectionMatrixRow {
  const [first, last] = [had ?? emptyPosture, has ?? emptyPosture];
  const ways = new Map(change?.controls.map(({ control, direction }) => [control, direction]));
  return {
    connection,
    tags: has === undefined ? first.tags : last.tags,
    created: had === undefined || change?.created,
    deleted: has === undefined || undefined,
    direction: change?.direction,
    cells: controlTypes.map((control) => {
      return {
        control,
        before: had === undefined ? [] : enforcedTexts(had, control),
        after: has === undefined ? [] : enforcedTexts(has, control),
        direction: ways.get(control),
        atLeast: first.incomplete.has(control) || last.incomplete.has(control) || undefined,
      };
    }),
  };
}
