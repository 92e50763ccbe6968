import { parsePosition } from '../../model/diagnostic.ts';
import type { ExplainedPart, ExplainedRule, Explanation, ExplanationRow } from '../../model/result/drift.ts';
import type { Value } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { attachmentsText } from '../wording/causes.ts';
import { changeRows } from '../rows/change-rows.ts';
import { shortList } from '../wording/summary.ts';
import { escapeTerminal } from '../escape.ts';
import { wrap, gap, withoutBreak, words, type Span, widthFor, type Terminal } from '../wrap.ts';
import { tableLines } from './table.ts';
import { pathText, withUnits, valueText, shortPosition } from '../wording/value.ts';

/** Returns the lines of a resource field by field: desired, live and (if any) base in columns, and the reason below each field. */
export function explanationLines({ rows, rules = [], policies = [] }: Explanation, terminal: Terminal): readonly string[] {
  const columns = widthFor(terminal);
  const { dim } = terminal.color;
  const judged = [...ruleLines(rules, terminal), ...policyLines(policies, terminal)];
  if (rows.length === 0) return judged.slice(1);
  const withBase = rows.some((row) => row.base !== undefined);
  const headers = ['field', 'desired', 'live', ...(withBase ? ['base'] : []), 'status'];
  const cells = rows.map((row) => [
    pathText(row.path),
    side(row.path, row.desired),
    side(row.path, row.live),
    ...(withBase ? [side(row.path, row.base)] : []),
    row.status,
  ]);
  const [header = '', ...lines] = tableLines(headers, cells, terminal.columns === undefined ? undefined : columns);
  const body = rows.flatMap((row, index) => [
    statusLine(lines[index] ?? '', row, terminal),
    ...reasonLines(row, terminal),
    ...partLines(row, terminal),
  ]);
  return [dim(header), ...body, ...judged];
}

/** Returns the rules on a connection: the effect of each, and its attachments. */
function ruleLines(rules: readonly ExplainedRule[], terminal: Terminal): readonly string[] {
  if (rules.length === 0) return [];
  const { bold, dim, green, red } = terminal.color;
  const lines = rules.flatMap(({ rule, before, after, verbs }) => {
    const { sign, paint } = before === undefined ? { sign: '+ ', paint: green } : after === undefined ? { sign: '- ', paint: red } : stays;
    const { by } = after ?? before ?? nowhere;
    const places = by.flatMap(({ place }) => (place === undefined ? [] : (parsePosition(place) ?? [])));
    const does = verbs.length === 0 ? 'does nothing' : verbs.join(', ');
    const name: Span = { text: `${sign}${escapeTerminal(rule)}`, ...(paint === undefined ? {} : { paint }) };
    return wrap(
      [
        { text: '  ' },
        name,
        ...gap,
        ...withoutBreak(words(`${does}, ${escapeTerminal(attachmentsText(by))}`)),
        ...(places.length === 0
          ? []
          : [...gap, ...withoutBreak(words(shortList([...new Set(places.map(shortPosition))], 3).join(', '), dim))]),
      ],
      terminal,
      4,
    );
  });
  return ['', ...wrap(words('Rules on it', bold), terminal, 2), ...lines];
}

const stays = { sign: '', paint: undefined } as const;
const nowhere = { by: [] } as const;

const judgments = { passes: 'passes', violated: 'violated', unknown: 'unknown', waived: 'waived' } as const;

/** Returns the results of policies; passing policies come last. */
function policyLines(policies: Explanation['policies'] = [], terminal: Terminal): readonly string[] {
  if (policies.length === 0) return [];
  const { color } = terminal;
  const paints = { passes: color.green, violated: color.red, unknown: color.yellow, waived: color.yellow } as const;
  const order = Object.keys(judgments).toReversed();
  const sorted = policies.toSorted((left, right) => order.indexOf(left.result) - order.indexOf(right.result));
  const lines = sorted.flatMap(({ policy, at, result, messages, until, reason }) => {
    const waiver = until === undefined ? [] : [`until ${until}: ${reason ?? ''}`];
    const head: Span[] = [
      { text: '  ' },
      { text: judgments[result], paint: paints[result] },
      ...gap,
      ...withoutBreak(words(escapeTerminal(policy))),
    ];
    return [
      ...wrap([...head, ...gap, { text: shortPosition(at), paint: color.dim, noBreak: true }], terminal, 4),
      ...[...waiver, ...messages].flatMap((text) => wrap([{ text: '    ' }, ...words(escapeTerminal(text), color.dim)], terminal, 4)),
    ];
  });
  return ['', ...wrap(words('Policies', color.bold), terminal, 2), ...lines];
}

function side(path: Pointer, value: Value | undefined): string {
  return value === undefined ? '–' : valueText(withUnits(path, value));
}

function statusLine(line: string, { status }: ExplanationRow, { color }: Terminal): string {
  if (status === 'differs' || status === 'held' || status === 'blocked') return color.yellow(line);
  return status === 'same' ? line : color.cyan(line);
}

function reasonLines({ at, why }: ExplanationRow, terminal: Terminal): readonly string[] {
  const place = at === undefined ? [] : [{ text: shortPosition(at), paint: terminal.color.dim }];
  const reason = why === '' ? [] : words(escapeTerminal(why), terminal.color.dim);
  if (place.length + reason.length === 0) return [];
  const pieces = place.length === 0 ? reason : [...place, ...gap, ...withoutBreak(reason)];
  return wrap([{ text: '    ' }, ...pieces], terminal, 4);
}

/** Returns the differences within a field, each with its origin. */
function partLines({ path, parts = [] }: ExplanationRow, terminal: Terminal): readonly string[] {
  const explained = parts.filter(({ why }) => why !== '');
  return explained.flatMap((part) => {
    const why = withoutBreak(words(escapeTerminal(part.why), terminal.color.dim));
    return wrap([{ text: '    ' }, ...words(partText(part, pathText(path))), ...gap, ...why], terminal, 6);
  });
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
