import { memoizeByKey } from './collections.ts';
import { isUuid } from './resource.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { pointer, type Pointer } from './pointer.ts';

/** A value that `ostiary serve` rejects with 422, and why. */
export type ServedProblem = { readonly path: Pointer; readonly reason: string };

/** What `ostiary serve` requires of an object beyond the schema of its manifests. */
export type ServedRules = {
  /** Requests can address objects by name, too, so a name must not have the form of an ID. */
  readonly byName?: true;
  /** The field that names the resource of an object; by default the name of the object. */
  readonly resourceField?: string;
  /** Requirements on fields, as schemas. */
  readonly narrowed?: JsonObject;
};

/** The types of a connection, and so of a resource. */
export const servedConnectionTypes: readonly string[] = ['database', 'application', 'custom'];

// Spaces of other widths, and characters without a glyph: control, format and tag characters, fillers and variation selectors.
const invisible =
  String.raw`\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb` +
  '\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}';

/**
 * The schema of the name of a group, wherever one is stored. Names are compared exactly, so one that only looks like another is refused;
 * a trimmed one would differ from its manifest.
 */
export const groupNameSchema: JsonObject = {
  pattern: `^[^ ${invisible}]([^${invisible}]{0,98}[^ ${invisible}])?$`,
  $comment: '1 to 100 characters, no invisible characters, no spaces at the ends',
};

const groupNames = { items: groupNameSchema };

/** The requirements by kind: the server validates bodies with them, and the preflight checks manifests with them. */
export const servedRules: Readonly<Record<string, ServedRules>> = {
  Connection: {
    byName: true,
    resourceField: 'resource_name',
    narrowed: {
      type: { enum: servedConnectionTypes },
      reviewers: groupNames,
      force_approve_groups: groupNames,
      access_groups: groupNames,
    },
  },
  DataMaskingRule: {
    narrowed: {
      supported_entity_types: {
        items: { properties: { entity_types: { items: { pattern: '^[A-Z0-9_]+$', $comment: 'capital letters, digits and _' } } } },
      },
      custom_entity_types: {
        items: {
          anyOf: [
            { properties: { regex: { minLength: 1 } }, required: ['regex'] },
            { properties: { deny_list: { minItems: 1 } }, required: ['deny_list'] },
          ],
          $comment: 'a regex, or a deny_list that is not empty',
        },
      },
    },
  },
  RunbookConfiguration: {
    // Every role reads addresses: in listings and in their error messages.
    narrowed: { git_url: { pattern: '^[^?#]*$', $comment: 'a URL without query and fragment, which could contain a token' } },
  },
};

/** A secret that is fetched when a session starts: `_cloudsecrets:NAME:KEY` or `_envjson:NAME:KEY`. */
const referenceSource = String.raw`_(cloudsecrets|envjson):[^:\s]+:[^:\s]+`;

export const secretReferencePattern: RegExp = new RegExp(`^${referenceSource}$`);

/** The schema of a value in a map of secrets, except null. */
export const secretValueSchema: JsonObject = {
  pattern: `^((([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)|${referenceSource})$`,
  $comment: 'base64, _cloudsecrets:NAME:KEY or _envjson:NAME:KEY',
};

// The largest entry of a database index; only the addresses of repositories can be that long.
const maxIdentityBytes = 2048;

/** The maximum length of a resource name, in characters. */
export const maxResourceNameLength = 128;

/** Returns why the identity of an object is not accepted; undefined if it is. */
export function identityProblem({ byName }: { readonly byName?: boolean }, name: string): string | undefined {
  if (byName === true && isUuid(name)) return 'must not have the form of an ID';
  return new TextEncoder().encode(name).length > maxIdentityBytes ? `is longer than ${maxIdentityBytes} bytes` : undefined;
}

/** Returns why the name of a resource, by default the name of its object, is not accepted; undefined if it is. */
export function resourceNameProblem(name: string): string | undefined {
  if (Array.from(name).length <= maxResourceNameLength) return undefined;
  return `is required if the name is longer than ${maxResourceNameLength} characters`;
}

/** Returns the values of a spec that do not meet the requirements; an entry of a list has its name or text in the path. */
export function narrowedProblems(narrowed: JsonObject, spec: JsonObject): readonly ServedProblem[] {
  return problemsAt({ properties: narrowed }, spec, []);
}

function problemsAt(schema: Json | undefined, value: Json, at: readonly string[]): readonly ServedProblem[] {
  if (!isObject(schema)) return [];
  const own = unmetReason(schema, value);
  if (own !== undefined) return [{ path: pointer(...at), reason: own }];
  if (Array.isArray(value))
    return value.flatMap((entry: Json, index) => problemsAt(schema['items'], entry, [...at, tokenOf(entry, index)]));
  const properties = isObject(value) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, node]) => {
    const inner = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return inner === undefined || inner === null ? [] : problemsAt(node, inner, [...at, name]);
  });
}

function tokenOf(entry: Json, index: number): string {
  const name = isObject(entry) ? entry['name'] : entry;
  return typeof name === 'string' && name !== '' ? name : String(index);
}

/** Compiles each of the few patterns once. */
const patternOf = memoizeByKey((pattern: string) => new RegExp(pattern, 'u'), { keyOf: (pattern) => pattern, longest: 1000 });

/** Returns why a value does not meet a requirement, by the keywords that the requirements use; undefined if it does. */
export function unmetReason(schema: JsonObject, value: Json): string | undefined {
  const { enum: choices, pattern, minLength, minItems, required, anyOf, $comment: comment } = schema;
  const hint = typeof comment === 'string' ? `must have the form: ${comment}` : 'is not accepted';
  if (Array.isArray(choices) && !choices.some((choice: Json) => choice === value)) return `must be one of ${choices.join(', ')}`;
  if (typeof pattern === 'string' && typeof value === 'string' && !patternOf(pattern).test(value)) return hint;
  if (typeof minLength === 'number' && typeof value === 'string' && value.length < minLength) return hint;
  if (typeof minItems === 'number' && Array.isArray(value) && value.length < minItems) return hint;
  if (Array.isArray(required) && isObject(value) && required.some((name: Json) => typeof name === 'string' && !Object.hasOwn(value, name)))
    return hint;
  const isOne = !Array.isArray(anyOf) || anyOf.some((choice: Json) => problemsAt(choice, value, []).length === 0);
  return isOne ? undefined : hint;
}
