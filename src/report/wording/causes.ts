import { parsePosition, type Position } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import type { Orphan, Orphans } from '../../model/plan/plan.ts';
import type { Attachment, Cause, Headline } from '../../model/protection/protection.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { removalText } from './value.ts';
import { clip } from '../wrap.ts';
import { shortList } from './phrases.ts';

const longestName = 60;
const mostCauses = 3;

/** How a format prints positions and names; `orphans` are the objects that were removed from the manifests. */
type CauseFormat = {
  readonly orphans: Orphans;
  readonly position: (at: Position) => string;
  readonly name: (text: string) => string;
  /** Objects that are named beside the causes. */
  readonly named?: readonly ResourceId[];
  /** Prints the commit that removed a manifest; without it, as its text. */
  readonly removal?: (orphan: Orphan) => string;
};

/** Returns the causes of a headline: the manifest lines first, then the lines whose manual change is undone. */
export function causesText(causes: readonly Cause[], format: CauseFormat): string {
  const removals = new Set<string>();
  const repeated = new Set<string>();
  for (const { by, place } of new Map(causes.map((cause) => [cause.by, cause])).values()) {
    const removed = place === undefined ? removalOf(by, format) : '';
    if (removed !== '') (removals.has(removed) ? repeated : removals).add(removed);
  }
  const causesOf = (some: readonly Cause[]): string =>
    shortList([...new Set(some.map((cause) => causeText(cause, format, repeated)).filter((text) => text !== ''))], mostCauses).join(', ');
  const written = causesOf(causes.filter(({ byHand }) => byHand !== true));
  const undone = causes.filter(({ byHand }) => byHand === true);
  const places = causesOf(undone);
  const byHand = undone.length === 0 ? '' : driftCause(places);
  return [written, byHand].filter((text) => text !== '').join('; ');
}

/** Returns the cause of a drift, with the manifest lines that the gateway differs from. */
export function driftCause(places: string): string {
  return `changed outside Ostiary${places === '' ? '' : `: ${places}`}`;
}

/** Returns the position of a cause; for a removed manifest its name, with the commit that removed it, or a commit that removed several. */
function causeText({ by, place, byHand }: Cause, format: CauseFormat, removals: ReadonlySet<string>): string {
  const at = place === undefined ? undefined : parsePosition(place);
  if (at !== undefined) return format.position(at);
  if (byHand === true) return '';
  const removed = removalOf(by, format);
  const name = clip(by, longestName);
  const isBeside = format.named?.includes(by) === true;
  if (removed === '') return isBeside ? '' : format.name(`${name} deleted`);
  const orphan = format.orphans.get(by);
  const shown = orphan === undefined || format.removal === undefined ? format.name(removed) : format.removal(orphan);
  return isBeside || removals.has(removed) ? shown : `${format.name(name)} ${shown}`;
}

function removalOf(by: ResourceId, { orphans }: CauseFormat): string {
  const orphan = orphans.get(by);
  return orphan === undefined ? '' : removalText(orphan);
}

/** Returns the objects to list beside a headline: its connections unless its text names the only one, or the objects that cause it. */
export function headlineObjects({ text, connections, causes }: Headline): readonly ResourceId[] {
  const [first, ...others] = connections;
  if (first === undefined) return [...new Set(causes.map(({ by }) => by))];
  // A text that begins with a number counts its connections.
  return others.length === 0 && !/^\d/.test(text) && isNamed(text, nameOf(first)) ? [] : connections;
}

function isNamed(text: string, name: string): boolean {
  return text.endsWith(` ${name}`) || text.includes(` can reach ${name} `);
}

/** Returns in parentheses the names of the objects to list beside a headline, and the tags that all connections share; empty without any. */
export function headlineConnections(headline: Headline, escape: (text: string) => string): string {
  const objects = headlineObjects(headline);
  const tags = sharedTagsText(headline, escape);
  const names = objects.length === 0 ? [] : [listed(objects.map(nameOf), mostConnections, escape)];
  const parts = [...names, ...(tags === '' ? [] : [`${objects.length > 1 ? 'all ' : ''}${tags}`])];
  return parts.length === 0 ? '' : `(${parts.join('; ')})`;
}

/** Returns the tags of connections that share them: `env=prod, team=payments`. */
export function sharedTagsText({ tags }: Pick<Headline, 'tags'>, escape: (text: string) => string): string {
  const shared = Object.entries(tags).map(([key, value]) => `${key}=${tagText(value)}`);
  return listed(shared, mostSharedTags, escape);
}

function listed(texts: readonly string[], most: number, escape: (text: string) => string): string {
  return shortList(
    texts.map((text) => escape(clip(text, longestName))),
    most,
  ).join(', ');
}

/** Returns headlines without their causes: `orders-db (env=prod) loses review and disables exec; 2 connections lose masking (a, b)`. */
export function headlineSentences(headlines: readonly Headline[]): string {
  const parts = headlines.map(sentenceParts);
  const subjects = [...new Set(parts.map(({ subject }) => subject))];
  return subjects
    .map((subject) => {
      const all = parts.flatMap((one) => (one.subject === subject ? [one.predicate] : []));
      return subject === '' ? all.join('; ') : `${subject} ${all.join(' and ')}`;
    })
    .join('; ');
}

/** Returns the only connection of a headline with its tags, and what happens to it; a headline about several has no subject. */
function sentenceParts(headline: Headline): { readonly subject: string; readonly predicate: string } {
  const { text, connections } = headline;
  const [id, ...others] = connections;
  const name = id === undefined || others.length > 0 ? undefined : nameOf(id);
  const start = [`1 connection `, `1 replacement `, `${name} `].find((one) => name !== undefined && text.startsWith(one));
  const tags = sharedTagsText(headline, String);
  if (start !== undefined) return { subject: `${name}${tags === '' ? '' : ` (${tags})`}`, predicate: text.slice(start.length) };
  const beside = headlineConnections(headline, String);
  return { subject: '', predicate: beside === '' ? text : `${text} ${beside}` };
}

const mostConnections = 5;
const mostSharedTags = 3;

function tagText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the attachments of a rule in words: `direct`, `by selector`, `by attribute pci`. */
export function attachmentsText(attachments: readonly Attachment[]): string {
  return [...new Set(attachments.map(attachmentText))].join(', ');
}

function attachmentText({ how, attribute = '' }: Attachment): string {
  if (how === 'attribute') return `by attribute ${attribute}`;
  return { direct: 'direct', selector: 'by selector', edge: 'on the gateway', every: 'on every connection' }[how];
}
