import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { isObject } from '../../../../model/json.ts';
import { pointer } from '../../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import { checkGroups } from '../../shared/groups.ts';
import type { CheckContext } from '../handshake.ts';
import { types, valueNames } from '../fields.ts';
import { asArray } from '../../shared/rest.ts';
import { checkIssueTemplate } from './issue-templates.ts';

const maxNameLength = 254;
const maxResourceNameLength = 128;
const maxTags = 10;
// Names in the groups of a review have less room than names of groups.
const maxReviewerLength = 100;

/** What the gateway refuses of a connection, or answers with an error of its database. */
export function checkConnection(draft: ProposedWrite, circumstances: CheckContext): readonly Diagnostic[] {
  return [
    ...checkConnectionName(draft),
    ...checkTypes(draft, circumstances),
    ...checkIssueTemplate(draft, circumstances.templates),
    ...checkTags(draft),
    ...checkLegacyTags(draft),
    ...checkGroups('hoop/unknown-group', draft, circumstances.groups),
    ...checkReviewerLengths(draft),
    ...checkProfile(draft, circumstances.abilities.profile),
  ];
}

/**
 * The gateway's rule without its backtracking: blocks of word characters joined by single - or . It holds for
 * replacements as well, though other routes of the gateway make connections of any name.
 */
function checkConnectionName(draft: ProposedWrite): readonly Diagnostic[] {
  const { name, spec } = draft;
  const wordCharacters = name.replaceAll(/[-.]/g, '').length;
  const hint = 'at least three letters, digits or _ in all; - and . only one at a time between them';
  if (!/^\w+(?:[-.]\w+)*$/.test(name) || wordCharacters < 3) {
    return [diagnosticAt(draft, '', { code: 'hoop/name', message: `the gateway does not take the name "${name}"`, hint })];
  }
  const resource = spec['resource_name'];
  const own = typeof resource !== 'string' || resource === '' || resource === name;
  if (draft.creates && (name.length > maxNameLength || (own && name.length > maxResourceNameLength))) {
    const message = `the name has ${name.length} characters, more than the gateway has room for`;
    const longest = `at most ${maxResourceNameLength}, or ${maxNameLength} with a shorter resource_name`;
    return [diagnosticAt(draft, '', { code: 'hoop/name', message, hint: longest })];
  }
  return [];
}

function checkTypes(draft: ProposedWrite, { usedTypes, abilities }: CheckContext): readonly Diagnostic[] {
  const { type, subtype } = draft.spec;
  const spelling = Object.entries(valueNames['subtype'] ?? {}).find(([, theirs]) => theirs === subtype);
  return [
    ...(typeof type === 'string' && !types.includes(type) && !usedTypes.has(type) ? [unknownType(draft, type, abilities.newer)] : []),
    ...(spelling === undefined
      ? []
      : [
          diagnosticAt(draft, '/subtype', {
            code: 'hoop/spelling',
            message: `"${spelling[1]}" is how the gateway itself spells the subtype`,
            hint: `write ${spelling[0]}; Ostiary translates it`,
          }),
        ]),
  ];
}

/** Gateways to come may have more types; what the type is wrong for is then an error of the gateway's database. */
function unknownType(draft: ProposedWrite, type: string, newer: boolean): Diagnostic {
  const hint = `it has ${types.join(', ')}`;
  if (!newer) return diagnosticAt(draft, '/type', { code: 'hoop/unknown-type', message: `the gateway has no type "${type}"`, hint });
  const message = `whether this version of the gateway has a type "${type}" is not known`;
  return diagnosticAt(draft, '/type', {
    code: 'hoop/unknown-type',
    severity: 'warning',
    message,
    hint: hint.replace('it has', 'version 1.148 has'),
  });
}

/** The gateway takes the name, and then fails to open any review for it. */
function checkReviewerLengths(draft: ProposedWrite): readonly Diagnostic[] {
  return asArray(draft.spec['reviewers']).flatMap((group) => {
    if (typeof group !== 'string' || Array.from(group).length <= maxReviewerLength) return [];
    const message = `a reviewer group has a name of ${Array.from(group).length} characters; with more than ${maxReviewerLength} no review can be opened`;
    const hint = 'nobody could ask for access; give the group a shorter name';
    return [diagnosticAt(draft, pointer('reviewers', group), { code: 'hoop/long-group', severity: 'warning', message, hint })];
  });
}

function checkTags(draft: ProposedWrite): readonly Diagnostic[] {
  const tags = isObject(draft.spec['connection_tags']) ? Object.entries(draft.spec['connection_tags']) : [];
  const wrong = tags.flatMap(([key, value]) => {
    const at = pointer('connection_tags', key);
    if (!/^\w+(?:[-./]\w+)*$/.test(key)) {
      const hint = 'letters, digits and _, with single - . or / between them';
      return [diagnosticAt(draft, at, { code: 'hoop/tag', message: `the gateway does not take the tag key "${key}"`, hint })];
    }
    if (typeof value === 'string' && /^[\w\-+=@/:\s]+$/.test(value)) return [];
    const hint = 'no . in it, whatever the gateway’s own message says; letters, digits, spaces and - _ + = @ / : may stand';
    return [diagnosticAt(draft, at, { code: 'hoop/tag', message: `the gateway does not take the value of the tag "${key}"`, hint })];
  });
  if (tags.length <= maxTags) return wrong;
  const message = `${tags.length} tags, and the gateway takes ${maxTags}`;
  return [...wrong, diagnosticAt(draft, '/connection_tags', { code: 'hoop/tag', message, hint: 'leave some out' })];
}

function checkLegacyTags(draft: ProposedWrite): readonly Diagnostic[] {
  return asArray(draft.spec['tags']).flatMap((tag) => {
    if (typeof tag === 'string' && /^\w+(?:[-.]\w+){0,128}$/.test(tag)) return [];
    const message = `the gateway does not take the tag ${JSON.stringify(tag)}`;
    return [diagnosticAt(draft, '/tags', { code: 'hoop/tag', message, hint: 'letters, digits and _, with single - or . between them' })];
  });
}

/** A profile is applied to the connections that are there when it is turned on, not to later ones. */
function checkProfile(draft: ProposedWrite, profile: string | undefined): readonly Diagnostic[] {
  if (!draft.creates || profile === undefined) return [];
  return [
    diagnosticAt(draft, '', {
      code: 'hoop/outside-profile',
      severity: 'warning',
      message: `a new connection is outside the organisation's protection profile "${profile}"`,
      hint: 'turn the profile off and on again on the gateway, or protect the connection by rules of its own',
    }),
  ];
}
