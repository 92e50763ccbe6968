import { ok, type Call, type Reply, type Route } from './call.ts';

export const issueTemplateRoutes: readonly Route[] = [
  { method: 'GET', path: '/integrations/jira/issuetemplates', access: 'reader', answer: list },
];

function list({ store }: Call): Reply {
  return ok(Array.from(store.jiraTemplates, (id) => ({ id, name: `template ${id.slice(0, 4)}`, connection_ids: [] })));
}
