import { type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { AccessMode, AccessRule } from '../../model/live.ts';
import { approvalCount, compareForce, compareReview } from './compare-approvals.ts';
import { byName, compareDuration, compareGranted, compareNamed, compareSets } from './compare-controls.ts';
import {
  controlsOf,
  type Control,
  type Posture,
  type ControlComparison,
  attributeRisks,
  limitRisks,
  setRisks,
  strengthening,
  switchRisks,
  uncertain,
  verbPhrase,
  weakening,
  type ControlRow,
  type PhraseBuilder,
  type VerbPhrase,
} from './control-row.ts';

/**
 * Compares access-request rules by their names. One rule of a connection governs, not all of them, so several cannot be compared. The
 * groups of a rule may approve instead of the reviewers, so what the first or the last rule on a connection with reviewers changes
 * besides cannot be compared.
 */
function compareRequests(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'requests'), controlsOf(after, 'requests')];
  const found = compareSets(had, has, byName);
  if (had.length > 0 && has.length > 0) return withoutVerdict(found);
  if (had.length === 0 && before.approvals > 0) return { ...found, gained: [], incomparable: found.gained };
  return has.length === 0 && after.approvals > 0 ? { ...found, incomparable: found.lost } : found;
}

/** Compares attributes: each may grant access, choose the rule that governs, or issue machine credentials, which Ostiary does not read. */
function compareAttributes(before: Posture, after: Posture): ControlComparison {
  return withoutVerdict(compareSets(controlsOf(before, 'attributes'), controlsOf(after, 'attributes'), byName));
}

/** Returns a comparison in which nothing that differs is certainly lost or gained. */
function withoutVerdict(found: ControlComparison): ControlComparison {
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

const accessModes: readonly AccessMode[] = ['connect', 'exec', 'runbooks'];
const accessCodes = {
  opened: weakening('access-opened', 'an access mode is opened'),
  closed: strengthening('access-closed', 'an access mode is closed'),
};

/** The open access modes. */
export const accessRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: accessModes.map((mode) => `access_mode_${mode}`) },
  ofConnection: (spec) => controlsNamed(accessModes.filter((mode) => isEnabled(spec[`access_mode_${mode}`]))),
  compare: compareGranted('access'),
  risks: { Connection: accessModes.map((mode) => switchRisks(`access_mode_${mode}`, accessCodes)) },
  weight: 0,
  column: { heading: 'access modes', none: 'closed' },
  about: 'access modes',
  loses: (controls) => verbPhrase('enables', 'enable', joinModes(controls)),
  gains: (controls) => verbPhrase('disables', 'disable', joinModes(controls)),
};

/** The words of the field for access modes: `connect` is native access with the client of the database. */
const modeWords: Readonly<Record<string, string>> = { connect: 'native access' };

/** Returns the names of access modes as headlines print them. */
export function joinModes(controls: readonly Control[]): string {
  const names = controls.map(({ name }) => modeWords[name] ?? name);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((text) => text !== '').join(' and ');
}

/** All users. No group has an empty name, so a group that is called everybody is another control. */
const everybody: Control = { name: 'everybody', content: '' };
const unrestricted: readonly Control[] = [everybody];

/** Returns the groups that can reach a connection beside admins. */
function groupsThatReach({ access_groups: groups }: JsonObject): readonly Control[] {
  return Array.isArray(groups) ? controlsNamed(groups) : unrestricted;
}

/** Compares groups that can reach a connection: everybody includes each of them. */
function compareReach(before: readonly Control[], after: readonly Control[]): ControlComparison {
  const found = compareSets(before, after, {
    covers: (control, by) => (by.includes(everybody) || (control !== everybody && byName.covers(control, by) === 'yes') ? 'yes' : 'no'),
  });
  return { ...found, lost: found.gained, gained: found.lost };
}

/** Compares who can reach a connection. That everybody can is no difference to a connection that does not exist. */
function compareWho({ controls: { who: had } }: Posture, { controls: { who: has } }: Posture): ControlComparison {
  return compareReach(had ?? onlyEverybody(has), has ?? onlyEverybody(had));
}

function onlyEverybody(controls: readonly Control[] = none): readonly Control[] {
  return controls.filter((one) => one === everybody);
}

const reachCodes = {
  granted: weakening('group-granted', 'one more group can reach the connection'),
  revoked: strengthening('group-revoked', 'one fewer group can reach the connection'),
};

