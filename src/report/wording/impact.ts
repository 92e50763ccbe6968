import { parsePosition, type Position } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import type { Orphan, Orphans } from '../../model/plan/plan.ts';
import type { Attachment, Cause, Headline, Impact, ProtectionVerdict } from '../../model/protection/protection.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { pathText, removalText } from './value.ts';
import { clip } from '../wrap.ts';
import { shortList } from './summary.ts';

const longestName = 60;
const mostCauses = 3;
const mostPlaces = 3;

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
  const listed = (some: readonly Cause[]): string =>
    shortList([...new Set(some.map((cause) => causeText(cause, format, repeated)).filter((text) => text !== ''))], mostCauses).join(', ');
  const written = listed(causes.filter(({ byHand }) => byHand !== true));
  const undone = causes.filter(({ byHand }) => byHand === true);
  const places = listed(undone);
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
  const listed = (texts: readonly string[], most: number): string =>
    shortList(
      texts.map((text) => escape(clip(text, longestName))),
      most,
    ).join(', ');
  const objects = headlineObjects(headline);
  const shared = Object.entries(headline.tags).map(([key, value]) => `${key}=${tagText(value)}`);
  const names = objects.length === 0 ? [] : [listed(objects.map(nameOf), mostConnections)];
  const tags = shared.length === 0 ? [] : [`${objects.length > 1 ? 'all ' : ''}${listed(shared, mostSharedTags)}`];
  return names.length + tags.length === 0 ? '' : `(${[...names, ...tags].join('; ')})`;
}

const mostConnections = 5;
const mostSharedTags = 3;

/**
 * Returns the causes that headlines do not state: a loss states also what is less certain about its line, and a connection that no group
 * sees what its groups lose. A headline that does not list all its connections states a cause of the same connections and tags alone.
 */
export function unstatedImpact(causes: readonly Impact[], headlines: readonly Headline[]): readonly Impact[] {
  return causes.filter((cause) => {
    const stating = headlines.filter((headline) => states(headline, cause));
    const stated = new Set(stating.flatMap(({ connections }) => connections));
    const places = new Set(stating.flatMap((headline) => headline.causes.map(({ place }) => place)));
    if (cause.direction === 'strengthens' && isOutweighed(cause, headlines)) return false;
    return !(stating.length > 0 && cause.connections.every((id) => stated.has(id)) && cause.places.every((place) => places.has(place)));
  });
}

/** Returns whether connections only lose, so that what one of the causes gains is no effect. */
function isOutweighed({ connections }: Impact, headlines: readonly Headline[]): boolean {
  const lose = new Set(headlines.flatMap((headline) => (headline.direction === 'weakens' ? headline.connections : [])));
  const gain = new Set(headlines.flatMap((headline) => (headline.direction === 'strengthens' ? headline.connections : [])));
  return connections.every((id) => lose.has(id) && !gain.has(id));
}

/** The verdicts of causes that a headline states beside its own. */
const alsoStated: Readonly<Partial<Record<Headline['direction'], readonly ProtectionVerdict[]>>> = {
  weakens: ['both', 'unknown'],
  availability: ['strengthens'],
  strengthens: ['both'],
};

function states({ direction, connections, causes }: Headline, { by, direction: own, places, ...cause }: Impact): boolean {
  const isListed = connections.length <= mostConnections;
  const isSame = isListed && connections.length === cause.connections.length;
  return (
    (direction === own || alsoStated[direction]?.includes(own) === true) &&
    (isListed || (connections.length === cause.connections.length && hasSharedTags(cause))) &&
    (isSame || new Set(causes.map(({ by: one, place }) => place ?? one)).size <= Math.max(mostCauses, places.length)) &&
    (by === undefined ? places.length > 0 : causes.some((one) => one.by === by)) &&
    (places.length === 0 || causes.some(({ place }) => place !== undefined && places.includes(place)))
  );
}

/** Returns whether a headline has room for all tags of a cause, because all its connections share them. */
function hasSharedTags({ tags, connections }: Pick<Impact, 'tags' | 'connections'>): boolean {
  return tags.length <= mostSharedTags && tags.every((tag) => tag.connections === connections.length);
}

function tagText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the name of a cause: a rule and its path, or the path of the connections themselves; only the path is escaped. */
export function causeName({ by, path, edges }: Impact): string {
  const what = path === undefined ? (edges === true ? ['attachments'] : []) : [pathText(path)];
  return [...(by === undefined ? [] : [by]), ...what].join(' ');
}

const effectWords: Readonly<Record<ProtectionVerdict, string>> = {
  weakens: 'weakens',
  both: 'weakens and strengthens',
  unknown: 'cannot be compared',
  neutral: 'no effect',
  strengthens: 'strengthens',
};

/** Returns the effect of a cause on protection in words. */
export function effectWord({ direction }: Impact): string {
  return effectWords[direction];
}

/** Returns the tags of the connections that a cause affects, each with its number of connections: `env=prod: 12`. */
export function tagTexts({ tags, connections: { length } }: Impact, most: number): readonly string[] {
  return shortList(
    tags.map(({ tag, connections }) => (length === 1 ? clip(tag, longestName) : `${clip(tag, longestName)}: ${connections}`)),
    most,
  );
}

/** Returns the positions of a cause, or the commit that removed its manifest; and whether it was a manual change. */
export function causePlaces(
  impact: Impact,
  orphans: Orphans,
  { place, name }: { readonly place: (text: string) => string; readonly name: (text: string) => string },
): string {
  const { by, places, byHand } = impact;
  const shown = shortList(places.map(place), mostPlaces).join(', ');
  if (byHand === true) return driftCause(shown);
  if (shown !== '' || by === undefined || causeName(impact) !== by) return shown;
  const orphan = orphans.get(by);
  const removed = orphan === undefined ? '' : removalText(orphan);
  return removed === '' ? 'deleted' : name(removed);
}

/** Returns the attachments of a rule in words: `direct`, `by selector`, `by attribute pci`. */
export function attachmentsText(attachments: readonly Attachment[]): string {
  return [...new Set(attachments.map(attachmentText))].join(', ');
}

function attachmentText({ how, attribute = '' }: Attachment): string {
  if (how === 'attribute') return `by attribute ${attribute}`;
  return { direct: 'direct', selector: 'by selector', edge: 'on the gateway', every: 'on every connection' }[how];
}
