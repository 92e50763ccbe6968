import { distinctSorted } from '../../model/json.ts';
import type { DifferingManifest, PullResult, WrittenManifest } from '../../model/result/outcome.ts';
import { kindOf } from '../../model/resource.ts';
import type { Line } from '../blocks.ts';
import type { ReportBlock, ReportDocument } from '../document.ts';
import { escapeTerminal } from '../escape.ts';
import { documentJson } from '../document-json.ts';
import { mark } from '../marks.ts';
import { factsBlock } from '../rows/lines.ts';
import { type Verdict, plural, shortList } from '../wording/phrases.ts';
import { pathText } from '../wording/value.ts';

/** Returns the document of a pull; `config` names the config in force. */
export function pullDocument(pulled: PullResult, config?: string): ReportDocument {
  return {
    json: () => documentJson({ version: 1, ...pulled }, 'pull#/$defs/pull'),
    sections: () => [{ verdict: pullVerdict(pulled), place: { where: pulled.target.url, config }, blocks: pulledBlocks(pulled) }],
  };
}

function pullVerdict(pulled: PullResult): Verdict {
  const { preview = false, written, updated, unchanged, terraform } = pulled;
  const counted = unchanged === 0 ? '' : ` ${plural(unchanged, 'manifest')} unchanged.`;
  const forgets = terraform?.file === undefined ? '' : ` Terraform can forget ${plural(terraform.taken.length, 'object')}.`;
  const objects = plural(written.length + updated.length, 'object');
  const [before, after] = preview ? ['A pull from ', ` would write ${objects}; nothing was written.`] : [`Pulled ${objects} from `, '.'];
  return { before, name: pulled.target.name, after: `${after}${counted}${forgets} ${secretsText(pulled)}`.trimEnd() };
}

function secretsText({ secrets: { form, kept, stubs, unseen } }: PullResult): string {
  if (form === 'omit') return 'Secrets are omitted; the gateway keeps their values.';
  const parts = [
    ...(kept > 0 ? [`${plural(kept, 'secret')} kept`] : []),
    ...(stubs > 0 ? [`${plural(stubs, 'variable')} to fill in`] : []),
    ...(unseen > 0 ? [`secrets of ${plural(unseen, 'object')} not shown to this token`] : []),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}

const mostFiles = 6;
const mostFields = 4;

/** Returns what a pull wrote, then what the manifests do not express, then the commands after a pull that created a project. */
function pulledBlocks({ preview, written, updated, edited, files, folder, ...rest }: PullResult): readonly ReportBlock[] {
  const { differing, gone, leftOut, terraform, unstated } = rest;
  // All schemas are in one folder.
  const shown = [...new Set(files.map((file) => file.replace(/(^|\/)schemas\/[^/]*$/, '$1schemas/')))];
  const isProject = preview !== true && files.some((file) => /(?:^|\/)ostiary\.yaml$/.test(file));
  return [
    factsBlock(undefined, [
      ...kindLines('+', written),
      ...kindLines('~', updated),
      ...fileLines(preview === true ? 'would edit' : 'edited', edited),
      ...fileLines(preview === true ? 'would write' : 'wrote', shown),
    ]),
    entriesBlock('Different on the gateway', [
      ...differing.map((one) => `${one.id}${positionSuffix(one)}  ${shortList(one.fields.map(pathText), mostFields).join(', ')}`),
      ...gone.map((one) => `${one.id}${positionSuffix(one)}  not set on the gateway`),
    ]),
    entriesBlock(
      'Left out',
      leftOut.map(({ id, reason }) => `${id}  ${reason}`),
    ),
    entriesBlock(
      'Terraform keeps',
      (terraform?.kept ?? []).map(({ address, reason }) => `${address}  ${reason}`),
    ),
    entriesBlock(
      'In the state but not on the gateway',
      (terraform?.gone ?? []).map(({ address, id }) => (id === undefined ? address : `${address}  ${id}`)),
    ),
    entriesBlock(
      'Not declared by the manifests',
      unstated.map(({ id, path, reason }) => `${id}  ${pathText(path)}: ${reason}`),
    ),
    factsBlock(`Next${folder === '.' ? '' : `, in ${folder}`}:`, isProject ? nextSteps : []),
  ];
}

function fileLines(verb: string, names: readonly string[]): readonly Line[] {
  return names.length === 0 ? [] : [{ text: escapeTerminal(`${verb} ${shortList(names, mostFiles).join(', ')}`) }];
}

const nextSteps: readonly Line[] = [
  { text: `${mark('command', 'git add . && git commit -m Import')}  keeps the manifests in git (git init first in a new folder)` },
  { text: `${mark('command', 'ostiary plan')}  compares them with the gateway` },
  { text: `${mark('command', 'ostiary apply')}  writes nothing yet; records the commit that later plans compare with` },
];

function entriesBlock(title: string, entries: readonly string[]): ReportBlock {
  return factsBlock(
    `${title}:`,
    entries.map((text) => ({ text: escapeTerminal(text) })),
  );
}

/** Counts the written objects of each kind, and names the file or the folder that holds all of them. */
function kindLines(sign: '+' | '~', written: readonly WrittenManifest[]): readonly Line[] {
  const kinds = distinctSorted(written.map(({ id }) => kindOf(id)));
  return kinds.map((kind) => {
    const some = written.filter(({ id }) => kindOf(id) === kind);
    const file = some[0]?.file ?? '';
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    const place = [file, folder].find((start) => some.every((one) => (start === file ? one.file === file : one.file.startsWith(start))));
    return {
      text: `${mark('strong', `${sign} ${some.length} ${kind}`)}  ${escapeTerminal(place ?? '')}`,
      effect: sign === '+' ? 'strengthens' : 'unknown',
    };
  });
}

function positionSuffix({ at }: DifferingManifest): string {
  return at === undefined ? '' : `  ${at.file}:${at.line}`;
}
