import { isUuid } from '../../../../model/resource.ts';
import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { asArray, asText, isObject, type Json } from '../../../../model/json.ts';
import { pointer, type Pointer } from '../../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite, proposedWrites } from '../../rest.ts';
import { checkName } from './name.ts';
import { types, valueNames } from '../fields.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import type { LiveState } from '../../../../model/live.ts';
import type { ServerFeatures } from '../handshake.ts';

/** The path at which the gateway lists its issue templates, an array of objects with `id` and `name` (its `api/integrations`). */
export const issueTemplatesPath = '/integrations/jira/issuetemplates';

/** The issue templates that are known to exist: `listed` has names by id where the gateway lists them, `used` has ids of live connections. */
type IssueTemplates = { readonly listed: ReadonlyMap<string, string> | undefined; readonly used: ReadonlySet<string> };

const field = 'issuetracker_issue_template_id';

/** Lists what to read of templates: all of them, where a write names one that no live connection has. */
export function issueTemplateReads(proposal: PreflightRequest): readonly string[] {
  const used = usedTemplates(proposal.live);
  return proposedWrites(proposal).some((write) => isNew(write, used)) ? [issueTemplatesPath] : [];
}

/** Reads the templates from the gateway's response; `listed` is undefined where it did not list them. */
export function readIssueTemplates(answer: unknown, live: LiveState): IssueTemplates {
  const listed = Array.isArray(answer) ? new Map(answer.flatMap((entry: Json) => idAndName(entry))) : undefined;
  return { listed, used: usedTemplates(live) };
}

/** Reports templates that do not exist: the gateway would answer with an error of its database. */
function checkIssueTemplate(write: ProposedWrite, templates: IssueTemplates | undefined): readonly Diagnostic[] {
  const template = write.spec[field];
  if (typeof template !== 'string' || template === '') return [];
  if (!isUuid(template)) {
    return [
      diagnosticAt(write, `/${field}`, {
        code: 'hoop/not-a-uuid',
        message: `"${template}" is not a UUID`,
        hint: 'use the ID of the template',
      }),
    ];
  }
  if (templates === undefined) return [];
  const { listed, used } = templates;
  if (used.has(lowerCase(template)) || listed?.has(lowerCase(template)) === true) return [];
  if (listed === undefined) {
    const message = `the issue template ${template} cannot be verified: the token cannot list issue templates`;
    const hint = 'a write with an unknown template fails with a database error and changes nothing';
    return [diagnosticAt(write, `/${field}`, { code: 'hoop/unchecked-template', severity: 'warning', message, hint })];
  }
  const some = [...listed].slice(0, 5).map(([id, name]) => `${id} (${name})`);
  const hint = some.length === 0 ? 'the gateway has none: create one there, or remove the field' : `it has ${some.join(', ')}`;
  const message = `unknown issue template ${template}`;
  return [diagnosticAt(write, `/${field}`, { code: 'hoop/unknown-template', message, hint })];
}

function isNew({ spec }: ProposedWrite, used: ReadonlySet<string>): boolean {
  const template = spec[field];
  return typeof template === 'string' && isUuid(template) && !used.has(lowerCase(template));
}

function usedTemplates(live: LiveState): ReadonlySet<string> {
  return new Set(live.resources.map(({ spec }) => lowerCase(spec[field])));
}

function idAndName(entry: Json): readonly (readonly [id: string, name: string])[] {
  if (!isObject(entry)) return [];
  const { name } = entry;
  return [[lowerCase(entry['id']), asText(name)]];
}

function lowerCase(value: Json | undefined): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}

/** What a proposed write is checked against. */
export type CheckContext = {
  readonly features: ServerFeatures;
  /** Undefined where the gateway was not asked. */
  readonly templates: IssueTemplates | undefined;
  /** The types of live connections. */
  readonly usedTypes: ReadonlySet<string>;
};

