import { addToGroup } from '../../model/collections.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { isObject, type Json, leafTexts } from '../../model/json.ts';
import { latinForm, mixesScripts } from '../../model/spec/look-alike.ts';
import { pointer } from '../../model/pointer.ts';
import { quoteValue } from '../json-values.ts';
import type { Manifest } from '../manifest.ts';
import { findNode, readAnnotation } from '../schema-nodes.ts';
import { unresolvedText } from '../secrets/unresolved-text.ts';

/**
 * What a text of a manifest is for (`x-ostiary-text`): `prose` for people and programs, where nothing has to be exact; `content` that is searched
 * in what people send, where an unusual character among usual ones is most likely one too many; every other text names something, or chooses it.
 */
type TextUse = 'prose' | 'content' | 'name';

/** A text of a manifest, and its place. */
type PlacedText = { readonly text: string; readonly tokens: readonly string[] };

// Most texts are visible ASCII without a blank at an end, and begin like no masked text and no reference.
const ordinary = /^(?![*([<{!@$]|arn:|vault:|projects\/|VALUE_)(?!.*:\/\/)[!-~](?:[ -~]*[!-~])?$/;

function checkText({ text, tokens }: PlacedText, use: TextUse): DocumentDiagnostic | undefined {
  const warning = (code: DocumentDiagnostic['code'], message: string, hint: string): DocumentDiagnostic => ({
    code,
    severity: 'warning',
    pointer: pointer(...tokens),
    message: `${quoteValue(text)} ${message}`,
    hint,
  });
  if (use === 'prose' || text === '') return undefined;
  if (/[\r\n]\s*$/.test(text))
    return warning(
      'manifest/blank-end',
      'ends with a line break, which is a part of it',
      'write it on one line; after a |, write |- instead',
    );
  if (text.trim() !== text)
    return warning(
      'manifest/blank-end',
      `${text.trimEnd() === text ? 'begins' : 'ends'} with a blank, which is a part of it`,
      'remove the blank',
    );
  const isContent = use === 'content';
  // A rule may search for such characters, alone or in a pattern.
  if (isContent && !/[!-~]/.test(text)) return undefined;
  const unresolved = isContent ? undefined : unresolvedText(text);
  if (unresolved !== undefined) return warning('manifest/masked-text', `${unresolved.what}: it is sent as it is`, 'write the value itself');
  const hidden =
    /(?! |(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f\u20e3)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u.exec(
      isContent ? text.replaceAll(/[\t\r\n]/g, ' ') : text,
    )?.[0];
  if (hidden !== undefined)
    return warning(
      'manifest/look-alike',
      `has the invisible character ${codePoint(hidden)}`,
      'remove the character, or write a plain blank',
    );
  if (!isContent && text.normalize('NFC') !== text)
    return warning(
      'manifest/look-alike',
      'has letters with separate accents (not NFC), and another text looks the same',
      `write ${JSON.stringify(text.normalize('NFC'))} with composed letters`,
    );
  // Escapes and classes of a pattern are no part of a word.
  const plain = isContent ? text.replaceAll(/\\.|\[[^\]]*\]/gs, ' ') : text;
  if (mixesScripts(plain.normalize('NFC').toLowerCase()))
    return warning(
      'manifest/look-alike',
      `mixes letters of several scripts in a word: ${strangers(text)}`,
      'write the letters of one script',
    );
  return undefined;
}

/**
 * Finds texts that decide something and are not what they look like, by manifest: with blanks at an end, invisible characters, text that stands for
 * another one, or names of several manifests that look the same and have other characters.
 */
export function checkTexts(manifests: readonly Manifest[]): ReadonlyMap<Manifest, readonly DocumentDiagnostic[]> {
  const found = new Map<Manifest, DocumentDiagnostic[]>();
  const foreign: (PlacedText & { readonly manifest: Manifest })[] = [];
  for (const manifest of manifests)
    for (const placed of unusualTexts(manifest)) {
      const use = useOf(manifest, placed.tokens);
      const problem = checkText(placed, use);
      if (problem !== undefined) addToGroup(found, manifest, problem);
      else if (use === 'name' && /[^\0-~]/.test(placed.text)) foreign.push({ manifest, ...placed });
    }
  if (foreign.length === 0) return found;
  const byForm = new Map<string, string[]>();
  const shapes = new Set(foreign.map(({ text }) => shapeOf(text)));
  for (const { spec, metadata } of manifests)
    for (const text of [...leafTexts(spec), ...leafTexts(metadata)]) {
      const shape = shapeOf(text);
      if (shapes.has(shape) && byForm.get(shape)?.includes(text) !== true) addToGroup(byForm, shape, text);
    }
  for (const { manifest, text, tokens } of foreign) {
    const other = byForm.get(shapeOf(text))?.find((one) => one !== text && one.toLowerCase() !== text.toLowerCase());
    if (other === undefined) continue;
    addToGroup(found, manifest, {
      code: 'manifest/look-alike',
      severity: 'warning',
      pointer: pointer(...tokens),
      message: `${quoteValue(text)} looks like ${quoteValue(other)}, but has other characters: ${strangers(text)}`,
      hint: 'write both with the same letters, or rename one of them',
    });
  }
  return found;
}

function shapeOf(text: string): string {
  return latinForm(text.normalize('NFKC').toLowerCase());
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Lists the characters of a text that are not ASCII, each once. */
function strangers(text: string): string {
  return [...new Set(text.match(/[^\0-~]/gu) ?? [])].map((one) => `${one} ${codePoint(one)}`).join(', ');
}

const none: readonly PlacedText[] = [];

/** Returns whether no text needs a closer look. This fast check suffices for nearly all manifests. */
function isOrdinary(value: Json): boolean {
  if (typeof value === 'string') return ordinary.test(value);
  if (Array.isArray(value)) return value.every(isOrdinary);
  if (isObject(value)) for (const name in value) if (!ordinary.test(name) || !isOrdinary(value[name] ?? null)) return false;
  return true;
}

/** Lists the texts that need a closer look; secrets have rules of their own. */
function unusualTexts({ view, spec, metadata }: Manifest): readonly PlacedText[] {
  if (isOrdinary(spec) && isOrdinary(metadata)) return none;
  const found: PlacedText[] = [];
  const secrets = new Set(view.secrets.map(({ name }) => name));
  const visit = (value: Json, tokens: readonly string[]): void => {
    if (typeof value === 'string') {
      if (!ordinary.test(value)) found.push({ text: value, tokens });
    } else if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) visit(one, [...tokens, String(index)]);
    } else if (isObject(value)) {
      for (const [name, one] of Object.entries(value)) {
        if (tokens.length > 1 && !ordinary.test(name)) found.push({ text: name, tokens: [...tokens, name] });
        if (tokens.length !== 1 || !secrets.has(name)) visit(one, [...tokens, name]);
      }
    }
  };
  visit(spec, ['spec']);
  for (const name of ['name', 'renamedFrom', 'replaces']) visit(metadata[name] ?? null, ['metadata', name]);
  return found;
}

function useOf({ view }: Manifest, tokens: readonly string[]): TextUse {
  for (let length = tokens.length; length > 0; length -= 1) {
    const use = readAnnotation(findNode(view.kind.schema, tokens.slice(0, length)), 'x-ostiary-text');
    if (use === 'prose' || use === 'content') return use;
  }
  return 'name';
}
