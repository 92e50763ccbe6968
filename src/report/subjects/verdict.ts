import { type ControlType, type Headline, headlineOrder, type HeadlineVerdict } from '../../model/protection/protection.ts';
import { type Change, type FieldChange, highestPlanRisk, type Plan, type RiskClass } from '../../model/plan/plan.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import type { ChangedCheck } from '../../model/plan/changed-check.ts';
import { clip } from '../wrap.ts';
import { headlineSentences, sharedTagsText } from '../wording/causes.ts';
import { approvalPhrase } from '../wording/permissions.ts';
import { pathText } from '../wording/value.ts';
import { planCounts, planSummaryText, uncoveredText } from '../wording/summary.ts';
import { type Verdict, distinctParts, plural, shortList } from '../wording/phrases.ts';
import { changeRows } from '../rows/change-rows.ts';

/** Returns the verdict of a plan: what a reviewer has to know first. */
export function planVerdict(plan: Plan): Verdict {
  const counts = plan.changes.length === 0 ? planSummaryText(plan) : planCounts(plan).replace(/\.$/, () => `${namedChanges(plan)}.`);
  const parts = [
    ...(plan.refusals.length === 0
      ? []
      : [`Refused: ${shortList([...new Set(plan.refusals.map(({ code }) => code))], namedRefusals).join(', ')}.`]),
    ...checksTexts(plan),
    ...withEffect(counts, plan.protection.headlines, highestRiskOfWrites(plan)),
  ];
  return {
    before: 'Plan for ',
    name: plan.target.name,
    after: `${snapshotText(plan)}: ${[...parts, ...outsideTexts(plan), ...unreadTexts(plan)].join(' ')}`,
  };
}

/** Returns ` from a snapshot 3 h 42 min old`; empty text if the gateway was read. */
function snapshotText({ snapshot }: Pick<Plan, 'snapshot'>): string {
  if (snapshot === undefined) return '';
  const seconds = Math.max(0, snapshot.seconds);
  const unit = seconds < 60 ? 1 : seconds < 86_400 ? 60 : 3600;
  return ` from a snapshot ${durationText(seconds - (seconds % unit))} old`;
}

/**
 * Returns what a plan did not read: `Not compared: 1999 other connections, and access that no manifest declares.` or, of a proposal, `Not compared:
 * approvals, limits and secrets of 1999 connections that it leaves as applied.`
 */
function unreadTexts({ unread, unreadDetails }: Plan): readonly string[] {
  if (unreadDetails !== undefined)
    return [`Not compared: approvals, limits and secrets of ${plural(unreadDetails, 'connection')} that it leaves as applied.`];
  return unread === undefined ? [] : [`Not compared: ${plural(unread, 'other connection')}, and access that no manifest declares.`];
}

/** Returns the highest risk of what a plan writes and accepts; the verdict names checks itself. */
function highestRiskOfWrites({ changes, unwritten, accepted }: Plan): RiskClass | undefined {
  return highestPlanRisk({ changes, unwritten, accepted });
}

/** Returns whether the verdict of a plan states all of its headlines. */
export function isPlanVerdict(plan: Plan): boolean {
  return isVerdict(plan.protection.headlines, highestRiskOfWrites(plan));
}

type NamedChanges = Pick<Plan, 'protection'> & { readonly changes: readonly Change[] };

/** Returns `: Connection/orders-db (command)` where no headline names what one or two changes are about. */
export function namedChanges({ changes, protection }: NamedChanges): string {
  const replaced = new Map(changes.map(({ id, replacedBy }) => [replacedBy, id]));
  const shown = changes.filter(({ replacedBy }) => replacedBy === undefined);
  if (shown.length === 0 || shown.length > mostNamedChanges || isNamedByHeadlines(changes, protection)) return '';
  return `: ${shown.map((one) => `${changeText(one, replaced.get(one.id))}${newProtectionText(protection, one.id)}`).join(', ')}`;
}

/** Returns whether headlines name what changes: one about a reroute does not name the field of a single update. */
function isNamedByHeadlines([first, ...others]: readonly Change[], { headlines }: Plan['protection']): boolean {
  if (first?.action === 'update' && others.length === 0) return headlines.some(({ direction }) => direction !== 'reroutes');
  return headlines.length > 0;
}

