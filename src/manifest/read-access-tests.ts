import schema from '../../schemas/documents/access-test.schema.json' with { type: 'json' };
import { type Diagnostic, type DocumentDiagnostic, documentError } from '../model/diagnostic.ts';
import { canonical, isObject, type Json, type JsonObject, asArray, asObject, distinctSorted } from '../model/json.ts';
import { accessModes } from '../model/protection/access-objects.ts';
import { pointer } from '../model/pointer.ts';
import { type AccessExpectation, type AccessTest, othersGroup } from '../model/protection/access-test.ts';
import { toolLists } from '../model/spec/tool-lists.ts';
import { quoteValue, toText } from './json-values.ts';
import type { SourceMap } from './source-map.ts';
import { type DocumentTarget, oneOrMore, readTargetDocuments } from './target-documents.ts';
import { accessTest as validator } from './validate/validators.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** The schema of access tests. */
export const accessTestSchema: JsonObject = schema;

/** Reads the access tests of a target, sorted by name. */
export function readAccessTests(
  sources: SourceMap,
  documents: readonly ManifestDocument[],
  target: DocumentTarget,
): { readonly accessTests: readonly AccessTest[]; readonly diagnostics: readonly Diagnostic[] } {
  const reader = {
    noun: 'access test',
    schema,
    validator,
    check: ({ spec }: JsonObject) => asArray(spec).flatMap((entry, index) => (isObject(entry) ? entryProblems(entry, index) : [])),
    read: toAccessTest,
  };
  const { found, diagnostics } = readTargetDocuments(sources, documents, { target, reader });
  return { accessTests: found, diagnostics };
}

function toAccessTest(document: ManifestDocument, value: JsonObject): AccessTest {
  const entries = asArray(value['spec']);
  const named = entries.flatMap((entry) => (isObject(entry) ? oneOrMore(entry['group']) : [])).filter((group) => group !== othersGroup);
  const outside = distinctSorted(named);
  return {
    name: toText(asObject(value['metadata'])['name']),
    at: document.locate(''),
    expectations: entries.flatMap((entry, index) =>
      isObject(entry) ? [toExpectation(entry, { at: document.locate(pointer('spec', String(index))), outside })] : [],
    ),
  };
}

/** The group of those who look for a pattern. */
const everyGroup = '*';

/** Finds what the schema cannot say about an entry: groups that no test can be about, unknown verbs, and what no check would look at. */
function entryProblems(entry: JsonObject, index: number): readonly DocumentDiagnostic[] {
  const { group, verb, expect } = entry;
  const [groups, verbs] = [oneOrMore(group), oneOrMore(verb)];
  const problem = (field: readonly string[], message: string, hint: string): DocumentDiagnostic =>
    documentError('manifest/not-allowed-value', ['spec', String(index), ...field], message, hint);
  const wrongGroup = (value: string, why: string, hint: string): DocumentDiagnostic =>
    problem(['group'], `invalid value ${quoteValue(value)} of group: ${why}`, hint);
  const unchecked = (field: string, why: string, hint: string): readonly DocumentDiagnostic[] =>
    entry[field] === undefined ? [] : [{ ...problem([field], `${field} ${why}`, hint), part: 'key' }];
  const found: DocumentDiagnostic[] = [];
  if (groups.includes(everyGroup)) {
    const hint = `name the groups; ${othersGroup} is everybody in none of the groups that the test names`;
    found.push(wrongGroup(everyGroup, 'a test is about people in one group, or in all of a list', hint));
  } else if (groups.length > 1 && groups.includes(othersGroup)) {
    const others = groups.filter((one) => one !== othersGroup).join(', ');
    const why = `others are in none of the groups that the test names, such as ${others}`;
    found.push(wrongGroup(othersGroup, why, 'write one entry for each'));
  }
  for (const [place, one] of verbs.entries()) {
    if (accessModes.some((mode) => mode === one)) continue;
    const field = ['verb', ...(Array.isArray(verb) ? [String(place)] : [])];
    found.push(problem(field, `invalid value ${quoteValue(one)} of verb`, `expected one of: ${accessModes.join(', ')}`));
  }
  if (expect === 'denied') {
    const fields = ['max_duration', 'masked', 'blocked', 'tools'];
    return [...found, ...fields.flatMap((field) => unchecked(field, 'has no effect with expect: denied', 'remove it, or expect: allowed'))];
  }
  if (verbs.length === 0 || verbs.includes('connect')) return found;
  const hint = 'it limits native access alone; remove it, or add connect';
  return [...found, ...unchecked('max_duration', 'has no effect without verb: connect', hint)];
}

type Place = {
  readonly at: AccessExpectation['at'];
  /** The groups that the entries of the test name; its others are in none of them. */
  readonly outside: readonly string[];
};

/** Returns an entry that the schema has checked. */
function toExpectation(entry: JsonObject, { at, outside }: Place): AccessExpectation {
  const { group, on, verb, expect, max_duration: longest, masked, blocked, tools } = entry;
  const asked = oneOrMore(verb);
  const tags = isObject(on) ? asObject(on['match_tags']) : undefined;
  const groups = oneOrMore(group);
  const people = groups.includes(othersGroup) ? { outside } : { groups };
  return {
    at,
    people,
    on:
      tags === undefined
        ? { names: oneOrMore(on) }
        : { tags: Object.fromEntries(Object.entries(tags).map(([key, one]) => [key, toText(one)])) },
    verbs: asked.length === 0 ? undefined : accessModes.filter((mode) => asked.includes(mode)),
    expect: toExpected(expect),
    longest: typeof longest === 'string' ? secondsIn(longest) : undefined,
    masked: oneOrMore(masked),
    blocked: oneOrMore(blocked),
    tools: toolLists.flatMap((list) => oneOrMore(isObject(tools) ? tools[list] : undefined).map((glob) => `${list} ${glob.trim()}`)),
    text: canonical('outside' in people ? { ...entry, group: people } : entry),
  };
}

function toExpected(expect: Json | undefined): AccessExpectation['expect'] {
  if (!isObject(expect)) return expect === 'denied' ? 'denied' : 'allowed';
  const { from, at_least: atLeast, forced_by: forced } = asObject(expect['approval']);
  return {
    from: oneOrMore(from),
    atLeast: typeof atLeast === 'number' ? atLeast : 1,
    forcedBy: forced === undefined ? undefined : oneOrMore(forced),
  };
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a duration such as `8h`, which the schema has checked. */
function secondsIn(text: string): number {
  return Number(text.slice(0, -1)) * (unitSeconds[text.slice(-1)] ?? 0);
}
