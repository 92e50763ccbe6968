import jsonPatch from 'fast-json-patch';
import { type AcceptedDrift, type AssessedChange, fieldPosition, highestPlanRisk, type Plan } from '../../model/plan/plan.ts';
import { reasonsIn } from '../../model/plan/reasons.ts';
import type { Replay } from '../../model/result/replay.ts';
import type { ProtectionMatrix } from '../../model/protection/protection.ts';
import { documentJson, sortedJson } from '../document-json.ts';
import type { ChangeWarnings, PlanFacts, ReportBlock, ReportDocument } from '../document.ts';
import { blockedNotices, groupPlan, orphanNotices, sideLists } from '../rows/groups.ts';
import { groupRows } from '../rows/entries.ts';
import {
  allowancesBlock,
  factsBlock,
  headlinesBlock,
  noticesBlock,
  permissionsBlock,
  policyWarningsBlock,
  refusalsBlock,
} from '../rows/lines.ts';
import { escapeTerminal } from '../escape.ts';
import { mark } from '../marks.ts';
import { replayBlock } from '../rows/replay-lines.ts';
import { outsideNotices, outsideRows } from '../rows/outside-rows.ts';
import {
  checkNotices,
  countActions,
  hasNothingToShow,
  planSummaryText,
  policiesText,
  showsSeveral,
  stayingEdgesText,
} from '../wording/summary.ts';
import { plural } from '../wording/phrases.ts';
import { permissionsTable } from './access-pages.ts';
import { isOneHeadline, matrixTable, postureFolds } from './protection-tables.ts';
import { isPlanVerdict, isVerdict, planVerdict } from './verdict.ts';
import { unstatedPermissions } from '../wording/permissions.ts';
import { asObject, type Json, type JsonObject } from '../../model/json.ts';

const noMatrix: ProtectionMatrix = { columns: [], rows: [] };

type PlanDocumentOptions = {
  /** The protection of the gateway's connections; only pages show it. */
  readonly matrix?: ProtectionMatrix;
  /** The config in force; only text names it. */
  readonly config?: string | undefined;
  /** Text shows the digest also if there are no changes. */
  readonly asksForDigest?: boolean | undefined;
  readonly warnings?: ChangeWarnings;
  /** What the plan would have done to the last sessions. */
  readonly replay?: Replay | undefined;
};

/** Returns the document of plans. */
export function planDocument(
  plans: readonly Plan[],
  { matrix = noMatrix, config, asksForDigest, warnings, replay }: PlanDocumentOptions = {},
): ReportDocument {
  return {
    json: () => ({ version: 1, plans: plans.map((plan) => planObject(plan, replay)) }),
    sections: () =>
      plans.map((plan) => ({
        verdict: planVerdict(plan),
        place: { where: plan.target.url, config },
        summary: { type: 'plan', facts: planFacts(plan), isQuiet: asksForDigest !== true && hasNothingToShow(plan) },
        blocks: [...planBlocks(plan, warnings), ...(replay === undefined ? [] : [replayBlock(replay)])],
        pageBlocks: () => pageBlocks(plan, matrix),
      })),
    completeIn: 'The JSON of the plan and its text with --full have everything.',
  };
}

/** Returns what every format reports of a plan. */
function planBlocks(plan: Plan, warnings: ChangeWarnings = new Map()): readonly ReportBlock[] {
  const { protection, refusals, allowed } = plan;
  const orphans = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const { groups, others } = groupPlan(plan);
  return [
    refusalsBlock(refusals),
    noticesBlock([...checkNotices(plan), ...blockedNotices(plan), ...orphanNotices(plan), ...outsideNotices(plan)]),
    headlinesBlock(protection.headlines, { orphans, isInVerdict: isPlanVerdict(plan) }),
    permissionsBlock(unstatedPermissions(protection)),
    ...groups.map((group) => groupRows(group, warnings)),
    ...outsideBlocks(plan),
    ...sideLists(plan, others),
    allowancesBlock(allowed),
    policyWarningsBlock(plan),
  ];
}

