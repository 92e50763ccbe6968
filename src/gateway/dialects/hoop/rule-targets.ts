import { asArray, asText, type JsonObject } from '../../../model/json.ts';

/** No connection has such a name: the gateway allows neither spaces nor colons. */
const placeholder = 'no connection: ';

/**
 * Returns the body of an access-request rule with a target. The gateway refuses a rule without one, and lets two rules of a step share none: a rule
 * that has let go of all that it governs names a connection that cannot exist.
 */
export function withRuleTarget(body: JsonObject): JsonObject {
  const hasTarget = asArray(body['connection_names']).length + asArray(body['attributes']).length > 0;
  return hasTarget ? body : { ...body, connection_names: [`${placeholder}${asText(body['name'])}`] };
}

/** Returns an access-request rule as it was read, without the target that stands for none. */
export function withoutRulePlaceholder(entry: JsonObject): JsonObject {
  const named = asArray(entry['connection_names']);
  const kept = named.filter((name) => !asText(name).startsWith(placeholder));
  return kept.length === named.length ? entry : { ...entry, connection_names: kept };
}