/** The groups that can reach the connection. */
export const whoRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['access_groups'] },
  ofConnection: groupsThatReach,
  compare: compareWho,
  risks: {
    Connection: [
      {
        codes: [reachCodes.revoked, reachCodes.granted],
        find: ({ before, after }) => {
          const { lost, gained } = compareReach(groupsThatReach(before), groupsThatReach(after));
          const codes = [...(gained.length > 0 ? [reachCodes.revoked] : []), ...(lost.length > 0 ? [reachCodes.granted] : [])];
          return codes.map((code) => ({ code, fields: ['access_groups'] }));
        },
      },
    ],
  },
  weight: 1,
  column: { heading: 'who', none: 'admins', all: everybody.name },
  about: 'access groups',
  loses: () => verbPhrase('can be', 'can be', 'reached by more groups'),
  gains: () => verbPhrase('can be', 'can be', 'reached by fewer groups'),
};

/** The groups that must approve, and how many of them. */
export const reviewRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['reviewers', 'min_review_approvals'] },
  decides: 'min_review_approvals',
  ofConnection: ({ reviewers }) => controlsNamed(groupsIn(reviewers)),
  compare: compareReview,
  risks: {
    Connection: [
      setRisks(['reviewers'], {
        removed: weakening('reviewer-removed', 'a reviewer group is removed'),
        added: strengthening('reviewer-added', 'a reviewer group is added'),
      }),
      limitRisks('min_review_approvals', {
        raised: strengthening('approvals-raised', 'more groups must approve'),
        lowered: weakening('approvals-lowered', 'fewer groups must approve'),
      }),
    ],
  },
  weight: 1,
  column: { heading: 'reviewers' },
  about: 'reviewers',
  loses: reviewPhrase({ one: 'loses', many: 'lose' }, 'easier'),
  gains: reviewPhrase({ one: 'gains', many: 'gain' }, 'harder'),
};

/** Lists groups; a blank name is no group, so it approves nothing. */
function groupsIn(value: Json | undefined): readonly string[] {
  return textsIn(value).filter((name) => name.trim() !== '');
}

/** Returns the number of groups that must approve. */
export function approvalsOf({ reviewers, min_review_approvals: needed }: JsonObject): number {
  const groups = groupsIn(reviewers).length;
  return Math.min(groups, typeof needed === 'number' ? needed : groups);
}

/** Builds the phrase for review: all of it, a group, or only the number of approvals. */
function reviewPhrase({ one, many }: VerbPhrase, approval: string): PhraseBuilder {
  return (controls, other) => {
    if (controlsOf(other, 'review').length === 0) return verbPhrase(one, many, 'review');
    return controls.some(({ name }) => name !== approvalCount)
      ? verbPhrase(one, many, 'a reviewer group')
      : verbPhrase('is', 'are', `${approval} to approve`);
  };
}

const redactionFields = ['redact_types', 'redact_enabled'];

function redactedTypes({ redact_enabled: enabled, redact_types: types }: JsonObject): Json {
  return enabled === false ? [] : (types ?? []);
}

/** The types that sessions redact. */
export const redactionRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: redactionFields },
  decides: 'redact_enabled',
  ofConnection: (spec) => controlsNamed(redactedTypes(spec)),
  compare: compareNamed('redaction'),
  risks: {
    Connection: [
      setRisks(
        redactionFields,
        {
          removed: weakening('redaction-removed', 'a type is no longer redacted'),
          added: strengthening('redaction-added', 'one more type is redacted'),
        },
        (spec) => textsIn(redactedTypes(spec)),
      ),
    ],
  },
  weight: 4,
  column: { heading: 'redacted' },
  about: 'redaction',
  loses: (_, other) => (isNone(other) ? verbPhrase('loses', 'lose', 'redaction') : verbPhrase('redacts', 'redact', 'less')),
  gains: (_, other) => (isNone(other) ? verbPhrase('gains', 'gain', 'redaction') : verbPhrase('redacts', 'redact', 'more')),
};

function isNone(posture: Posture): boolean {
  return controlsOf(posture, 'redaction').length === 0;
}

/** The groups that may approve alone. */
export const forceRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['force_approve_groups'] },
  ofConnection: ({ force_approve_groups: groups }) => controlsNamed(groups),
  compare: compareForce,
  risks: {
    Connection: [
      setRisks(['force_approve_groups'], {
        added: weakening('force-approver-added', 'one more group can approve alone'),
        removed: strengthening('force-approver-removed', 'one fewer group can approve alone'),
      }),
    ],
  },
  weight: 5,
  column: { heading: 'force-approvers' },
  about: 'force-approvers',
  loses: () => verbPhrase('can be', 'can be', 'force-approved by more groups'),
  gains: () => verbPhrase('can be', 'can be', 'force-approved by fewer groups'),
};

