/**
 * The endpoints of GitLab's API that Ostiary uses, with the parameters that GitLab accepts there, as far as they matter here: `name!` is
 * required, `name=a|b` has only these values. Merge requests, issues and members are as in GitLab's OpenAPI 3 document of version 19.5
 * (doc/api/openapi/openapi_v3.yaml of gitlabhq/gitlabhq at 045bf877), commits and their statuses as in its OpenAPI 2 document
 * (openapi_v2.yaml at 0338625c), which GitLab no longer updates; notes, labels and users as in the types of `@gitbeaker/core` 43.8.0.
 * Read on 2026-11-27.
 */
const gitlabEndpoints: Readonly<Record<string, string>> = {
  'GET /user': '',
  'GET /users': 'username page per_page',
  'GET /projects/:id/members/all/:user': '',
  'GET /projects/:id/merge_requests':
    'author_username state=opened|closed|locked|merged|all order_by=created_at|updated_at|merged_at|title sort=asc|desc scope=all source_branch target_branch search page per_page',
  'POST /projects/:id/merge_requests': 'title! source_branch! target_branch! description assignee_ids labels remove_source_branch squash',
  'GET /projects/:id/merge_requests/:iid': 'render_html include_diverged_commits_count include_rebase_in_progress',
  'PUT /projects/:id/merge_requests/:iid': 'title target_branch state_event=close|reopen description labels remove_source_branch squash',
  'GET /projects/:id/merge_requests/:iid/notes': 'sort order_by page per_page',
  'POST /projects/:id/merge_requests/:iid/notes': 'body! internal created_at',
  'PUT /projects/:id/merge_requests/:iid/notes/:note': 'body!',
  'DELETE /projects/:id/merge_requests/:iid/notes/:note': '',
  'GET /projects/:id/repository/commits/:sha/merge_requests': 'state page per_page',
  'GET /projects/:id/issues':
    'author_username labels state=opened|closed|all order_by=created_at|updated_at|title sort=asc|desc scope=all search page per_page',
  'POST /projects/:id/issues': 'title! description labels assignee_ids confidential',
  'PUT /projects/:id/issues/:iid': 'title description labels assignee_ids state_event=close|reopen',
  'POST /projects/:id/issues/:iid/notes': 'body! internal created_at',
  'POST /projects/:id/labels': 'name! color! description priority',
  'POST /projects/:id/statuses/:sha': 'state! ref name context target_url description coverage pipeline_id',
};

/** Returns the endpoint of a request and its path parameters; undefined for any other request. */
export function endpointOf(method: string, path: string): { readonly name: string; readonly ids: readonly string[] } | undefined {
  for (const name of Object.keys(gitlabEndpoints)) {
    const pattern = new RegExp(`^${name.replaceAll(/:\w+/g, '([^/]+)')}$`);
    const [, ...ids] = pattern.exec(`${method} ${path}`) ?? [];
    if (pattern.test(`${method} ${path}`)) return { name, ids };
  }
  return undefined;
}

/** Returns what GitLab does not accept in the parameters of a request: an unknown or a missing one, or another value. */
export function wrongParameters(name: string, given: Readonly<Record<string, unknown>>): readonly string[] {
  const known = new Map(
    (gitlabEndpoints[name] ?? '').split(' ').map((parameter) => {
      const [key = '', values] = parameter.split('=');
      return [key.replace('!', ''), { isRequired: key.endsWith('!'), values: values?.split('|') }];
    }),
  );
  return [
    ...Object.entries(given).flatMap(([key, value]) => {
      const { values = [String(value)] } = known.get(key) ?? { values: [] };
      return values.includes(String(value)) ? [] : [`${name}: ${key}=${String(value)}`];
    }),
    ...[...known].flatMap(([key, { isRequired }]) => (isRequired && given[key] === undefined ? [`${name}: ${key} is missing`] : [])),
  ];
}
