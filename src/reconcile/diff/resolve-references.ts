import { isUuid } from '../../model/resource.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { type Diagnostic, suggest } from '../../model/diagnostic.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState, LookupEntry } from '../../model/live.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';

/** A desired spec with references in the form of the live state. */
type ResolvedSpec = { readonly spec: JsonObject; readonly diagnostics: readonly Diagnostic[] };

/**
 * Resolves references to objects that no manifest declares (agents): names and ids become the form of the live state. Does not
 * look up references that equal the live one or are not compared with it.
 */
export function resolveReferences(kind: Kind, desired: DesiredResource, live: LiveResource | undefined, state: LiveState): ResolvedSpec {
  const diagnostics: Diagnostic[] = [];
  let spec = desired.spec;
  for (const field of kind.fields) {
    const text = desired.spec[field.name];
    if (field.refers === undefined || field.edge !== undefined || typeof text !== 'string' || text === '') continue;
    const path = pointer(field.name);
    if (live !== undefined && (text === live.spec[field.name] || desired.ignore.some((prefix) => isPointerWithin(path, prefix)))) continue;
    const found = lookUp(field.refers, text, state.lookups[field.refers]);
    if ('name' in found) spec = { ...spec, [field.name]: found.name };
    else diagnostics.push({ ...found, severity: 'error', at: desired.locate(path), resource: desired.id });
  }
  return { spec, diagnostics };
}

type LookupFailure = Pick<Diagnostic, 'code' | 'message' | 'hint'>;

function lookUp(kind: string, text: string, known: readonly LookupEntry[] | undefined): { readonly name: string } | LookupFailure {
  if (known === undefined) {
    if (isUuid(text)) return { name: text.toLowerCase() };
    return {
      code: 'manifest/dangling-reference',
      message: `the gateway does not list its ${kind.toLowerCase()}s, so "${text}" cannot be resolved`,
      hint: 'use the ID (a UUID) instead of the name',
    };
  }
  const named = known.filter((one) => one.name === text);
  if (named.length > 1) {
    const ids = named.map((one) => one.uid).join(', ');
    return {
      code: 'manifest/ambiguous-reference',
      message: `the gateway has ${named.length} ${kind.toLowerCase()}s named "${text}"`,
      hint: `use the ID instead: ${ids}`,
    };
  }
  if (named.length === 1) return { name: text };
  const byId = known.find((one) => one.uid === text.toLowerCase());
  if (byId !== undefined) return { name: known.filter((one) => one.name === byId.name).length === 1 ? byId.name : byId.uid };
  const near = suggest(
    text,
    known.map((one) => one.name),
  );
  return {
    code: 'manifest/dangling-reference',
    message: `unknown ${kind.toLowerCase()} "${text}" on the gateway`,
    hint:
      near === undefined
        ? known.length === 0
          ? 'the gateway has none'
          : `it has: ${known.map((one) => one.name).join(', ')}`
        : `did you mean "${near}"?`,
  };
}
