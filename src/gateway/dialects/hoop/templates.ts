import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { Proposal } from '../../../model/gateway.ts';
import { isObject, type Json } from '../../../model/json.ts';
import type { LiveState } from '../../../model/live.ts';
import { draftsOf, tell, type Draft } from '../draft.ts';

/** Where the gateway lists its issue templates, as an array of objects with `id` and `name` (its `api/integrations`). */
export const templatesPath = '/integrations/jira/issuetemplates';

/** The issue templates that are known to exist: names by id where the gateway tells them, and ids that live connections have. */
export type Templates = { readonly listed: ReadonlyMap<string, string> | undefined; readonly used: ReadonlySet<string> };

const field = 'issuetracker_issue_template_id';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What has to be asked of templates: all of them, where it names one that no live connection has. */
export function templateInquiries(proposal: Proposal): readonly string[] {
  const used = usedTemplates(proposal.live);
  return draftsOf(proposal).some((draft) => isNew(draft, used)) ? [templatesPath] : [];
}

/** Reads the templates from the gateway's answer; no list where it did not tell. */
export function templatesOf(answer: unknown, live: LiveState): Templates {
  const listed = Array.isArray(answer) ? new Map(answer.flatMap((entry: Json) => named(entry))) : undefined;
  return { listed, used: usedTemplates(live) };
}

/** The gateway answers an unknown template with an error of its database. */
export function templateProblems(draft: Draft, { listed, used }: Templates): readonly Diagnostic[] {
  const template = draft.spec[field];
  if (typeof template !== 'string' || template === '') return [];
  if (!uuid.test(template)) {
    return [
      tell(draft, `/${field}`, { code: 'hoop/not-a-uuid', message: `"${template}" is no uuid`, hint: 'give the id of the template' }),
    ];
  }
  if (used.has(lower(template)) || listed?.has(lower(template)) === true) return [];
  if (listed === undefined) {
    const message = `whether there is an issue template ${template} cannot be told: the gateway does not list them to this token`;
    const hint = 'a write with an unknown one fails with an error of the database, and changes nothing';
    return [tell(draft, `/${field}`, { code: 'hoop/unchecked-template', severity: 'warning', message, hint })];
  }
  const some = [...listed].slice(0, 5).map(([id, name]) => `${id} (${name})`);
  const hint = some.length === 0 ? 'it has none: make one there, or leave the field out' : `it has ${some.join(', ')}`;
  const message = `the gateway has no issue template ${template}`;
  return [tell(draft, `/${field}`, { code: 'hoop/unknown-template', message, hint })];
}

function isNew({ spec }: Draft, used: ReadonlySet<string>): boolean {
  const template = spec[field];
  return typeof template === 'string' && uuid.test(template) && !used.has(lower(template));
}

function usedTemplates(live: LiveState): ReadonlySet<string> {
  return new Set(live.resources.map(({ spec }) => lower(spec[field])));
}

function named(entry: Json): readonly (readonly [id: string, name: string])[] {
  if (!isObject(entry)) return [];
  const { name } = entry;
  return [[lower(entry['id']), typeof name === 'string' ? name : '']];
}

function lower(value: Json | undefined): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
