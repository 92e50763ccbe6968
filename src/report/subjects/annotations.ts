import type { Drift } from '../../model/result/drift.ts';
import { sortDiagnostics, type Diagnostic } from '../../model/diagnostic.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import {
  highestRisk,
  isDeletedOutside,
  isWritten,
  remainingOrphans,
  type Action,
  type AssessedChange,
  type Plan,
} from '../../model/plan/plan.ts';
import type { Annotation, Entry } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { blockedReason, changeNote } from '../rows/change-rows.ts';
import { changeEntry } from '../rows/entries.ts';
import { orphanText } from '../rows/groups.ts';
import { outsideRows } from '../rows/outside-rows.ts';
import { shortList } from '../wording/phrases.ts';
import { isUnfinished, outcomeWord } from './apply.ts';
import { driftedObjects } from './drift.ts';
import { acceptedDiagnostics, changedPosition, refusalDiagnostics, type TargetFindings } from './found.ts';

/** The changes of other origins come after as many of the pull request's own. */
const most = 10;

/** Returns what a run found as annotations: results, diagnostics, planned changes, then drift. */
export function runAnnotations(targets: readonly TargetFindings[]): readonly Annotation[] {
  const sorts: readonly ((findings: TargetFindings) => readonly Annotation[])[] = [
    ({ plan, result }) => (plan === undefined || result === undefined ? [] : outcomeAnnotations(plan, result)),
    ({ diagnostics }) => diagnosticAnnotations(diagnostics),
    ({ plan, result }) => (plan === undefined || result !== undefined ? [] : planAnnotations(plan)),
    ({ drift, result }) => (drift === undefined || result !== undefined ? [] : driftAnnotations(drift)),
  ];
  return sorts.flatMap((sort) => annotationsByTarget(targets.map((findings) => [findings.target ?? '', sort(findings)])));
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
  const isWarning = action === 'delete' || !isWritten(change) || highestRisk(risks) === 'weakens';
  const entry = changeEntry({ change, edges: [], note: changeNote(change), changedSamples: [] }, { name: 'changed', title: '' });
  return entryAnnotation(entry, {
    severity: isWarning ? 'warning' : 'notice',
    title: `${action} ${id}`,
    message: `Ostiary plans to ${action} ${id}`,
    at: action === 'create' ? change.at : changedPosition(change),
  });
}

/** Returns the annotation of an entry: its note, what differs, and its risk; without any, the message that is given. */
function entryAnnotation({ sign, note, fields, lines, risk }: Entry, annotation: Annotation): Annotation {
  const labels = [
    ...(sign === '+' || sign === '-' ? [] : fields.map(({ label }) => label)),
    ...lines.map((line) => `${line.sign} ${line.text}`.trimStart()),
  ];
  const said = [note, ...shortList([...new Set(labels)], 8), risk].filter((text) => text !== '');
  return { ...annotation, message: said.join(', ') || annotation.message };
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

/** Returns drifted objects as annotations, each at its manifest, and the changes in no manifest without a position. */
function driftAnnotations(drift: Drift): readonly Annotation[] {
  const drifted = driftedObjects(drift).map(({ entry }) =>
    entryAnnotation(entry, {
      severity: entry.sign === '!' ? 'notice' : 'warning',
      title: `drift ${entry.name}`,
      message: `${entry.name} was changed on the gateway`,
      at: entry.at,
    }),
  );
  const outside = outsideRows(drift.plan, true)?.entries ?? [];
  const severity = 'warning';
  const title = 'changed outside Ostiary, in no manifest';
  return [
    ...orphanAnnotations(drift.plan),
    ...drifted,
    ...outside.map(({ name }) => ({ severity, title, message: escapeTerminal(name) }) as const),
  ];
}
