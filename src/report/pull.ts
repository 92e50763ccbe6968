import { compareText, type Json } from '../model/json.ts';
import type {
  DifferingManifest,
  TerraformHandover,
  SkippedObject,
  TerraformObject,
  PullResult,
  WrittenManifest,
} from '../model/result/pull-result.ts';
import { kindOf } from '../model/resource.ts';
import { plural, shortList } from './wording/counts.ts';
import { toJsonText } from './serialize.ts';
import { escapeTerminal } from './escape.ts';
import { wrap, gap, words, type Span } from './text/wrap.ts';
import { widthFor, type Paint, type Terminal } from './text/terminal.ts';
import { pathText } from './wording/value.ts';

const listed = 20;

/** What a pull did, for people. */
export function pullText(pulled: PullResult, terminal: Terminal): string {
  const { bold, green, yellow } = terminal.color;
  const { target, written, unchanged } = pulled;
  const lines = [
    ...titleLines(target, terminal),
    '',
    ...kindLines('+', pulled.written, green),
    ...kindLines('~', pulled.updated, yellow),
    ...(pulled.edited.length === 0 ? [] : entry(`edited ${shortList(pulled.edited.map(escapeTerminal), 6).join(', ')}`, terminal)),
    ...(pulled.files.length === 0 ? [] : entry(`wrote ${shortList(placesOf(pulled.files), 6).join(', ')}`, terminal)),
    ...section('Not as on the gateway:', differingEntries(pulled), { terminal, paint: yellow }),
    ...section('Left out:', leftEntries(pulled), { terminal, paint: yellow }),
    ...section('Terraform keeps:', keptEntries(pulled), { terminal, paint: yellow }),
    ...section('In the state, and not on the gateway:', goneEntries(pulled), { terminal, paint: yellow }),
    ...section('Not said by their manifests:', unstatedEntries(pulled), { terminal, paint: yellow }),
  ];
  const counted = unchanged === 0 ? '' : ` ${plural(unchanged, 'manifest')} as on the gateway.`;
  const forgets = pulled.terraform?.file === undefined ? '' : ` Terraform may forget ${plural(pulled.terraform.taken.length, 'object')}.`;
  const summary = `Pulled ${plural(written.length + pulled.updated.length, 'object')}.${counted}${forgets} ${secretsText(pulled)}`.trim();
  return `${[...lines, ...(lines.at(-1) === '' ? [] : ['']), ...wrap(words(summary, bold), { columns: widthFor(terminal), indent: 0 })].join('\n')}\n`;
}

/** What a pull did, for programs. */
export function pullJson({
  target,
  folder,
  written,
  updated,
  edited,
  unchanged,
  differing,
  gone,
  leftOut,
  unstated,
  secrets,
  files,
  terraform,
}: PullResult): string {
  return toJsonText({
    version: 1,
    target: { ...target },
    folder,
    written: written.map((one) => ({ ...one })),
    updated: updated.map((one) => ({ ...one })),
    edited,
    unchanged,
    differing: differing.map(placeJson),
    gone: gone.map(placeJson),
    leftOut: leftOut.map((one) => ({ ...one })),
    unstated: unstated.map((one) => ({ ...one })),
    secrets: { ...secrets },
    files,
    ...(terraform === undefined ? {} : { terraform: terraformJson(terraform) }),
  });
}

function terraformJson({ taken, gone, kept, file }: TerraformHandover): Json {
  return { taken: taken.map(ownedJson), gone: gone.map(ownedJson), kept: kept.map(ownedJson), ...(file === undefined ? {} : { file }) };
}

function ownedJson(owned: TerraformObject): Json {
  return { ...owned };
}

function placeJson({ id, at, fields }: DifferingManifest): Json {
  return { id, ...(at === undefined ? {} : { at: { file: at.file, line: at.line, column: at.column } }), fields };
}

/** The files, those of one folder of schemas as that. */
function placesOf(files: readonly string[]): readonly string[] {
  return [...new Set(files.map((file) => escapeTerminal(file.replace(/(^|\/)schemas\/[^/]*$/, '$1schemas/'))))];
}

/** How many of each kind were written, and where, if that is one place. */
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
    ...differing.map((one) => `${one.id}${placeText(one)}  ${shortList(one.fields.map(pathText), 4).join(', ')}`),
    ...gone.map((one) => `${one.id}${placeText(one)}  the gateway has none`),
  ];
}

function placeText({ at }: DifferingManifest): string {
  return at === undefined ? '' : `  ${at.file}:${at.line}`;
}

function leftEntries({ leftOut }: PullResult): readonly string[] {
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

function secretsText({ secrets: { form, kept, stubs, unseen } }: PullResult): string {
  if (form === 'omit') return 'Secrets are left out: they stay as they are.';
  const parts = [
    ...(kept > 0 ? [`${plural(kept, 'secret')} kept`] : []),
    ...(stubs > 0 ? [`${plural(stubs, 'variable')} to fill in`] : []),
    ...(unseen > 0 ? [`secrets of ${plural(unseen, 'object')} not shown to this token`] : []),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}

type Style = { readonly terminal: Terminal; readonly paint: Paint };

function section(title: string, entries: readonly string[], { terminal, paint }: Style): readonly string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, listed).flatMap((text) => entry(escapeTerminal(text), terminal));
  const more = entries.length > listed ? [`  and ${entries.length - listed} more (--format json lists all)`] : [];
  return ['', paint(title), ...shown, ...more];
}

function entry(text: string, terminal: Terminal): readonly string[] {
  return wrap([{ text: '  ' }, ...words(text)], { columns: widthFor(terminal), indent: 6 });
}

/** The target's name and address, as plans begin. */
function titleLines({ name, url }: PullResult['target'], terminal: Terminal): readonly string[] {
  const { bold, dim } = terminal.color;
  const title: readonly Span[] = [
    { text: escapeTerminal(name), paint: bold },
    ...gap,
    { text: escapeTerminal(url), paint: dim, noBreak: true },
  ];
  return wrap(title, { columns: widthFor(terminal), indent: 2 });
}