/** Returns what protects a new connection, with its tags: ` (env=prod; after approval by dba; guardrail no-drop)`; empty text for other objects. */
function newProtectionText({ connections, permissions }: Plan['protection'], id: ResourceId): string {
  const {
    tags,
    controls,
    rules = [],
    replaces,
  } = connections.find(({ connection, created }) => connection === id && created === true) ?? {};
  if (tags === undefined || controls === undefined) return '';
  const has = (...types: readonly ControlType[]): boolean =>
    controls.some(({ control, after }) => types.includes(control) && after.length > 0);
  const granted = (permissions?.changes ?? []).filter(({ connections: all, after }) => all.includes(id) && after.answer !== 'no');
  const named = rules.flatMap(({ rule, after }) => {
    const noun = guards.find(([, types]) => types.some((type) => after?.controls.includes(type)))?.[0];
    return noun === undefined ? [] : [`${noun} ${nameOf(rule)}`];
  });
  const parts = [
    sharedTagsText({ tags }, String),
    ...(replaces !== undefined && controls.length === 0
      ? ['same protection']
      : has('access')
        ? shortList(
            [...new Set(granted.map(({ after }) => (after.answer === 'yes' ? approvalPhrase(after) : 'unknown access')))],
            mostNamedFields,
          )
        : ['closed']),
    ...shortList(named, mostNamedGuards),
    ...(has('redaction') ? ['redaction'] : []),
  ];
  return ` (${parts.filter((part) => part !== '').join('; ')})`;
}

/** The words for rules by what they give. */
const guards = [
  ['guardrail', ['input', 'output']],
  ['masking', ['masking']],
] as const;

const mostNamedGuards = 3;

const mostNamedChanges = 2;
const mostNamedFields = 2;

function changeText({ id, key, action, fields }: Change, replaced: ResourceId | undefined): string {
  if (action === 'rename' && key !== undefined) return `${clip(key, longestCheck)} to ${clip(nameOf(id), longestCheck)}`;
  if (replaced !== undefined) return `${clip(replaced, longestCheck)} by ${clip(nameOf(id), longestCheck)}`;
  const texts = action === 'update' ? fieldTexts(fields) : [];
  return `${clip(id, longestCheck)}${texts.length === 0 ? '' : ` (${texts.join(', ')})`}`;
}

