import type { JsonObject } from '../model/json.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { ApplyResult } from '../model/result/outcome.ts';
import type { ResourceId } from '../model/resource.ts';
import type {
  CasesBlock,
  ChoicesBlock,
  ListBlock,
  EffectClass,
  FindingsBlock,
  FoldsBlock,
  LinesBlock,
  ResultsBlock,
  RowsBlock,
  TableBlock,
} from './blocks.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { escapeTerminal } from './escape.ts';
import type { Verdict } from './wording/phrases.ts';

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

/** What a plan from a snapshot shows in place of its digest. */
export const approvesNothing = 'It approves no apply.';

/** The facts of a plan that its verdict does not state. */
export type PlanFacts = {
  /** Absent of a plan that approves nothing, because a snapshot takes the place of the gateway. */
  readonly seals?: Plan['seals'];
  /** The counts of all that it does, in a sentence. */
  readonly counts: string;
  /** `3 resources unchanged. 1 attachment held.`; empty text if there is nothing else. */
  readonly unchanged: string;
  /** The results of policies, in a sentence; empty text without any. */
  readonly policies: string;
  /** There are several things, so that a long report repeats the counts. */
  readonly isSeveral: boolean;
  /** The highest risk of several things; absent otherwise. */
  readonly highest?: EffectClass | undefined;
};

/** What follows the verdict in Markdown and on pages, and ends the text; of a quiet plan, text shows the digest only in full. */
export type ReportSummary =
  | { readonly type: 'plan'; readonly facts: PlanFacts; readonly isQuiet: boolean }
  | { readonly type: 'apply'; readonly digest: string }
  | { readonly type: 'sentence'; readonly sentence: string };

/** Warnings about the manifests of changed objects; text prints them beside the changes. */
export type ChangeWarnings = ReadonlyMap<ResourceId, readonly Diagnostic[]>;

/** One part of a report, as typed values: each format has one way to render each type. */
export type ReportBlock =
  | LinesBlock
  | RowsBlock
  | ChoicesBlock
  | ListBlock
  | ResultsBlock
  | CasesBlock
  | TableBlock
  | FoldsBlock
  | FindingsBlock;

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

/** Returns the repository path of the file that a finding is in. */
export function fileOfFinding({ at }: Diagnostic, { pathOf, fallback }: FindingsBlock): string {
  return (at === undefined ? undefined : pathOf(at.file)) ?? fallback;
}

/** Returns what a finding says in one line: its object where it has no position, its message, and its hint; escaped. */
export function findingText({ resource, at, message, hint }: Diagnostic): string {
  const said = [at === undefined ? resource : undefined, message, hint];
  return said.flatMap((text) => (text === undefined ? [] : [escapeTerminal(text)])).join('; ');
}

/** Returns what the runs of a document found. */
export function findingBlocks(document: ReportDocument): readonly FindingsBlock[] {
  return document.sections().flatMap(({ blocks }) => blocksOfType(blocks, 'findings'));
}
