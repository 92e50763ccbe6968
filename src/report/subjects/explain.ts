import { parsePosition } from '../../model/diagnostic.ts';
import type { ExplainedPart, ExplainedRule, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import type { Value } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { EffectClass, Line, TableBlock } from '../blocks.ts';
import { documentJson } from '../document-json.ts';
import type { ReportDocument } from '../document.ts';
import { escapeTerminal } from '../escape.ts';
import { mark } from '../marks.ts';
import { changeRows } from '../rows/change-rows.ts';
import { factsBlock } from '../rows/lines.ts';
import { attachmentsText } from '../wording/causes.ts';
import { shortList, shortPosition } from '../wording/phrases.ts';
import { pathText, valueText, withUnits } from '../wording/value.ts';

/** Returns the document of an explanation: each field desired, live and (if any) base, with the reason below; then rules and policies. */
export function explainDocument(explanation: Explanation): ReportDocument {
  const { id, at, summary, rows, rules = [], policies = [] } = explanation;
  // Only a part that has a reason states one.
  const stated = rows.map((row) => ({ ...row, parts: row.parts?.map(({ why, ...part }) => (why === '' ? part : { ...part, why })) }));
  return {
    json: () => documentJson({ ...explanation, rows: stated }, 'explain#/$defs/explain'),
    sections: () => [
      {
        verdict: { before: '', name: id, after: `: ${summary}` },
        ...(at === undefined ? {} : { place: { where: `${at.file}:${at.line}` } }),
        blocks: [
          fieldTable(rows),
          factsBlock('Rules on it', rules.map(ruleLine)),
          factsBlock(
            'Policies',
            policies.toSorted((left, right) => results.indexOf(left.result) - results.indexOf(right.result)).map(policyLine),
          ),
        ],
      },
    ],
  };
}

function fieldTable(rows: readonly ExplanationRow[]): TableBlock {
  const withBase = rows.some((row) => row.base !== undefined);
  return {
    type: 'table',
    headers: ['field', 'desired', 'live', ...(withBase ? ['base'] : []), 'status'],
    rows: rows.map(({ path, desired, live, base, status, at, why, parts = [] }) => {
      const sides = [desired, live, ...(withBase ? [base] : [])];
      const reason = [...(at === undefined ? [] : [shortPosition(at)]), ...(why === '' ? [] : [why])].map((text) => mark('quiet', text));
      const explained = parts.filter((part) => part.why !== '');
      return {
        cells: [...[pathText(path), ...sides.map((side) => sideText(path, side))].map(escapeTerminal), status],
        effect: effectOf(status),
        below: [
          ...(reason.length === 0 ? [] : [reason.join('  ')]),
          ...explained.map((part) => `${escapeTerminal(partText(part, pathText(path)))}  ${mark('quiet', part.why)}`),
        ],
      };
    }),
  };
}

function sideText(path: Pointer, value: Value | undefined): string {
  return value === undefined ? '–' : valueText(withUnits(path, value));
}

function effectOf(status: ExplanationRow['status']): EffectClass | undefined {
  if (status === 'same') return undefined;
  return status === 'differs' || status === 'held' || status === 'blocked' ? 'unknown' : 'neutral';
}

function partText({ path, before, after, origin }: ExplainedPart, field: string): string {
  const isHeld = origin === 'held';
  const rows = changeRows({ action: isHeld ? 'held' : 'update', fields: [{ path, before, after }] });
  const said = rows.flatMap(({ label, parts }) => {
    const named = label === field ? '' : `${label} `;
    return parts.map((part) => {
      if (part.sign === '~') return `${label}: ${part.before} → ${part.after}`;
      return `${named}${isHeld ? '=' : part.sign} ${part.text}`;
    });
  });
  return said.join(', ');
}

/** Returns a rule on the connection: its effect there, and its attachments. */
function ruleLine({ rule, before, after, verbs }: ExplainedRule): Line {
  const { by } = after ?? before ?? { by: [] };
  const places = by.flatMap(({ place }) => (place === undefined ? [] : (parsePosition(place) ?? [])));
  const name =
    before === undefined ? mark('strong', `+ ${rule}`) : after === undefined ? mark('strong', `- ${rule}`) : escapeTerminal(rule);
  return {
    text: `${name}  ${verbs.length === 0 ? 'does nothing' : verbs.join(', ')}, ${escapeTerminal(attachmentsText(by))}`,
    effect: before === undefined ? 'strengthens' : 'weakens',
    aside: shortList([...new Set(places.map(shortPosition))], 3).join(', '),
  };
}

/** The results of policies, those that need attention first. */
const results = ['waived', 'unknown', 'violated', 'passes'] as const;

function policyLine({ policy, at, result, messages, until, reason }: NonNullable<Explanation['policies']>[number]): Line {
  return {
    text: `${mark('strong', result)}  ${escapeTerminal(policy)}`,
    effect: result === 'passes' ? 'strengthens' : result === 'violated' ? 'weakens' : 'unknown',
    aside: shortPosition(at),
    below: [...(until === undefined ? [] : [`until ${until}: ${reason ?? ''}`]), ...messages].map(escapeTerminal),
  };
}
