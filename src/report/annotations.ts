import type { Drift } from '../model/result/drift.ts';
import { outsideSection } from './rows/outside-rows.ts';
import { driftedObjects } from './subjects/drift.ts';
import { sortDiagnostics, type Diagnostic, type Position, type Severity } from '../model/diagnostic.ts';
import type { ApplyResult } from '../model/result/outcome.ts';
import {
  highestRisk,
  isDeletedOutside,
  isWritten,
  remainingOrphans,
  type Action,
  type AssessedChange,
  type Plan,
} from '../model/plan/plan.ts';
import { findingRuns, type ReportDocument, type TargetFindings } from './document.ts';
import { changedPosition, refusalDiagnostics, acceptedDiagnostics } from './subjects/findings.ts';
import { blockedReason, changeNote, changeRows } from './rows/change-rows.ts';
import { orphanText } from './rows/groups.ts';
import { risksText, shortList } from './wording/summary.ts';
import { escapeCommandData, escapeCommandProperty, escapeTerminal } from './escape.ts';
import { isUnfinished, outcomeWord } from './subjects/apply.ts';
import { clip } from './wrap.ts';

/** A message at a line of a pull request's files. */
export type Annotation = {
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  readonly at?: Position | undefined;
};

/** The annotations of each severity that GitHub shows for one step. */
const most = 10;
const longestMessage = 1000;

/** Renders what a run found as workflow commands that annotate the files of a pull request. */
export function renderAnnotations(document: ReportDocument): string {
  const runs = findingRuns(document);
  return runs.map(({ targets, pathOf }) => annotationCommands(runAnnotations(targets), pathOf)).join('');
}

function runAnnotations(targets: readonly TargetFindings[]): readonly Annotation[] {
  const sorts: readonly ((findings: TargetFindings) => readonly Annotation[])[] = [
    ({ plan, result }) => (plan === undefined || result === undefined ? [] : outcomeAnnotations(plan, result)),
    ({ diagnostics }) => diagnosticAnnotations(diagnostics),
    ({ plan, result }) => (plan === undefined || result !== undefined ? [] : planAnnotations(plan)),
    ({ drift, result }) => (drift === undefined || result !== undefined ? [] : driftAnnotations(drift)),
  ];
  return sorts.flatMap((sort) => annotationsByTarget(targets.map((findings) => [findings.target ?? '', sort(findings)])));
}

/** Returns the first annotations of each severity as workflow commands; the last one counts those that are omitted. */
export function annotationCommands(annotations: readonly Annotation[], pathOf: (file: string) => string | undefined): string {
  const severities = ['error', 'warning', 'notice'] as const;
  return severities
    .flatMap((severity) => limited(annotations.filter((one) => one.severity === severity)).map((one) => commandOf(one, pathOf)))
    .join('');
}

function limited(annotations: readonly Annotation[]): readonly Annotation[] {
  if (annotations.length <= most) return annotations;
  const rest = annotations.length - most + 1;
  const severity = annotations[0]?.severity ?? 'notice';
  return [...annotations.slice(0, most - 1), { severity, title: 'Ostiary', message: `and ${rest} more: see the log` }];
}

function commandOf({ severity, title, message, at }: Annotation, pathOf: (file: string) => string | undefined): string {
  const path = at === undefined ? undefined : pathOf(at.file);
  const place =
    at === undefined || path === undefined ? [] : [`file=${escapeCommandProperty(path)}`, `line=${at.line}`, `col=${at.column}`];
  const properties = [...place, `title=${escapeCommandProperty(clip(title, 200))}`];
  return `::${severity} ${properties.join(',')}::${escapeCommandData(clip(message, longestMessage))}\n`;
}

/** Merges equal annotations of several targets. An annotation that not all targets have names those that have it. */
function annotationsByTarget(found: readonly (readonly [target: string, annotations: readonly Annotation[]])[]): readonly Annotation[] {
  const known = new Map<string, { readonly annotation: Annotation; readonly targets: Set<string> }>();
  for (const [target, annotations] of found) {
    for (const annotation of annotations) {
      const key = JSON.stringify(annotation);
      const one = known.get(key) ?? { annotation, targets: new Set() };
      one.targets.add(target);
      known.set(key, one);
    }
  }
  return [...known.values()].map(({ annotation, targets }) =>
    targets.size === found.length ? annotation : { ...annotation, title: `${annotation.title} (${[...targets].join(', ')})` },
  );
}

