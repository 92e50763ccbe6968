import { addToGroup, groupBy, largestOf } from '../../model/collections.ts';
import type { DesiredResource, DesiredState } from '../../model/desired.ts';
import type { Diagnostic, Position } from '../../model/diagnostic.ts';
import type { JsonObject } from '../../model/json.ts';
import type { LiveState } from '../../model/live.ts';
import { type Change, isSecretChange, liveKeyOf, type Plan } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { ChangeWarnings } from '../../report/document.ts';
import { kindOfFinding } from '../../report/rows/equal-findings.ts';

// Each is compared with the text of its object. Of more, which only generated manifests have, the others follow the plan.
const mostBeside = 500;

type States = { readonly plan: Plan; readonly desired?: DesiredState; readonly live?: LiveState };

/** Returns the warnings about what a plan writes, by changed object: a warning about another value of the same manifest is none of them. */
export function warningsOfChanges({ plan, desired, live }: States, warnings: readonly Diagnostic[]): ChangeWarnings {
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  const specs = new Map(live?.resources.map(({ id, spec }) => [id, spec]));
  const found = new Map<ResourceId, Diagnostic[]>();
  const ownerOf = indexByPlace(desired?.resources ?? []);
  for (const warning of changes.size === 0 ? [] : warnings.slice(0, mostBeside)) {
    const { severity, at } = warning;
    const own = severity !== 'warning' || at === undefined ? undefined : ownerOf(at);
    const change = own === undefined ? undefined : changes.get(own.id);
    if (own !== undefined && change !== undefined && isAbout(warning, change, specs.get(liveKeyOf(change))))
      addToGroup(found, own.id, warning);
  }
  // Several of one kind are one line, with the other warnings.
  const kinds = groupBy(warnings, kindOfFinding);
  const single = [...found].map(([id, own]) => [id, own.filter((one) => kinds.get(kindOfFinding(one))?.length === 1)] as const);
  return new Map(single.filter(([, own]) => own.length > 0));
}

/** Makes a function that returns the object in whose manifest a place is. */
function indexByPlace(resources: readonly DesiredResource[]): (at: Position) => DesiredResource | undefined {
  const byFile = new Map<string, { readonly resource: DesiredResource; readonly line: number }[]>();
  let isIndexed = false;
  return (at) => {
    for (const resource of isIndexed ? [] : resources) {
      const start = resource.locate('');
      addToGroup(byFile, start.file, { resource, line: start.line });
    }
    isIndexed = true;
    const before = byFile.get(at.file)?.filter(({ line }) => line <= at.line) ?? [];
    const last = largestOf(
      before.map(({ line }) => line),
      0,
    );
    return before.find(({ line }) => line === last)?.resource;
  };
}

/** Returns whether a change writes what a warning marks: a text that the live object does not have, or a secret. */
function isAbout({ code, frame }: Diagnostic, { action, fields }: Change, live: JsonObject | undefined): boolean {
  if (live === undefined || frame === undefined) return action === 'create';
  if (code.startsWith('secret/')) return fields.some(isSecretChange);
  const { column, length } = frame.caret;
  const marked = (frame.lines.at(-1) ?? '').slice(column - 1, column - 1 + length).replace(/^(["'])(.*)\1$/, '$2');
  return !JSON.stringify(live).includes(marked);
}
