import schema from '../../schemas/runbook-configuration.schema.json' with { type: 'json' };
import type { JsonObject } from '../model/json.ts';
import { type DocumentDiagnostic, documentError } from '../model/diagnostic.ts';
import type { Kind } from '../model/kind.ts';
import { specFields } from './fields.ts';

/** The kind RunbookConfiguration: a git repository of runbooks, which the gateway identifies by its address. */
export const runbookConfiguration: Kind = {
  name: 'RunbookConfiguration',
  schema,
  fields: specFields(schema),
  identity: (name, spec) => (typeof spec['git_url'] === 'string' ? repositoryKey(spec['git_url']) : name),
  named: false,
  renamable: false,
  derived: () => ({}),
  createDefaults: () => ({}),
  check(spec: JsonObject): readonly DocumentDiagnostic[] {
    const url = spec['git_url'];
    if (typeof url !== 'string' || !/^(https?:\/\/[^/]*@|(git|ssh):\/\/[^/]*:[^/]*@)/.test(url)) return [];
    return [
      documentError(
        'secret/in-url',
        '/git_url',
        'git_url contains credentials',
        'remove them from the URL and set git_user and git_password: { valueFrom: { env: … } }',
      ),
    ];
  },
};

/**
 * Returns the address without scheme, user, port, query, a final `.git` and slashes: the key of a repository on the public gateway.
 * `git@host:path` and `https://host/path.git` are the same repository.
 */
function repositoryKey(url: string): string {
  const shorthand = /^[\w.-]+@([\w.-]+):(.*)$/.exec(url);
  const long = /^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+)(?::\d+)?(?:\/([^?#]*))?(?:[?#].*)?$/i.exec(url);
  const host = shorthand?.[1] ?? long?.[1];
  if (host === undefined) return url;
  const path = (shorthand?.[2] ?? long?.[2] ?? '').replace(/\.git$/, '').replaceAll(/^\/+|\/+$/g, '');
  return `${host.toLowerCase()}/${path}`;
}
