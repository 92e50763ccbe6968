import { isObject, type Json } from '../model/json.ts';
import { escapeJson, escapeYaml } from './escape.ts';

/** A value as indented JSON that a terminal shows as it is. */
export function jsonText(value: Json): string {
  return `${escapeJson(JSON.stringify(value, null, 2))}\n`;
}

/**
 * A value as YAML that a terminal shows as it is: blocks, with plain words where nothing could be mistaken. With `columns`,
 * lists and small maps of words stand on one line where they fit.
 */
export function yamlText(value: Json, columns = 0, indent = ''): string {
  const lines: string[] = [];
  addBlock({ lines, first: indent, indent }, value, columns);
  return `${escapeYaml(lines.join('\n'))}\n`;
}

/** The lines of a text so far, and what the next one and those below it begin with. */
type Block = { readonly lines: string[]; readonly first: string; readonly indent: string };

/** Adds the lines of a value that stands on lines of its own, with so many columns left. */
function addBlock({ lines, first, indent }: Block, value: Json, columns: number): void {
  if (isScalar(value)) {
    lines.push(`${first}${scalarOf(value)}`);
    return;
  }
  let start = first;
  if (Array.isArray(value)) {
    for (const one of value) {
      addHung({ lines, first: `${start}- `, indent: `${indent}  ` }, one, columns - 2);
      start = indent;
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      addEntry({ lines, first: start, indent }, keyOf(key), value[key] ?? null, columns);
      start = indent;
    }
  }
}

function addEntry({ lines, first, indent }: Block, key: string, value: Json, columns: number): void {
  if (key.length > longestKey) {
    lines.push(`${first}? ${key}`);
    addHung({ lines, first: `${indent}: `, indent: `${indent}  ` }, value, columns - 2);
    return;
  }
  const flat = flatOf(value, columns - key.length - 2);
  lines.push(flat === undefined ? `${first}${key}:` : `${first}${key}: ${flat}`);
  if (flat === undefined) addBlock({ lines, first: `${indent}  `, indent: `${indent}  ` }, value, columns - 2);
}

/** Adds a value whose first line stands behind a mark. */
function addHung(block: Block, value: Json, columns: number): void {
  const flat = flatOf(value, columns);
  if (flat === undefined) addBlock(block, value, columns);
  else block.lines.push(`${block.first}${flat}`);
}

/** A value on one line; undefined where it needs several. */
function flatOf(value: Json, columns: number): string | undefined {
  if (isScalar(value)) return scalarOf(value);
  const flat = columns > 0 ? flowOf(value) : undefined;
  return flat !== undefined && flat.length <= columns ? flat : undefined;
}

/** A list or a map of at most three keys between brackets; undefined where something else than words and numbers is inside. */
function flowOf(value: Json): string | undefined {
  if (isScalar(value)) return scalarOf(value);
  if (Array.isArray(value)) return value.every((one: Json) => isScalar(one)) ? `[${value.map(scalarOf).join(', ')}]` : undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length > 3) return undefined;
  const parts = entries.map(([, one]) => (isObject(one) && entries.length === 1 ? flowOf(one) : isScalar(one) ? scalarOf(one) : undefined));
  if (parts.includes(undefined)) return undefined;
  return `{ ${entries.map(([key], index) => `${scalarOf(key)}: ${parts[index] ?? ''}`).join(', ')} }`;
}

/** What fits on one line: also lists and maps without anything in them. */
function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

// A key that shares a line with its value may have 1024 characters, escaped.
const longestKey = 100;
// Words that YAML 1.1 or 1.2 reads as something else than text.
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const plain = /^[A-Za-z][\w./@-]*(?: [\w./@-]+)*$/;
// Names with a colon, such as those of secrets; where a value may follow, such a colon could not be told from another.
const plainKey = /^[A-Za-z]\w*:[A-Za-z_][\w.-]*$/;

// Between single quotes patterns read as they were written.
const readable = /^(?=.*["\\])[ -~]*$/;

const keyOf = remembered((key) => (plainKey.test(key) ? key : textOf(key)));

/** Remembers what became of short texts: a thousand documents use the same words again and again. */
function remembered(spell: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const spelled = spell(text);
    if (text.length <= 40 && known.size < 2048) known.set(text, spelled);
    return spelled;
  };
}

const scalarOf = (value: Json): string => (typeof value === 'string' ? wordOf(value) : JSON.stringify(value));
const wordOf = remembered(textOf);

function textOf(value: string): string {
  if (plain.test(value) && !reserved.test(value)) return value;
  return readable.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}
