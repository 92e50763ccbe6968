import { compareText } from '../../model/json.ts';
import type { DifferingManifest, SkippedObject, PullResult, WrittenManifest } from '../../model/result/outcome.ts';
import { kindOf } from '../../model/resource.ts';
import { shortList } from '../wording/summary.ts';
import { escapeTerminal } from '../escape.ts';
import { wrap, words, type Paint, type Terminal } from '../wrap.ts';
import { pathText } from '../wording/value.ts';

const listed = 20;

/** Returns the lines of a pull: what it wrote, then what the manifests do not express. */
export function pulledLines(pulled: PullResult, terminal: Terminal): readonly string[] {
  const { green, yellow } = terminal.color;
  const [edited, wrote] = pulled.preview === true ? ['would edit', 'would write'] : ['edited', 'wrote'];
  return [
    ...kindLines('+', pulled.written, green),
    ...kindLines('~', pulled.updated, yellow),
    ...(pulled.edited.length === 0 ? [] : entryLines(`${edited} ${shortList(pulled.edited.map(escapeTerminal), 6).join(', ')}`, terminal)),
    ...(pulled.files.length === 0 ? [] : entryLines(`${wrote} ${shortList(shortenSchemas(pulled.files), 6).join(', ')}`, terminal)),
    ...listLines('Different on the gateway:', differingEntries(pulled), terminal),
    ...listLines('Left out:', leftOutEntries(pulled), terminal),
    ...listLines('Terraform keeps:', keptEntries(pulled), terminal),
    ...listLines('In the state but not on the gateway:', goneEntries(pulled), terminal),
    ...listLines('Not declared by the manifests:', unstatedEntries(pulled), terminal),
    ...nextLines(pulled),
  ];
}

/** Returns the commands after the pull that created a project. */
function nextLines({ preview, files, folder }: PullResult): readonly string[] {
  if (preview === true || !files.some((file) => /(?:^|\/)ostiary\.yaml$/.test(file))) return [];
  const place = folder === '.' ? '' : `, in ${escapeTerminal(folder)}`;
  return [
    '',
    `Next${place}:`,
    '  git add . && git commit -m Import  keeps the manifests in git (git init first in a new folder)',
    '  ostiary plan                       compares them with the gateway',
    '  ostiary apply                      writes nothing yet; records the commit that later plans compare with',
  ];
}

/** Returns the files, with the folder in place of the schemas in it. */
function shortenSchemas(files: readonly string[]): readonly string[] {
  return [...new Set(files.map((file) => escapeTerminal(file.replace(/(^|\/)schemas\/[^/]*$/, '$1schemas/'))))];
}

/** Counts the written objects of each kind, and names the file or the folder that holds all of them. */
function kindLines(sign: string, written: readonly WrittenManifest[], paint: Paint): readonly string[] {
  const kinds = [...new Set(written.map(({ id }) => kindOf(id)))].toSorted(compareText);
  return kinds.map((kind) => {
    const some = written.filter(({ id }) => kindOf(id) === kind);
    const file = some[0]?.file ?? '';
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    const isOne = some.every((one) => one.file === file);
    const place = isOne ? file : some.every((one) => one.file.startsWith(folder)) ? folder : '';
    return `  ${paint(`${sign} ${some.length} ${kind}`)}  ${escapeTerminal(place)}`;
  });
}

function differingEntries({ differing, gone }: PullResult): readonly string[] {
  return [
    ...differing.map((one) => `${one.id}${positionSuffix(one)}  ${shortList(one.fields.map(pathText), 4).join(', ')}`),
    ...gone.map((one) => `${one.id}${positionSuffix(one)}  not set on the gateway`),
  ];
}

function positionSuffix({ at }: DifferingManifest): string {
  return at === undefined ? '' : `  ${at.file}:${at.line}`;
}

function leftOutEntries({ leftOut }: PullResult): readonly string[] {
  return leftOut.map(({ id, reason }: SkippedObject) => `${id}  ${reason}`);
}

function unstatedEntries({ unstated }: PullResult): readonly string[] {
  return unstated.map(({ id, path, reason }) => `${id}  ${pathText(path)}: ${reason}`);
}

function keptEntries({ terraform }: PullResult): readonly string[] {
  return (terraform?.kept ?? []).map(({ address, reason }) => `${address}  ${reason}`);
}

function goneEntries({ terraform }: PullResult): readonly string[] {
  return (terraform?.gone ?? []).map(({ address, id }) => [address, ...(id === undefined ? [] : [id])].join('  '));
}

function listLines(title: string, entries: readonly string[], terminal: Terminal): readonly string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, listed).flatMap((text) => entryLines(escapeTerminal(text), terminal));
  const more = entries.length > listed ? [`  and ${entries.length - listed} more (--format json lists all)`] : [];
  return ['', terminal.color.yellow(title), ...shown, ...more];
}

function entryLines(text: string, terminal: Terminal): readonly string[] {
  return wrap([{ text: '  ' }, ...words(text)], terminal, 6);
}
