import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import { isObject, type Json } from '../../../../model/json.ts';
import type { LiveState } from '../../../../model/live.ts';
import { proposedWrites, diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import type { Pointer } from '../../../../model/pointer.ts';
import type { ServerFeatures } from '../handshake.ts';

/** The path at which the gateway lists its issue templates, an array of objects with `id` and `name` (its `api/integrations`). */
export const issueTemplatesPath = '/integrations/jira/issuetemplates';

/** The issue templates that are known to exist: `listed` has names by id where the gateway lists them, `used` has ids of live connections. */
export type IssueTemplates = { readonly listed: ReadonlyMap<string, string> | undefined; readonly used: ReadonlySet<string> };

const field = 'issuetracker_issue_template_id';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
export function checkIssueTemplate(write: ProposedWrite, { listed, used }: IssueTemplates): readonly Diagnostic[] {
  const template = write.spec[field];
  if (typeof template !== 'string' || template === '') return [];
  if (!uuid.test(template)) {
    return [
      diagnosticAt(write, `/${field}`, {
        code: 'hoop/not-a-uuid',
        message: `"${template}" is no uuid`,
        hint: 'give the id of the template',
      }),
    ];
  }
  if (used.has(lowerCase(template)) || listed?.has(lowerCase(template)) === true) return [];
  if (listed === undefined) {
    const message = `whether there is an issue template ${template} cannot be told: the gateway does not list them to this token`;
    const hint = 'a write with an unknown one fails with an error of the database, and changes nothing';
    return [diagnosticAt(write, `/${field}`, { code: 'hoop/unchecked-template', severity: 'warning', message, hint })];
  }
  const some = [...listed].slice(0, 5).map(([id, name]) => `${id} (${name})`);
  const hint = some.length === 0 ? 'it has none: make one there, or leave the field out' : `it has ${some.join(', ')}`;
  const message = `the gateway has no issue template ${template}`;
  return [diagnosticAt(write, `/${field}`, { code: 'hoop/unknown-template', message, hint })];
}

function isNew({ spec }: ProposedWrite, used: ReadonlySet<string>): boolean {
  const template = spec[field];
  return typeof template === 'string' && uuid.test(template) && !used.has(lowerCase(template));
}

function usedTemplates(live: LiveState): ReadonlySet<string> {
  return new Set(live.resources.map(({ spec }) => lowerCase(spec[field])));
}

function idAndName(entry: Json): readonly (readonly [id: string, name: string])[] {
  if (!isObject(entry)) return [];
  const { name } = entry;
  return [[lowerCase(entry['id']), typeof name === 'string' ? name : '']];
}

function lowerCase(value: Json | undefined): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}

/** What a proposed write is checked against. */
export type CheckContext = {
  readonly features: ServerFeatures;
  /** The names of the gateway's groups; undefined where it does not list them. */
  readonly groups: readonly string[] | undefined;
  readonly templates: IssueTemplates;
  /** The types of live connections. */
  readonly usedTypes: ReadonlySet<string>;
};

/** Something of one rule that the free license does not allow. */
export type LicenseLimit = { readonly at: Pointer; readonly message: string };
