import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import { isObject, type Json } from '../../../../model/json.ts';
import type { LiveState } from '../../../../model/live.ts';
import { proposedWrites, diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';

/** Where the gateway lists its issue templates, as an array of objects with `id` and `name` (its `api/integrations`). */
export const issueTemplatesPath = '/integrations/jira/issuetemplates';

/** The issue templates that are known to exist: names by id where the gateway tells them, and ids that live connections have. */
export type IssueTemplates = { readonly listed: ReadonlyMap<string, string> | undefined; readonly used: ReadonlySet<string> };

const field = 'issuetracker_issue_template_id';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What has to be asked of templates: all of them, where it names one that no live connection has. */
export function templateReads(proposal: PreflightRequest): readonly string[] {
  const used = usedTemplates(proposal.live);
  return proposedWrites(proposal).some((draft) => isNew(draft, used)) ? [issueTemplatesPath] : [];
}

/** Reads the templates from the gateway's answer; no list where it did not tell. */
export function readIssueTemplates(answer: unknown, live: LiveState): IssueTemplates {
  const listed = Array.isArray(answer) ? new Map(answer.flatMap((entry: Json) => idAndName(entry))) : undefined;
  return { listed, used: usedTemplates(live) };
}

/** The gateway answers an unknown template with an error of its database. */
export function checkIssueTemplate(draft: ProposedWrite, { listed, used }: IssueTemplates): readonly Diagnostic[] {
  const template = draft.spec[field];
  if (typeof template !== 'string' || template === '') return [];
  if (!uuid.test(template)) {
    return [
      diagnosticAt(draft, `/${field}`, {
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
    return [diagnosticAt(draft, `/${field}`, { code: 'hoop/unchecked-template', severity: 'warning', message, hint })];
  }
  const some = [...listed].slice(0, 5).map(([id, name]) => `${id} (${name})`);
  const hint = some.length === 0 ? 'it has none: make one there, or leave the field out' : `it has ${some.join(', ')}`;
  const message = `the gateway has no issue template ${template}`;
  return [diagnosticAt(draft, `/${field}`, { code: 'hoop/unknown-template', message, hint })];
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
