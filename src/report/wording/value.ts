import { isObject, type Json } from '../../model/json.ts';
import { durationText } from '../../model/time.ts';
import type { ControlColumn, Protection, SampleChange } from '../../model/protection/protection.ts';
import type { Change, Orphan, Value } from '../../model/plan/plan.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';
import { escapeTerminal } from '../escape.ts';
import { clip } from '../wrap.ts';
import { distinctParts } from './phrases.ts';
import { parsePosition } from '../../model/diagnostic.ts';

const longestSample = 100;

/** Returns the samples whose result a change affects. */
export function sampleChangesOf(protection: Protection, { id }: Pick<Change, 'id'>): readonly SampleChange[] {
  return (protection.changedSamples ?? []).filter(({ rule }) => rule === id);
}

/** Returns the results before and after, such as `blocked → allowed`, with the entity type of a masking rule before them. */
export function sampleTurn({ type, before, after }: SampleChange): string {
  const turn = `${before} → ${after}`;
  return type === undefined ? turn : `${escapeTerminal(clip(type, 60))} ${turn}`;
}

/** Returns the text of a sample in one line, with a note for output samples and for removed samples. */
export function sampleText({ text, side, gone }: SampleChange): { readonly text: string; readonly note: string } {
  const notes = [...(side === 'output' ? ['output'] : []), ...(gone === true ? ['the sample is removed'] : [])];
  return { text: escapeTerminal(clip(text, longestSample)), note: notes.length === 0 ? '' : `(${notes.join('; ')})` };
}

/** Returns `-` for a sample that is less protected after the change, `+` for one that is more protected, `!` if they cannot be compared. */
export function sampleSign({ before, after }: SampleChange): '-' | '+' | '!' {
  if (before === 'blocked' || before === 'masked') return '-';
  return after === 'blocked' || after === 'masked' ? '+' : '!';
}

/** Returns a changed sample as one line, escaped. */
export function sampleChangeText(changedSample: SampleChange): string {
  const { text, note } = sampleText(changedSample);
  return `sample ${sampleTurn(changedSample)}: ${text}${note === '' ? '' : ` ${note}`}`;
}

