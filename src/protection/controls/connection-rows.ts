import { joinWords } from '../../model/collections.ts';
import { type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { accessModes } from '../../model/protection/access-objects.ts';
import type { Approval } from '../access/effective-access.ts';
import { approvalCount, isOfConnection, movedDuration, movedForce, movedReview, reviewersPhrase, reviewTexts } from './moved-approvals.ts';
import { ofRequestRules, requestRuleLimits } from './request-rule-fields.ts';
import { byName, compareEnforced, compareGranted, compareNamed, compareSets, noDifference } from './compare-controls.ts';
import { enforcingFields, typeFields } from './enforcement.ts';
import {
  controlsOf,
  type Control,
  type Posture,
  type ControlComparison,
  namedOnce,
  namesText,
  quoteName,
  type ControlRow,
} from './control-row.ts';

/**
 * Compares attributes: what each grants, attaches and requires is a control of its own. Nothing else is lost with one, unless the gateway
 * does not show what it does.
 */
function compareAttributes(before: Posture, after: Posture): ControlComparison {
  if (![before, after].some(({ incomplete }) => incomplete.has('attributes'))) return noDifference;
  const found = compareSets(controlsOf(before, 'attributes'), controlsOf(after, 'attributes'), byName);
  return { ...found, lost: [], gained: [], incomparable: [...found.lost, ...found.gained] };
}

const none: readonly Control[] = [];

function controlsNamed(value: Json | undefined): readonly Control[] {
  const names = textsIn(value);
  return names.length === 0 ? none : names.map((name) => ({ name }));
}

function isEnabled(value: Json | undefined): boolean {
  return value === 'enabled';
}

/** The open access modes. */
export const accessRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: accessModes.map((mode) => `access_mode_${mode}`) },
  conditions: typeFields,
  ofConnection: (_, { is: { open } }) => controlsNamed([...open]),
  moved: (some) => namedOnce(some.flatMap(({ verb, terms: [had, has] }) => (had?.open === has?.open ? [] : [verb]))),
  weight: 5,
  column: { heading: 'access modes', none: 'closed' },
  about: 'access modes',
  loses: (controls) => `enables ${joinModes(controls)}`,
  gains: (controls) => `disables ${joinModes(controls)}`,
};

/** The words of the field for access modes: `connect` is native access with the client of the database. */
const modeWords: Readonly<Record<string, string>> = { connect: 'native access' };

/** Returns the names of access modes as headlines print them. */
export function joinModes(controls: readonly Control[]): string {
  return joinWords(controls.map(({ name }) => modeWords[name] ?? name));
}

/** The groups that must approve, and how many of them. */
export const reviewRow: Omit<ControlRow, 'type'> = {
  ...ofRequestRules(['reviewers', 'min_review_approvals']),
  decides: 'min_review_approvals',
  ofConnection: ({ reviewers }) => controlsNamed(groupsIn(reviewers)),
  moved: movedReview,
  isAbout: isOfConnection,
  textsOf: reviewTexts,
  weight: 0,
  column: { heading: 'reviewers' },
  about: 'reviewers',
  loses: (controls, after, before) => reviewPhrase(controls, 'loses', [before, after]),
  gains: (controls, before, after) => reviewPhrase(controls, 'gains', [before, after]),
};

/** Lists groups; a blank name is no group, so it approves nothing. */
function groupsIn(value: Json | undefined): readonly string[] {
  return textsIn(value).filter((name) => name.trim() !== '');
}

/** Returns the approval that the reviewers of a connection give; undefined where it needs none of them. */
export function ownApproval(spec: JsonObject): Approval | undefined {
  const { reviewers, min_review_approvals: least, force_approve_groups: force } = spec;
  const groups = groupsIn(reviewers);
  const needed = Math.min(groups.length, typeof least === 'number' ? least : groups.length);
  return needed > 0 ? { groups, needed, force: textsIn(force) } : undefined;
}

/** Returns the phrase for review: all of it, its groups, or the number of approvals where that is all that changes. */
function reviewPhrase(controls: readonly Control[], verb: 'loses' | 'gains', sides: readonly [before: Posture, after: Posture]): string {
  if (sides.some((side) => controlsOf(side, 'review').length === 0)) return `${verb} review`;
  const [before, after] = sides.map(({ access: { own } }) => own);
  const groups = controlNames(controls).filter((name) => name !== approvalCount);
  const isLoss = verb === 'loses';
  return reviewersPhrase(groups, isLoss, [before, after]) ?? `is ${isLoss ? 'easier' : 'harder'} to approve`;
}