function planFacts(plan: Plan): PlanFacts {
  const policies = policiesText(plan.policies);
  const isNothing = plan.changes.length + plan.accepted.length === 0;
  return {
    ...(plan.snapshot === undefined ? { seals: plan.seals } : {}),
    counts: plan.changes.length === 0 ? '' : planSummaryText(plan),
    unchanged: isNothing ? '' : `${plural(plan.unchanged, 'resource')} unchanged.${stayingEdgesText(plan)}`,
    policies: policies === '' ? '' : `${policies}.`,
    isSeveral: showsSeveral(plan),
    highest: showsSeveral(plan) ? highestPlanRisk(plan) : undefined,
  };
}

/** Returns the block of changes outside Ostiary and outside the manifests, if there are any. */
export function outsideBlocks(
  plan: Pick<Plan, 'outside'>,
  isInVerdict: boolean = isVerdict(plan.outside?.headlines ?? []),
): readonly ReportBlock[] {
  const rows = outsideRows(plan, isInVerdict);
  return rows === undefined ? [] : [rows];
}

/** Returns what only pages show of a plan: its commits, who can do what, and the protection of the changed connections and of all. */
function pageBlocks(plan: Plan, matrix: ProtectionMatrix): readonly ReportBlock[] {
  const { changes, accepted, edges, protection, seals, base, snapshot } = plan;
  const { unchanged, highest, policies } = planFacts(plan);
  const facts = [unchanged, ...(highest === undefined ? [] : [`Highest risk: ${highest}.`]), policies].filter((text) => text !== '');
  const hashes = Object.entries({ digest: snapshot === undefined ? seals.digest : undefined, manifests: seals.tree, 'applied last': base });
  const about = [
    escapeTerminal(plan.target.url),
    ...hashes.flatMap(([name, hash]) => (hash === undefined ? [] : [`${name} ${mark('code', hash.slice(0, 12))}`])),
  ];
  const held = edges.filter(({ action }) => action === 'held');
  const isSingle = isOneHeadline(protection, changes.length + accepted.length + held.length);
  return [
    factsBlock(
      undefined,
      [...(unchanged === '' ? [] : [facts.join(' ')]), about.join(' · ')].map((text) => ({ text })),
    ),
    permissionsTable(protection),
    ...(isSingle ? [] : [postureFolds('Before and after', protection.connections, { columns: matrix.columns })]),
    matrixTable(matrix),
  ];
}

/** Returns a plan as the JSON value that `schemas/documents/plan.schema.json` describes. */
export function planObject(plan: Plan, replay?: Replay): JsonObject {
  const reasonsFor = reasonsIn(plan);
  const counted = { counts: countActions(plan), maxRisk: highestPlanRisk(plan) };
  const changes = plan.changes.map((change) => ({ ...withPositions(change), reasons: reasonsFor(change), patch: patchOf(change) }));
  return documentJson(
    { ...plan, ...plan.seals, ...counted, changes, accepted: plan.accepted.map(withPositions), replay },
    'plan#/$defs/plan',
  );
}

function withPositions<T extends AssessedChange | AcceptedDrift>(change: T): T {
  return { ...change, fields: change.fields.map((field) => ({ ...field, at: fieldPosition(change, field) })) };
}

/** Returns the change as an RFC 6902 patch of the spec, for other tools. */
function patchOf({ touched, patch = [] }: AssessedChange): readonly Json[] {
  if (touched === undefined) return patch;
  return jsonPatch
    .compare(asObject(sortedJson(touched.before)), asObject(sortedJson(touched.after)))
    .flatMap((operation): readonly Json[] => {
      const { op, path } = operation;
      if (op === 'remove') return [{ op, path }];
      return op === 'add' || op === 'replace' ? [{ op, path, value: operation.value }] : [];
    });
}
