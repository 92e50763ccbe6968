import { isObject, type Json, type JsonObject } from '../json.ts';
import { pointer, type Pointer } from '../pointer.ts';
import { decodedText, type DesiredSecret, encodedText, type LiveSecret, seal, type Secret } from '../secret.ts';

/** The lists of a server of tools (MCP), as globs between commas: which it lets through, which it refuses, and which wait for an approval. */
export const toolLists = ['allowed', 'denied', 'approval'] as const;

export type ToolList = (typeof toolLists)[number];

const field = 'secret';

/** The keys under which a gateway keeps the lists, among the secrets of a connection. They are settings and no secrets. */
const keys: Readonly<Record<ToolList, string>> = {
  allowed: 'envvar:MCP_ALLOWED_TOOLS',
  denied: 'envvar:MCP_DENIED_TOOLS',
  approval: 'envvar:MCP_APPROVAL_TOOLS',
};

/** The paths of the lists. */
export const toolPaths: readonly Pointer[] = toolLists.map((list) => pointer(field, keys[list]));

/** Returns whether a key of a map of secrets is a list of tools. */
export function isToolKey(key: string): boolean {
  return toolLists.some((list) => keys[list] === key);
}

/** Returns whether a path is that of a list of tools. */
export function isToolList(path: Pointer): boolean {
  return toolPaths.includes(path);
}

/** Returns whether connections with these fields lead to a server of tools, of which the lists count. */
export function hasTools({ subtype }: JsonObject): boolean {
  return subtype === 'mcpproxy';
}

/** Returns the text of a list; undefined where it is not known: hidden, kept, not resolved, or a reference that the gateway resolves. */
export function toolText(secret: DesiredSecret | LiveSecret | undefined): string | undefined {
  if (secret?.state !== 'value') return undefined;
  const text = decodedText(secret);
  return /^_\w+:/.test(secret.reveal()) ? undefined : text;
}

/** What a spec has in place of a list whose text is not known: where it comes from. Equal ones are the same list. */
function unreadList(secret: DesiredSecret | LiveSecret): Json {
  return { source: secret.state === 'value' ? `reference:${secret.reveal()}` : secret.source };
}

/** Returns a spec with the lists of tools among its secrets, so that they are read like its fields; no other secret is in it. */
export function withTools(
  spec: JsonObject,
  secrets: Readonly<Record<Pointer, DesiredSecret | LiveSecret>>,
  unknown: readonly Pointer[] = [],
): JsonObject {
  if (spec[field] === undefined && !hasTools(spec) && toolPaths.every((path) => secrets[path] === undefined)) return spec;
  const lists = toolLists.flatMap((list, index): readonly (readonly [string, Json])[] => {
    const path = toolPaths[index] ?? '';
    const secret = secrets[path];
    if (secret !== undefined) return [[keys[list], toolText(secret) ?? unreadList(secret)]];
    return hasTools(spec) && unknown.some((one) => one === '' || one === pointer(field)) ? [[keys[list], { source: 'live' }]] : [];
  });
  if (lists.length > 0) return { ...spec, [field]: Object.fromEntries(lists) };
  const { [field]: _, ...rest } = spec;
  return rest;
}

/** Returns what a spec says about a list: its text, a source where the text is not known, or undefined without one. */
export function toolListIn({ [field]: map }: JsonObject, list: ToolList): Json | undefined {
  return isObject(map) ? map[keys[list]] : undefined;
}

/** Returns the lists whose text a spec has, as secrets of a gateway. */
export function toolSecrets(spec: JsonObject): Readonly<Record<Pointer, Secret>> {
  const texts = toolLists.map((list, index) => [toolPaths[index] ?? '', toolListIn(spec, list)] as const);
  return Object.fromEntries(texts.flatMap(([path, text]) => (typeof text === 'string' ? [[path, seal('live', encodedText(text))]] : [])));
}

/** Returns whether a spec has the text of each of its lists, or cannot have any. */
export function areToolsRead(spec: JsonObject): boolean {
  return !hasTools(spec) || toolLists.every((list) => !isObject(toolListIn(spec, list)));
}

/** Splits a list into its globs as the agent does; an empty one has none. */
export function globsIn(text: string): readonly string[] {
  const globs = text.split(',').map((glob) => glob.trim());
  return [...new Set(globs.filter((glob) => glob !== ''))].toSorted();
}

/** Returns the lists that a write of a spec sets and drops, given the spec as it is. */
export function changedTools(
  live: JsonObject,
  written: JsonObject,
): { readonly given: Readonly<Record<Pointer, Secret>>; readonly dropped: readonly Pointer[] } {
  const given: Record<Pointer, Secret> = {};
  const dropped: Pointer[] = [];
  for (const [index, list] of toolLists.entries()) {
    const [path = '', was, is] = [toolPaths[index], toolListIn(live, list), toolListIn(written, list)];
    if (typeof is === 'string' && is !== was) given[path] = seal('inline', encodedText(is));
    if (is === undefined && was !== undefined) dropped.push(path);
  }
  return { given, dropped };
}

/** Returns lists as strict as both of two: more is refused and approved, and less is let through. */
export function strictestTools(one: JsonObject, other: JsonObject): JsonObject {
  const globs = (map: JsonObject, list: ToolList): readonly string[] | undefined => {
    const value = map[keys[list]];
    return value === undefined || typeof value === 'string' ? globsIn(value ?? '') : undefined;
  };
  const [allowed, also] = [globs(one, 'allowed'), globs(other, 'allowed')];
  const common = allowed?.length === 0 ? also : also?.length === 0 ? allowed : allowed?.filter((glob) => also?.includes(glob) === true);
  const isClosed = common === undefined || (common.length === 0 && [allowed, also].some((list) => (list?.length ?? 0) > 0));
  const joined = (list: ToolList): string | undefined => {
    const [all, more] = [globs(one, list), globs(other, list)];
    return all === undefined || more === undefined ? undefined : [...new Set([...all, ...more])].join(',');
  };
  const [denied, approval] = [joined('denied'), joined('approval')];
  const everything = '*';
  return {
    [keys.allowed]: isClosed ? '' : common.join(','),
    [keys.denied]: isClosed || denied === undefined || approval === undefined ? everything : denied,
    [keys.approval]: approval ?? '',
  };
}
