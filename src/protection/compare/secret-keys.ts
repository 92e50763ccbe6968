import { looksLikeCredential } from '../../model/secret.ts';
import { isToolKey } from '../../model/spec/tool-lists.ts';

/** Keys that are not credentials themselves but decide where or how the connection is made. */
const setting =
  /(^|[:_])(pg|db)?(host|hostname|hostaddr|port|url|uri|addr|address|endpoint|server|socket|cluster|cluster_name|cluster_id|instance_id|project|project_id|db|database|dbname|sid|service|service_name|schema|table|index|region|zone|bucket|path|sslmode|ssl|tls|insecure|options|ca)$/i;

/** Keys that name a user; they redirect nothing. */
const identity = /(^|[:_])(pg|db)?(user|username|login|account|role)$/i;

/** Returns whether the key decides where or how the connection is made. */
export function isSetting(key: string): boolean {
  return setting.test(key);
}

/** Returns whether the key may be a credential: any key that is neither a known setting, nor a list of tools, nor a user. */
export function isCredential(key: string): boolean {
  return !setting.test(key) && !identity.test(key) && !isToolKey(key);
}

/** Returns whether the key may name an endpoint: it is not a user, not a list of tools, and not certainly a credential. */
export function isEndpoint(key: string): boolean {
  return !identity.test(key) && !looksLikeCredential(key) && !isToolKey(key);
}

/** Returns whether the source names where the value is stored; values in manifests have no source of their own. */
export function hasOwnSource({ source }: { readonly source: string }): boolean {
  return /^(env|file|reference):/.test(source);
}
