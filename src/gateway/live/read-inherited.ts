import { ApiError } from '../../model/errors.ts';
import { asText, isObject, type JsonObject, nonEmptyText } from '../../model/json.ts';
import type { InheritedKeys } from '../../model/live.ts';
import { createAnswerBudget } from '../http/answer-budget.ts';
import type { GatewayContext } from '../session.ts';
import { listFetcher, readWholeList } from './whole-list.ts';

/** Reads the keys of the secrets of all resources, unless a bulk read brought them; no failure ends the run. */
export async function readInheritedKeys(context: GatewayContext): Promise<InheritedKeys> {
  if (context.inherited.keys !== undefined) return context.inherited.keys;
  const { dialect, url } = context;
  const list = dialect.service.resources;
  const share = createAnswerBudget().share();
  try {
    const read = await readWholeList({
      url: `${url}${list.path}`,
      list,
      fetch: listFetcher(context, list),
      share,
      uidOf: idOf,
      idOf,
    });
    return read.value === undefined ? 'hidden' : inheritedKeysIn(read.value.entries);
  } catch (error) {
    if (error instanceof ApiError) return 'hidden';
    throw error;
  }
}

/** Returns the keys of the secrets of resources; `hidden` if a resource does not show whether it has some. It drops their values. */
export function inheritedKeysIn(resources: readonly JsonObject[]): InheritedKeys {
  const all = new Map<string, readonly string[]>();
  for (const resource of resources) {
    const { env_vars: variables } = resource;
    if (variables !== null && !isObject(variables)) return 'hidden';
    all.set(asText(resource['name']), Object.keys(variables ?? {}));
  }
  return all;
}

function idOf({ name }: JsonObject): string | undefined {
  return nonEmptyText(name);
}