/** Returns `connection_tags.env: prod → none` of one or two fields; of more the first ones without values. */
function fieldTexts(fields: readonly FieldChange[]): readonly string[] {
  // A plan does not write what it holds.
  const rows = changeRows({ action: 'update', fields: fields.filter(({ held }) => held !== true) });
  const whole = new Set(fields.map(({ path }) => pathText(path)));
  if (rows.length > mostNamedFields)
    return shortList(
      rows.map(({ label }) => label),
      mostNamedFields,
    );
  return rows.map(({ label, parts: [part, ...others] }) => {
    // A source of a secret may be long, and its row has it.
    if (part === undefined || others.length > 0 || (part.sign === '' && part.text.startsWith('('))) return label;
    if (part.sign === '~') return `${label}: ${distinctParts(part.before, part.after, longestTurn).join(' → ')}`;
    const text = clip(part.sign === '' ? part.text.replace(/ \(.*$/s, '') : part.text, longestTurn);
    if (part.sign === '') return `${label}: ${text}`;
    if (!whole.has(label)) return `${label}: ${part.sign} ${text}`;
    return `${label}: ${part.sign === '+' ? `none → ${text}` : `${text} → none`}`;
  });
}

const longestTurn = 40;

/** Returns `Changes its checks: policy has-a-reviewer removed, limits.updates of target prod changed.` */
function checksTexts({ checks = [] }: Pick<Plan, 'checks'>): readonly string[] {
  if (checks.length === 0) return [];
  return [`Changes its checks: ${shortList(checks.map(checkText), namedChecks).join(', ')}.`];
}

const namedRefusals = 2;
const namedChecks = 2;

function checkText(one: ChangedCheck): string {
  const name = clip(one.check, longestCheck);
  if (one.action === 'uncovered') return `${name} ${uncoveredText(one, 1)}`;
  const { action, before, after } = one;
  const isShort = before !== undefined && after !== undefined && before.length + after.length < longestCheck;
  return `${name} ${action}${isShort ? ` from ${before} to ${after}` : ''}`;
}

const longestCheck = 80;

/** Returns what is not part of the plan: `2 changes outside Ostiary that manifests do not declare: orders-db loses review.` */
function outsideTexts({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  if (outside === undefined || outside.changes.length === 0) return [];
  const { changes, headlines } = outside;
  const end = headlines.length === 0 ? '.' : `: ${withEffect('', headlines).join('')}`;
  return [`${plural(changes.length, 'change')} outside Ostiary that manifests do not declare${end}`];
}

/** Returns counts beside what headlines state of protection; what is not good comes first. */
export function withEffect(counts: string, headlines: readonly Headline[], highest?: RiskClass): readonly string[] {
  const worst = worstEffect(headlines, highest);
  const effect = effectText(headlines, worst);
  const parts = worst === 'strengthens' || worst === 'neutral' ? [counts, effect.replace(/^only /, 'Only ')] : [effect, counts];
  return parts.filter((part) => part !== '');
}

/** Returns one or two headlines as they are; of more, the worst one and the connections by effect. An effect without a headline is alone. */
function effectText(headlines: readonly Headline[], worst: HeadlineVerdict): string {
  const [first] = headlines.filter(({ direction }) => direction === worst);
  if (first === undefined) return worst === 'strengthens' || worst === 'neutral' ? '' : `${effects[worst][0]}.`;
  if (headlines.length <= mostHeadlines) return `${headlineSentences(headlines)}.`;
  return `${headlineSentences([first])}. ${classesText(headlines)}.`;
}

const mostHeadlines = 2;

/** Returns whether a verdict states all headlines: they are few, and the worst effect is among them. */
export function isVerdict(headlines: readonly Headline[], highest?: RiskClass): boolean {
  const worst = worstEffect(headlines, highest);
  return headlines.length <= mostHeadlines && headlines.some(({ direction }) => direction === worst);
}

/** Returns the connections by effect, the worst first: `Weakens protection of 3 connections, strengthens protection of 1 connection`. */
function classesText(headlines: readonly Headline[]): string {
  const texts = headlineOrder.flatMap((direction) => {
    const same = headlines.filter((headline) => headline.direction === direction);
    const connections = new Set(same.flatMap((headline) => headline.connections));
    const [effect, object] = effects[direction];
    return same.length === 0 ? [] : [`${effect}${connections.size === 0 ? '' : `${object}${plural(connections.size, 'connection')}`}`];
  });
  return texts.map((text, index) => (index === 0 ? text : uncapitalized(text))).join(', ');
}

/** Returns the worst effect for a title: `weakens protection of 1 connection`; empty text without headlines. */
export function worstEffectText(headlines: readonly Headline[]): string {
  const worst = worstEffect(headlines, undefined);
  return uncapitalized(classesText(headlines.filter(({ direction }) => direction === worst)));
}

function uncapitalized(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Returns the worst effect; one that is certain comes before one that is unknown, and a deletion that no headline names is a count. */
function worstEffect(headlines: readonly Headline[], highest: RiskClass | undefined): HeadlineVerdict {
  const has = (verdict: HeadlineVerdict): boolean => headlines.some(({ direction }) => direction === verdict);
  const risk = highest !== undefined && isEffect(highest) && (highest !== 'availability' || has(highest)) ? highest : 'strengthens';
  // What is not enforced is said where nothing else is.
  if (risk === 'strengthens') return (headlines.find((one) => one.direction !== 'neutral') ?? headlines[0])?.direction ?? risk;
  const certain = (['reroutes', 'exposes'] as const).find(has);
  return risk === 'unknown' && certain !== undefined ? certain : risk;
}

const effects: Readonly<Record<HeadlineVerdict, readonly [effect: string, object: string]>> = {
  weakens: ['Weakens protection', ' of '],
  unknown: ['Unknown effect on protection', ' of '],
  exposes: ['Gives access without review', ' to '],
  reroutes: ['Reroutes credentials or code', ' of '],
  availability: ['Blocks users', ' of '],
  neutral: ['Changes no enforced protection', ' of '],
  strengthens: ['Strengthens protection', ' of '],
};

function isEffect(risk: RiskClass): risk is HeadlineVerdict {
  return risk !== 'neutral' && Object.hasOwn(effects, risk);
}
