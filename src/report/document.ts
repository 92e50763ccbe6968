import type { JsonObject } from '../model/json.ts';
import type { Plan } from '../model/plan/plan.ts';
import type {
  PermissionDelta,
  ControlColumn,
  PostureChange,
  ProtectionMatrix,
  TargetSampleResults,
} from '../model/protection/protection.ts';
import type { ApplyResult, PullResult } from '../model/result/outcome.ts';
import type { Drift, Explanation } from '../model/result/drift.ts';
import type { ResourceId } from '../model/resource.ts';
import type { LinesBlock, OutsideSection, ResultsBlock, RowsBlock } from './blocks.ts';
import type { SideList } from './rows/groups.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Verdict } from './wording/summary.ts';
import type { DriftChoice } from './rows/drift-choices.ts';

/**
 * What a command reports, in the one form that every format renders. Both parts are computed when a format asks for them:
 * a run that prints JSON alone groups no changes.
 */
export type ReportDocument = {
  /** The value that `schemas/documents/` describes. */
  readonly json: () => JsonObject;
  /** What people read, one section per target. */
  readonly sections: () => readonly ReportSection[];
  /** A sentence that names the formats with everything, for a format that omits details for length. */
  readonly completeIn?: string;
};

/** The report on one target: blocks in the order in which text prints them. Other formats choose their own order. */
export type ReportSection = {
  /** The first line in every format. */
  readonly verdict?: Verdict;
  /** Absent if a report above the section states it. */
  readonly place?: SubjectPlace;
  readonly summary?: ReportSummary;
  readonly blocks: readonly ReportBlock[];
  /** Blocks that only a page has room for. */
  readonly pageBlocks?: () => readonly ReportBlock[];
};

export type SubjectPlace = {
  /** The URL of the target, or the position of the manifest. */
  readonly where: string;
  /** The config file that is in force; only text prints it. */
  readonly config?: string | undefined;
};

/** Returns the name of a target, with the label of its config if there is one. */
export function labeledName(name: string, label: string | undefined): string {
  return label === undefined ? name : `${name} (${label})`;
}

/** What follows the verdict in Markdown and on pages, and ends the text. */
export type ReportSummary =
  | {
      readonly type: 'plan';
      readonly plan: Plan;
      /** Text shows the digest also if there are no changes. */
      readonly asksForDigest?: boolean | undefined;
    }
  | { readonly type: 'apply'; readonly plan: AppliedPlan['plan']; readonly result: ApplyResult }
  | { readonly type: 'sentence'; readonly sentence: string };

/** Warnings about the manifests of changed objects; text prints them beside the changes. */
export type ChangeWarnings = ReadonlyMap<ResourceId, readonly Diagnostic[]>;

/** One part of a report, as typed values: each format has one way to render each type. */
export type ReportBlock =
  | LinesBlock
  | { readonly type: 'permission-matrix'; readonly delta: PermissionDelta }
  | RowsBlock
  | { readonly type: 'choices'; readonly choices: readonly DriftChoice[] }
  | { readonly type: 'outside'; readonly section: OutsideSection }
  | { readonly type: 'list'; readonly list: SideList }
  | ResultsBlock
  | { readonly type: 'pulled'; readonly pulled: PullResult }
  | { readonly type: 'samples'; readonly targets: readonly TargetSampleResults[] }
  | { readonly type: 'explanation'; readonly explanation: Explanation }
  | { readonly type: 'findings'; readonly run: RunFindings }
  | { readonly type: 'overview'; readonly plan: Plan }
  | { readonly type: 'matrix'; readonly matrix: ProtectionMatrix }
  | {
      readonly type: 'postures';
      readonly connections: readonly PostureChange[];
      readonly columns: readonly ControlColumn[];
      /** The two states that are compared, unless they are before and after. */
      readonly sides?: PostureSides;
    };

/** What a page calls two states of protection. */
export type PostureSides = readonly [string, string];

/** What a run found on each target, for formats that list findings at lines of files. */
export type RunFindings = {
  readonly targets: readonly TargetFindings[];
  readonly version: string;
  /** Returns the repository path of a file that diagnostics name; undefined for a file outside the repository. */
  readonly pathOf: (file: string) => string | undefined;
  /** The file of findings without a position: code scanning requires one. */
  readonly fallback: string;
};

/** What a run found on one target; `target` is absent if the run selects none by name. */
export type TargetFindings = {
  readonly target?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly plan?: Plan;
  readonly result?: ApplyResult;
  readonly drift?: Drift;
};

/** A plan and the result of its apply. */
export type AppliedPlan = {
  readonly plan: Pick<Plan, 'target' | 'seals'> &
    Partial<Pick<Plan, 'allowed' | 'orphans' | 'changes' | 'edges' | 'unmanagedAccess' | 'outside'>>;
  readonly result: ApplyResult;
};

/** Returns a section's blocks of one type, in their order. */
export function blocksOfType<T extends ReportBlock['type']>(
  blocks: readonly ReportBlock[],
  type: T,
): readonly Extract<ReportBlock, { readonly type: T }>[] {
  return blocks.filter((block): block is Extract<ReportBlock, { readonly type: T }> => block.type === type);
}

/** Returns what the runs of a document found. */
export function findingRuns(document: ReportDocument): readonly RunFindings[] {
  return document.sections().flatMap(({ blocks }) => blocksOfType(blocks, 'findings').map(({ run }) => run));
}