/** Something of one rule that the free license does not allow. */
export type LicenseLimit = { readonly at: Pointer; readonly message: string };

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
    ...checkReviewerLengths(write),
    ...checkProfile(write, context.features.profile),
  ];
}

function checkConnectionName(write: ProposedWrite): readonly Diagnostic[] {
  const { name, spec } = write;
  const rejected = checkName(write);
  if (rejected.length > 0) return rejected;
  const resource = spec['resource_name'];
  const own = typeof resource !== 'string' || resource === '' || resource === name;
  if (write.creates && (name.length > maxNameLength || (own && name.length > maxResourceNameLength))) {
    const message = `the name has ${name.length} characters, more than the gateway can store`;
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
            message: `"${spelling[1]}" is the gateway’s own spelling of the subtype`,
            hint: `write ${spelling[0]}; Ostiary translates it`,
          }),
        ]),
  ];
}

/** Reports an unknown type; only a warning on newer gateways, which may have more types. */
function unknownType(write: ProposedWrite, type: string, newer: boolean): Diagnostic {
  const hint = `it has ${types.join(', ')}`;
  if (!newer) return diagnosticAt(write, '/type', { code: 'hoop/unknown-type', message: `unknown connection type "${type}"`, hint });
  const message = `the type "${type}" may be unknown to this version of the gateway`;
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
    const message = `a reviewer group has a name of ${Array.from(group).length} characters; the gateway cannot open a review for more than ${maxReviewerLength}`;
    const hint = 'users could not request access; give the group a shorter name';
    return [diagnosticAt(write, pointer('reviewers', group), { code: 'hoop/long-group', severity: 'warning', message, hint })];
  });
}

function checkTags(write: ProposedWrite): readonly Diagnostic[] {
  const tags = isObject(write.spec['connection_tags']) ? Object.entries(write.spec['connection_tags']) : [];
  const wrong = tags.flatMap(([key, value]) => {
    const at = pointer('connection_tags', key);
    if (!/^\w+(?:[-./]\w+)*$/.test(key)) {
      const hint = 'expected letters, digits and _, separated by single - . or /';
      return [diagnosticAt(write, at, { code: 'hoop/tag', message: `the gateway rejects the tag key "${key}"`, hint })];
    }
    if (typeof value === 'string' && /^[\w\-+=@/:\s]+$/.test(value)) return [];
    const hint = 'expected letters, digits, spaces and - _ + = @ / : without a dot';
    return [diagnosticAt(write, at, { code: 'hoop/tag', message: `the gateway rejects the value of the tag "${key}"`, hint })];
  });
  if (tags.length <= maxTags) return wrong;
  const message = `${tags.length} tags, but the gateway accepts ${maxTags}`;
  return [...wrong, diagnosticAt(write, '/connection_tags', { code: 'hoop/tag', message, hint: 'remove some tags' })];
}

function checkLegacyTags(write: ProposedWrite): readonly Diagnostic[] {
  return asArray(write.spec['tags']).flatMap((tag) => {
    if (typeof tag === 'string' && /^\w+(?:[-.]\w+){0,128}$/.test(tag)) return [];
    const message = `the gateway rejects the tag ${JSON.stringify(tag)}`;
    return [
      diagnosticAt(write, '/tags', { code: 'hoop/tag', message, hint: 'expected letters, digits and _, separated by single - or .' }),
    ];
  });
}

/** Warns that a profile does not cover the connection: turning it on covers only the connections that exist then. */
function checkProfile(write: ProposedWrite, profile: string | undefined): readonly Diagnostic[] {
  if (!write.creates || profile === undefined) return [];
  return [
    diagnosticAt(write, '', {
      code: 'hoop/outside-profile',
      severity: 'warning',
      message: `a new connection is not covered by the organization's protection profile "${profile}"`,
      hint: 'disable and enable the profile on the gateway, or attach rules to the connection',
    }),
  ];
}
