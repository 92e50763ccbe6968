import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject } from '../../../model/json.ts';
import { pointer } from '../../../model/pointer.ts';
import { tell, type Draft } from '../draft.ts';
import { groupProblems } from '../groups.ts';
import type { Circumstances } from './introduce.ts';
import { types, values } from './fields.ts';
import { listOf } from '../rest.ts';
import { templateProblems } from './templates.ts';

const longestName = 254;
const longestResourceName = 128;
const mostTags = 10;
// Names in the groups of a review have less room than names of groups.
const longestReviewer = 100;

/** What the gateway refuses of a connection, or answers with an error of its database. */
export function connectionProblems(draft: Draft, circumstances: Circumstances): readonly Diagnostic[] {
  return [
    ...nameProblems(draft),
    ...typeProblems(draft, circumstances),
    ...templateProblems(draft, circumstances.templates),
    ...tagProblems(draft),
    ...legacyTagProblems(draft),
    ...groupProblems('hoop/unknown-group', draft, circumstances.groups),
    ...longReviewers(draft),
    ...profileProblems(draft, circumstances.abilities.profile),
  ];
}

/**
 * The gateway's rule without its backtracking: blocks of word characters joined by single - or . It holds for
 * replacements as well, though other routes of the gateway make connections of any name.
 */
function nameProblems(draft: Draft): readonly Diagnostic[] {
  const { name, spec } = draft;
  const wordCharacters = name.replaceAll(/[-.]/g, '').length;
  const hint = 'at least three letters, digits or _ in all; - and . only one at a time between them';
  if (!/^\w+(?:[-.]\w+)*$/.test(name) || wordCharacters < 3) {
    return [tell(draft, '', { code: 'hoop/name', message: `the gateway does not take the name "${name}"`, hint })];
  }
  const resource = spec['resource_name'];
  const own = typeof resource !== 'string' || resource === '' || resource === name;
  if (draft.creates && (name.length > longestName || (own && name.length > longestResourceName))) {
    const message = `the name has ${name.length} characters, more than the gateway has room for`;
    const longest = `at most ${longestResourceName}, or ${longestName} with a shorter resource_name`;
    return [tell(draft, '', { code: 'hoop/name', message, hint: longest })];
  }
  return [];
}

function typeProblems(draft: Draft, { usedTypes, abilities }: Circumstances): readonly Diagnostic[] {
  const { type, subtype } = draft.spec;
  const spelling = Object.entries(values['subtype'] ?? {}).find(([, theirs]) => theirs === subtype);
  return [
    ...(typeof type === 'string' && !types.includes(type) && !usedTypes.has(type) ? [unknownType(draft, type, abilities.newer)] : []),
    ...(spelling === undefined
      ? []
      : [
          tell(draft, '/subtype', {
            code: 'hoop/spelling',
            message: `"${spelling[1]}" is how the gateway itself spells the subtype`,
            hint: `write ${spelling[0]}; Ostiary translates it`,
          }),
        ]),
  ];
}

/** Gateways to come may have more types; what the type is wrong for is then an error of the gateway's database. */
function unknownType(draft: Draft, type: string, newer: boolean): Diagnostic {
  const hint = `it has ${types.join(', ')}`;
  if (!newer) return tell(draft, '/type', { code: 'hoop/unknown-type', message: `the gateway has no type "${type}"`, hint });
  const message = `whether this version of the gateway has a type "${type}" is not known`;
  return tell(draft, '/type', {
    code: 'hoop/unknown-type',
    severity: 'warning',
    message,
    hint: hint.replace('it has', 'version 1.148 has'),
  });
}

/** The gateway takes the name, and then fails to open any review for it. */
function longReviewers(draft: Draft): readonly Diagnostic[] {
  return listOf(draft.spec['reviewers']).flatMap((group) => {
    if (typeof group !== 'string' || Array.from(group).length <= longestReviewer) return [];
    const message = `a reviewer group has a name of ${Array.from(group).length} characters; with more than ${longestReviewer} no review can be opened`;
    const hint = 'nobody could ask for access; give the group a shorter name';
    return [tell(draft, pointer('reviewers', group), { code: 'hoop/long-group', severity: 'warning', message, hint })];
  });
}

function tagProblems(draft: Draft): readonly Diagnostic[] {
  const tags = isObject(draft.spec['connection_tags']) ? Object.entries(draft.spec['connection_tags']) : [];
  const wrong = tags.flatMap(([key, value]) => {
    const at = pointer('connection_tags', key);
    if (!/^\w+(?:[-./]\w+)*$/.test(key)) {
      const hint = 'letters, digits and _, with single - . or / between them';
      return [tell(draft, at, { code: 'hoop/tag', message: `the gateway does not take the tag key "${key}"`, hint })];
    }
    if (typeof value === 'string' && /^[\w\-+=@/:\s]+$/.test(value)) return [];
    const hint = 'no . in it, whatever the gateway’s own message says; letters, digits, spaces and - _ + = @ / : may stand';
    return [tell(draft, at, { code: 'hoop/tag', message: `the gateway does not take the value of the tag "${key}"`, hint })];
  });
  if (tags.length <= mostTags) return wrong;
  const message = `${tags.length} tags, and the gateway takes ${mostTags}`;
  return [...wrong, tell(draft, '/connection_tags', { code: 'hoop/tag', message, hint: 'leave some out' })];
}

function legacyTagProblems(draft: Draft): readonly Diagnostic[] {
  return listOf(draft.spec['tags']).flatMap((tag) => {
    if (typeof tag === 'string' && /^\w+(?:[-.]\w+){0,128}$/.test(tag)) return [];
    const message = `the gateway does not take the tag ${JSON.stringify(tag)}`;
    return [tell(draft, '/tags', { code: 'hoop/tag', message, hint: 'letters, digits and _, with single - or . between them' })];
  });
}

/** A profile is applied to the connections that are there when it is turned on, not to later ones. */
function profileProblems(draft: Draft, profile: string | undefined): readonly Diagnostic[] {
  if (!draft.creates || profile === undefined) return [];
  return [
    tell(draft, '', {
      code: 'hoop/outside-profile',
      severity: 'warning',
      message: `a new connection is outside the organisation's protection profile "${profile}"`,
      hint: 'turn the profile off and on again on the gateway, or protect the connection by rules of its own',
    }),
  ];
}