/** The longest access. */
export const durationRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['access_max_duration'] },
  ofConnection: ({ access_max_duration: limit }) => (typeof limit === 'number' ? [{ name: 'session', text: `${limit} s`, limit }] : none),
  compare: compareDuration,
  risks: {
    Connection: [
      limitRisks('access_max_duration', {
        raised: weakening('duration-raised', 'sessions can last longer or have no limit'),
        lowered: strengthening('duration-lowered', 'sessions end sooner'),
        unset: uncertain('duration-changed', 'a limit is replaced by the default of the gateway, or replaces it'),
      }),
    ],
  },
  weight: 6,
  column: { heading: 'longest session', isSingle: true, unit: 's' },
  about: 'the duration of access',
  loses: () => verbPhrase('allows', 'allow', 'longer access'),
  gains: () => verbPhrase('allows', 'allow', 'only shorter access'),
};

/** Whether the schema is shown. */
export const schemaRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['access_schema'] },
  ofConnection: ({ access_schema: schema }) => (isEnabled(schema) ? [{ name: 'shown' }] : none),
  compare: compareGranted('schema'),
  risks: {
    Connection: [
      switchRisks('access_schema', {
        opened: weakening('schema-shown', 'the schema is shown'),
        closed: strengthening('schema-hidden', 'the schema is hidden'),
      }),
    ],
  },
  weight: 7,
  column: { heading: 'schema', isSingle: true },
  about: 'schema access',
  loses: () => verbPhrase('shows', 'show', 'the schema'),
  gains: () => verbPhrase('hides', 'hide', 'the schema'),
};

/** The required metadata of a session. */
export const metadataRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['mandatory_metadata_fields'] },
  ofConnection: ({ mandatory_metadata_fields: names }) => controlsNamed(names),
  compare: compareNamed('metadata'),
  risks: {
    Connection: [
      setRisks(['mandatory_metadata_fields'], {
        removed: weakening('metadata-removed', 'a session requires less metadata'),
        added: strengthening('metadata-added', 'a session requires more metadata'),
      }),
    ],
  },
  weight: 8,
  column: { heading: 'required metadata' },
  about: 'required metadata',
  loses: () => verbPhrase('asks', 'ask', 'for less metadata'),
  gains: () => verbPhrase('asks', 'ask', 'for more metadata'),
};

/** The attributes, by which rules of every kind and access groups refer to connections. */
export const attributesRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['attributes'] },
  ofConnection: ({ attributes }) => controlsNamed(attributes),
  compare: compareAttributes,
  risks: { Connection: [attributeRisks] },
  weight: 9,
  column: { heading: 'attributes' },
  about: 'attributes',
  loses: () => verbPhrase('loses', 'lose', 'an attribute'),
  gains: () => verbPhrase('gains', 'gain', 'an attribute'),
};

/** Lists the rules of which one decides a mode: those by an attribute of the connection, otherwise those that name it. */
function governing(mode: AccessMode, rules: readonly AccessRule[], { attributes }: JsonObject): readonly AccessRule[] {
  const own = new Set(textsIn(attributes));
  const deciding = rules.filter(({ modes }) => modes.includes(mode));
  const byAttribute = deciding.filter((rule) => rule.attributes.some((attribute) => own.has(attribute)));
  return byAttribute.length > 0 ? byAttribute : deciding;
}

/** The access-request rules of the gateway, which are never managed. */
export const requestsRow: Omit<ControlRow, 'type'> = {
  fields: { Connection: ['attributes'] },
  ofConnection: (spec, accessRules) =>
    accessRules.map((rule) => ({
      name: rule.name,
      text: `${rule.name} (unmanaged): ${rule.text}`,
      modes: rule.modes.filter((mode) => {
        const rules = governing(mode, accessRules, spec);
        return rules.includes(rule) && rules.every(({ reviewsAll }) => reviewsAll);
      }),
    })),
  compare: compareRequests,
  risks: { Connection: [attributeRisks] },
  weight: 1,
  column: { heading: 'access-request rules' },
  about: 'access-request rules',
  loses: () => verbPhrase('loses', 'lose', 'an access-request rule'),
  gains: () => verbPhrase('gains', 'gain', 'an access-request rule'),
};