/** Matches text that is ambiguous without quotes: a literal, a list, words of the report, empty text. */
const needsQuotes =
  /^$|^\s|\s$|\s\s|^["'…]|…$| → |^[+~!-] |^\[.*\]$|^\{.*\}$|^\((?:none|not set|unknown|secret)\b|^(?:true|false|null|none|[+-]?\.?\d[\d._eE+-]*)$/;
/** Matches text that would end an entry of a list or an object. */
const needsQuotesInside = /[,[\]{}"]|: /;

/** Returns a JSON value on one line: strings quoted only if needed, lists `[a, b]`, objects `{ a: 1 }`. */
export function inlineValue(value: Json): string {
  return typeof value === 'string' ? stringText(value) : print(value);
}

/** The longest value that people see, in characters; JSON has all of it. */
export const longestValue = 2000;

/** Returns one side of a change on one line, shortened. Of a secret it shows only the source. */
export function valueText(value: Value): string {
  return shortened(wholeText(value));
}

/** Returns both sides on one line each; of long values the parts around the first difference. */
export function valueTexts(before: Value, after: Value): readonly [string, string] {
  return distinctParts(wholeText(before), wholeText(after), longestValue);
}

function wholeText(value: Value): string {
  if ('value' in value) return value.value === null ? '(not set)' : inlineValue(value.value);
  if ('secret' in value) return `(secret ${escapeTerminal(value.secret)})`;
  if ('unknown' in value) return `(unknown: ${escapeTerminal(value.unknown)})`;
  return '(none)';
}

function shortened(text: string): string {
  return text.length <= longestValue ? text : `${clip(text, longestValue)} (${text.length} characters)`;
}

function print(value: Json): string {
  if (typeof value === 'string') return innerText(value);
  if (Array.isArray(value)) return `[${value.map((entry: Json) => print(entry)).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const shown = Object.entries(value).filter(([, entry]) => !isEmpty(entry));
  const entries = shown.map(([key, entry]) => `${innerText(key)}: ${print(entry)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function stringText(text: string): string {
  const escaped = escapeTerminal(text);
  return escaped === text && !needsQuotes.test(text) ? text : escapeTerminal(JSON.stringify(text));
}

function innerText(text: string): string {
  return needsQuotesInside.test(text) ? escapeTerminal(JSON.stringify(text)) : stringText(text);
}

/** Returns whether a value has nothing to show: null, empty text, no entries. */
export function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

const plainToken = /^[A-Za-z_][\w:-]*$/;

const longestToken = 300;

/** Returns a pointer as people write it: `connection_tags.env`, `input.rules.no-drop.words`, `connection_tags["a.b"]`, `command[0]`. */
export function pathText(path: Pointer): string {
  return tokensOf(path)
    .map((whole, index) => {
      const token = clip(whole.startsWith('{') ? entryText(whole) : whole, longestToken);
      if (token !== whole && whole.startsWith('{')) return `[${token}]`;
      if (plainToken.test(token)) return index === 0 ? token : `.${token}`;
      return /^\d+$/.test(token) ? `[${token}]` : `[${escapeTerminal(JSON.stringify(token))}]`;
    })
    .join('');
}

/** Returns the text of an entry without a name, whose token is its JSON: `{ name: ops/ }`; a token that is no JSON stays as it is. */
function entryText(token: string): string {
  try {
    return inlineValue(JSON.parse(token));
  } catch (error) {
    if (error instanceof SyntaxError) return token;
    throw error;
  }
}

/** Joins the places in one file: `access/orders-db.yaml:8-10,12`. */
export function joinPlaces(places: readonly string[]): readonly string[] {
  const lines = new Map<string, number[]>();
  for (const place of places) {
    const { file = place, line } = parsePosition(`${place}:1`) ?? {};
    const own = lines.get(file) ?? [];
    lines.set(file, own);
    if (line !== undefined && !own.includes(line)) own.push(line);
  }
  return [...lines].map(([file, own]) => (own.length === 0 ? file : `${file}:${lineRanges(own)}`));
}

function lineRanges(lines: readonly number[]): string {
  const runs: { readonly first: number; last: number }[] = [];
  for (const line of lines.toSorted((left, right) => left - right)) {
    const run = runs.at(-1);
    if (run?.last === line - 1) run.last = line;
    else runs.push({ first: line, last: line });
  }
  return runs.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(',');
}

/** Fields whose unit is seconds. */
const inSeconds: ReadonlySet<string> = new Set(['access_max_duration', 'git_hook_ttl']);

/** Returns one side of a field with seconds as minutes and hours. */
export function withUnits(path: Pointer, value: Value): Value {
  const [name = '', ...rest] = tokensOf(path);
  if (!inSeconds.has(name) || rest.length > 0 || !('value' in value) || typeof value.value !== 'number') return value;
  return { value: durationText(value.value) };
}

/** Returns a value of a control with seconds as minutes and hours. */
export function controlText({ unit }: ControlColumn, text: string): string {
  const [, seconds] = unit === 's' ? (/^(\d+) s$/.exec(text) ?? []) : [];
  return seconds === undefined ? text : durationText(Number(seconds));
}

/** Returns `removed in 1a2b3c4 "Drop the old database"`, escaped; empty text if the commit is unknown. */
export function removalText({ removedIn, subject = '' }: Orphan, commit: (id: string) => string = shortCommit): string {
  if (removedIn === undefined) return '';
  return `removed in ${commit(removedIn)}${subject === '' ? '' : ` "${clip(escapeTerminal(subject), longestSubject)}"`}`;
}

function shortCommit(id: string): string {
  return escapeTerminal(id.slice(0, shortHash));
}

const shortHash = 7;
const longestSubject = 72;