/** Returns diagnostics as annotations, sorted by file and line. */
export function diagnosticAnnotations(diagnostics: readonly Diagnostic[]): readonly Annotation[] {
  return sortDiagnostics(diagnostics).map(({ severity, code, message, hint, at }) => ({
    severity,
    title: code,
    message: hint === undefined ? message : `${message}; ${hint}`,
    at,
  }));
}

const importance: Readonly<Record<Action, number>> = { held: 0, delete: 1, blocked: 2, rename: 3, update: 4, create: 5 };

/** Returns a plan's refusals and changes as annotations, each at the changed line; the pull request's own changes come first, by their risk. */
function planAnnotations(plan: Plan): readonly Annotation[] {
  const changes = plan.changes.toSorted((left, right) => weight(left) - weight(right));
  const found = [...refusalDiagnostics(plan), ...acceptedDiagnostics(plan)];
  return [...diagnosticAnnotations(found), ...orphanAnnotations(plan), ...changes.map(changeAnnotation)];
}

function orphanAnnotations(plan: Pick<Plan, 'orphans' | 'changes'>): readonly Annotation[] {
  return remainingOrphans(plan).map((orphan) => ({ severity: 'warning', title: `orphan ${orphan.id}`, message: orphanText(orphan) }));
}

function weight({ action, own, risks }: AssessedChange): number {
  const others = own === false && action !== 'held' ? 2 * most : 0;
  return importance[action] + others - (highestRisk(risks) === 'weakens' ? most : 0);
}

function changeAnnotation(change: AssessedChange): Annotation {
  const { action, id, risks, error } = change;
  if (error !== undefined)
    return {
      severity: isDeletedOutside(change) ? 'warning' : 'error',
      title: `blocked ${id}`,
      message: blockedReason(change),
      at: change.at,
    };
  const at = action === 'create' ? change.at : changedPosition(change);
  const whole = action === 'create' || action === 'delete';
  const isWarning = action === 'delete' || !isWritten(change) || highestRisk(risks) === 'weakens';
  const fields = whole ? [] : shortList([...new Set(changeRows(change).map(({ label }) => label))], 8);
  const said = [changeNote(change), ...fields, risksText(risks)].filter((text) => text !== '');
  return {
    severity: isWarning ? 'warning' : 'notice',
    title: `${action} ${id}`,
    message: said.length === 0 ? `Ostiary plans to ${action} ${id}` : said.join(', '),
    at,
  };
}

/** Returns the unfinished outcomes as annotations, each at its manifest. */
function outcomeAnnotations(plan: Plan, result: ApplyResult): readonly Annotation[] {
  const places = new Map(plan.changes.map((change) => [change.id, change.at]));
  return result.outcomes.filter(isUnfinished).map((outcome) => {
    const at = places.get(outcome.id);
    const said = [outcome.message, outcome.hint].filter((text) => text !== undefined);
    return {
      severity: outcome.status === 'skipped' ? 'warning' : 'error',
      title: `${outcomeWord(outcome)} ${outcome.id}`,
      message: [outcome.code ?? '', ...said].filter((text) => text !== '').join('; ') || `${outcome.id} is not as planned`,
      at,
    };
  });
}

/** Returns drifted objects as annotations, each at its manifest. */
function driftAnnotations(drift: Drift): readonly Annotation[] {
  const drifted = driftedObjects(drift).map(({ change, note, rows, edges, writers }): Annotation => {
    const fields = shortList([...new Set([...rows.map(({ label }) => label), ...edges.map(({ sign, text }) => `${sign} ${text}`)])], 8);
    const said = [note, ...fields, ...writers.slice(0, 1)].filter((text) => text !== '');
    return {
      severity: change.action === 'blocked' ? 'notice' : 'warning',
      title: `drift ${change.id}`,
      message: said.join(', ') || `${change.id} was changed on the gateway`,
      at: change.at,
    };
  });
  return [...orphanAnnotations(drift.plan), ...drifted, ...outsideAnnotations(drift.plan)];
}

/** Returns the changes in no manifest as annotations without a position. */
function outsideAnnotations(plan: Pick<Plan, 'outside'>): readonly Annotation[] {
  const objects = outsideSection(plan)?.rows.entries ?? [];
  return objects.map(({ name, said = '' }) => ({
    severity: 'warning',
    title: 'changed outside Ostiary, in no manifest',
    message: `${escapeTerminal(name)}${said}`,
    at: undefined,
  }));
}
