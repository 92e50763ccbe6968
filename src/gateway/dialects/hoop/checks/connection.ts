import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { isObject } from '../../../../model/json.ts';
import { pointer } from '../../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import { checkGroups, asArray } from '../../shared/rest.ts';
import { type CheckContext, checkIssueTemplate } from './issue-templates.ts';
import { types, valueNames } from '../fields.ts';

const maxNameLength = 254;
const maxResourceNameLength = 128;
const maxTags = 10;
// The gateway stores reviewer names of a review in a shorter column than names of groups.
const maxReviewerLength = 100;

/** Reports what the gateway rejects of a connection, or answers with an error of its database. */
export function checkConnection(write: ProposedWrite, context: CheckContext): readonly Diagnostic[] {
  return [
    ...checkConnectionName(write),
    ...checkTypes(write, context),
    ...checkIssueTemplate(write, context.templates),
    ...checkTags(write),
    ...checkLegacyTags(write),
    ...checkGroups('hoop/unknown-group', write, context.groups),
    ...checkReviewerLengths(write),
    ...checkProfile(write, context.features.profile),
  ];
}

/**
 * Applies the gateway's own rule without its backtracking: blocks of word characters joined by single - or . The rule holds
 * for replacements as well, although other routes of the gateway create connections with any name.
 */
function checkConnectionName(write: ProposedWrite): readonly Diagnostic[] {
  const { name, spec } = write;
  const wordCharacters = name.replaceAll(/[-.]/g, '').length;
  const hint = 'at least three letters, digits or _ in all; - and . only one at a time between them';
  if (!/^\w+(?:[-.]\w+)*$/.test(name) || wordCharacters < 3) {
    return [diagnosticAt(write, '', { code: 'hoop/name', message: `the gateway does not take the name "${name}"`, hint })];
  }
  const resource = spec['resource_name'];
  const own = typeof resource !== 'string' || resource === '' || resource === name;
  if (write.creates && (name.length > maxNameLength || (own && name.length > maxResourceNameLength))) {
    const message = `the name has ${name.length} characters, more than the gateway has room for`;
    const longest = `at most ${maxResourceNameLength}, or ${maxNameLength} with a shorter resource_name`;
    return [diagnosticAt(write, '', { code: 'hoop/name', message, hint: longest })];
  }
  return [];
}

function checkTypes(write: ProposedWrite, { usedTypes, features }: CheckContext): readonly Diagnostic[] {
  const { type, subtype } = write.spec;
  const spelling = Object.entries(valueNames['subtype'] ?? {}).find(([, theirs]) => theirs === subtype);
  return [
    ...(typeof type === 'string' && !types.includes(type) && !usedTypes.has(type) ? [unknownType(write, type, features.isNewer)] : []),
    ...(spelling === undefined
      ? []
      : [
          diagnosticAt(write, '/subtype', {
            code: 'hoop/spelling',
            message: `"${spelling[1]}" is how the gateway itself spells the subtype`,
            hint: `write ${spelling[0]}; Ostiary translates it`,
          }),
        ]),
  ];
}

/** Reports an unknown type; only a warning on newer gateways, which may have more types. */
function unknownType(write: ProposedWrite, type: string, newer: boolean): Diagnostic {
  const hint = `it has ${types.join(', ')}`;
  if (!newer) return diagnosticAt(write, '/type', { code: 'hoop/unknown-type', message: `the gateway has no type "${type}"`, hint });
  const message = `whether this version of the gateway has a type "${type}" is not known`;
  return diagnosticAt(write, '/type', {
    code: 'hoop/unknown-type',
    severity: 'warning',
    message,
    hint: hint.replace('it has', 'version 1.148 has'),
  });
}

/** Warns about long group names: the gateway accepts the name, and then fails to open any review for it. */
function checkReviewerLengths(write: ProposedWrite): readonly Diagnostic[] {
  return asArray(write.spec['reviewers']).flatMap((group) => {
    if (typeof group !== 'string' || Array.from(group).length <= maxReviewerLength) return [];
    const message = `a reviewer group has a name of ${Array.from(group).length} characters; with more than ${maxReviewerLength} no review can be opened`;
    const hint = 'nobody could ask for access; give the group a shorter name';
    return [diagnosticAt(write, pointer('reviewers', group), { code: 'hoop/long-group', severity: 'warning', message, hint })];
  });
}

function checkTags(write: ProposedWrite): readonly Diagnostic[] {
  const tags = isObject(write.spec['connection_tags']) ? Object.entries(write.spec['connection_tags']) : [];
  const wrong = tags.flatMap(([key, value]) => {
    const at = pointer('connection_tags', key);
    if (!/^\w+(?:[-./]\w+)*$/.test(key)) {
      const hint = 'letters, digits and _, with single - . or / between them';
      return [diagnosticAt(write, at, { code: 'hoop/tag', message: `the gateway does not take the tag key "${key}"`, hint })];
    }
    if (typeof value === 'string' && /^[\w\-+=@/:\s]+$/.test(value)) return [];
    const hint = 'no . in it, whatever the gateway’s own message says; letters, digits, spaces and - _ + = @ / : may stand';
    return [diagnosticAt(write, at, { code: 'hoop/tag', message: `the gateway does not take the value of the tag "${key}"`, hint })];
  });
  if (tags.length <= maxTags) return wrong;
  const message = `${tags.length} tags, and the gateway takes ${maxTags}`;
  return [...wrong, diagnosticAt(write, '/connection_tags', { code: 'hoop/tag', message, hint: 'leave some out' })];
}

function checkLegacyTags(write: ProposedWrite): readonly Diagnostic[] {
  return asArray(write.spec['tags']).flatMap((tag) => {
    if (typeof tag === 'string' && /^\w+(?:[-.]\w+){0,128}$/.test(tag)) return [];
    const message = `the gateway does not take the tag ${JSON.stringify(tag)}`;
    return [diagnosticAt(write, '/tags', { code: 'hoop/tag', message, hint: 'letters, digits and _, with single - or . between them' })];
  });
}

/** Warns that a profile does not cover the connection: turning it on covers only the connections that exist then. */
function checkProfile(write: ProposedWrite, profile: string | undefined): readonly Diagnostic[] {
  if (!write.creates || profile === undefined) return [];
  return [
    diagnosticAt(write, '', {
      code: 'hoop/outside-profile',
      severity: 'warning',
      message: `a new connection is outside the organisation's protection profile "${profile}"`,
      hint: 'turn the profile off and on again on the gateway, or protect the connection by rules of its own',
    }),
  ];
}
