/**
 * The endpoints of GitLab's API that Ostiary uses, with the parameters that GitLab accepts there, as far as they matter here. Merge requests
 * and statuses of commits are as in GitLab's OpenAPI 2 document (doc/api/openapi/openapi_v2.yaml of gitlabhq/gitlabhq at 0338625c), which
 * GitLab no longer updates; notes, issues, labels and users as in the types of `@gitbeaker/core` 43.8.0. Read on 2026-11-27. The OpenAPI 3
 * document (openapi_v3.yaml at 045bf877, 3.9 MB, version 19.5) also has notes, and is not compared.
 */
export const gitlabEndpoints: Readonly<Record<string, string>> = {
  'GET /user': '',
  'GET /users': 'username page per_page',
  'GET /projects/:id/members/all/:user': '',
  'GET /projects/:id/merge_requests': 'author_username state order_by sort scope source_branch target_branch search page per_page',
  'POST /projects/:id/merge_requests': 'title source_branch target_branch description assignee_ids labels remove_source_branch squash',
  'GET /projects/:id/merge_requests/:iid': 'render_html include_diverged_commits_count include_rebase_in_progress',
  'PUT /projects/:id/merge_requests/:iid': 'title target_branch state_event description labels remove_source_branch squash',
  'GET /projects/:id/merge_requests/:iid/notes': 'sort order_by page per_page',
  'POST /projects/:id/merge_requests/:iid/notes': 'body internal created_at',
  'PUT /projects/:id/merge_requests/:iid/notes/:note': 'body',
  'DELETE /projects/:id/merge_requests/:iid/notes/:note': '',
  'GET /projects/:id/repository/commits/:sha/merge_requests': 'state page per_page',
  'GET /projects/:id/issues': 'author_username labels state order_by sort scope search page per_page',
  'POST /projects/:id/issues': 'title description labels assignee_ids confidential',
  'PUT /projects/:id/issues/:iid': 'title description labels assignee_ids state_event',
  'POST /projects/:id/issues/:iid/notes': 'body internal created_at',
  'POST /projects/:id/labels': 'name color description priority',
  'POST /projects/:id/statuses/:sha': 'state ref name context target_url description coverage pipeline_id',
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