const redactionFields = ['redact_types', 'redact_enabled'];

function redactedTypes({ redact_enabled: enabled, redact_types: types }: JsonObject): Json {
  return enabled === false ? [] : (types ?? []);
}

/** The types that sessions redact. */
export const redactionRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: redactionFields },
  decides: 'redact_enabled',
  conditions: enforcingFields,
  ofConnection: (spec) => controlsNamed(redactedTypes(spec)),
  compare: compareEnforced('redaction', byName),
  weight: 4,
  column: { heading: 'redacted' },
  about: 'redaction',
  loses: (types, other) => (isNone(other) ? 'loses redaction' : `no longer redacts ${typesText(types)}`),
  gains: (types, other) => (isNone(other) ? 'gains redaction' : `now redacts ${typesText(types)}`),
};

function typesText(controls: readonly Control[]): string {
  return namesText('type', controlNames(controls), false);
}

function controlNames(controls: readonly Control[]): readonly string[] {
  return controls.map(({ name }) => name);
}

function isNone(posture: Posture): boolean {
  return controlsOf(posture, 'redaction').length === 0;
}

/** The groups that may approve alone. */
export const forceRow: Omit<ControlRow, 'type'> = {
  ...ofRequestRules(['force_approve_groups']),
  ofConnection: ({ force_approve_groups: groups }) => controlsNamed(groups),
  moved: movedForce,
  isAbout: isOfConnection,
  weight: 1,
  column: { heading: 'force-approvers' },
  about: 'force-approvers',
  loses: (groups) => `can be force-approved by ${namesText('group', controlNames(groups).map(quoteName))}`,
  gains: (groups) => `can no longer be force-approved by ${namesText('group', controlNames(groups).map(quoteName))}`,
};

/** The longest access. */
export const durationRow: Omit<ControlRow, 'type'> = {
  ...ofRequestRules(['access_max_duration', 'attributes'], requestRuleLimits),
  ofConnection: ({ access_max_duration: limit }, { is: { rules } }) => [
    ...(typeof limit === 'number' ? [{ name: 'session', text: `${limit} s`, limit }] : none),
    ...(typeof rules.jit?.access_max_duration === 'number' ? [{ name: rules.jit.name, text: `${rules.jit.access_max_duration} s` }] : none),
  ],
  moved: movedDuration,
  // That the gateway's own limit is not known is said where no rule sets another one.
  isAbout: (one, sides) => isOfConnection(one, sides) || one.terms.every((terms) => terms?.longest !== 'unknown'),
  weight: 6,
  column: { heading: 'longest session', isSingle: true, unit: 's' },
  about: 'the duration of access',
  loses: (limits) => `allows longer access${limitText(limits)}`,
  gains: (limits) => `allows only shorter access${limitText(limits)}`,
};

/** Returns `: 8 h (was 1 h)` where one limit changes. */
function limitText([limit]: readonly Control[]): string {
  return limit?.content === undefined ? '' : `: ${limit.content}`;
}

/** Whether the schema is shown. */
export const schemaRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['access_schema'] },
  ofConnection: ({ access_schema: schema }) => (isEnabled(schema) ? [{ name: 'shown' }] : none),
  compare: compareGranted('schema'),
  weight: 7,
  column: { heading: 'schema', isSingle: true },
  about: 'schema access',
  loses: () => 'shows the schema',
  gains: () => 'hides the schema',
};

/** The required metadata of a session. */
export const metadataRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['mandatory_metadata_fields'] },
  ofConnection: ({ mandatory_metadata_fields: names }) => controlsNamed(names),
  compare: compareNamed('metadata'),
  weight: 8,
  column: { heading: 'required metadata', isOptional: true },
  about: 'required metadata',
  loses: (fields) => `no longer requires ${namesText('metadata field', controlNames(fields))}`,
  gains: (fields) => `now requires ${namesText('metadata field', controlNames(fields))}`,
};

/** The attributes, by which rules of every kind and access groups refer to connections. */
export const attributesRow: Omit<ControlRow, 'type'> = {
  decidedWith: ['who', 'approval'],
  fields: { Connection: ['attributes'] },
  ofConnection: ({ attributes }) => controlsNamed(attributes),
  compare: compareAttributes,
  weight: 9,
  column: { heading: 'attributes', isOptional: true },
  about: 'attributes',
  loses: () => 'loses an attribute',
  gains: () => 'gains an attribute',
};
