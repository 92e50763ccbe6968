import type { Position } from '../../model/diagnostic.ts';
import { type EffectClass, verdictWords } from '../blocks.ts';
import { escapeHtmlText } from '../escape.ts';
import type { LinkOf } from '../links.ts';
import { type Piece, piecesOf } from '../marks.ts';

/** Finished HTML. All other text is escaped when it becomes content. */
export type Html = { readonly html: string };

type Content = string | Html | readonly (string | Html)[];

/** Attributes: true prints the name alone, false and undefined print nothing. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Returns an element with its content. */
export function element(name: string, attributes: Attributes, content: Content): Html {
  return { html: `<${name}${attributesText(attributes)}>${contentText(content)}</${name}>` };
}

/** Returns an element without content. */
export function empty(name: string, attributes: Attributes): Html {
  return { html: `<${name}${attributesText(attributes)}>` };
}

/** Concatenates text and HTML. */
export function joinHtml(pieces: readonly (string | Html)[]): Html {
  return { html: contentText(pieces) };
}

/** Returns an element with a constant of Ostiary, not escaped: a style sheet or a script. */
export function verbatim(name: string, text: string): Html {
  return { html: `<${name}>${text}</${name}>` };
}

function attributesText(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) =>
      value === undefined || value === false ? '' : value === true ? ` ${name}` : ` ${name}="${escapeHtmlText(value)}"`,
    )
    .join('');
}

function contentText(content: Content): string {
  if (typeof content === 'string') return escapeHtmlText(content);
  return 'html' in content ? content.html : content.map(contentText).join('');
}

const bars = 'M1 2.5h8v1.8H1zM1 5.7h8v1.8H1z';
const diamond = 'M5 0l5 5-5 5-5-5z';

/** The icon of each effect as a path, because some fonts have no such characters. */
const drawings: Readonly<Record<EffectClass, string>> = {
  weakens: 'M1 2h8L5 9z',
  both: diamond,
  unknown:
    'M2.2 3.4C2.2 1.6 3.4.6 5.1.6s2.8 1 2.8 2.5c0 1.3-.8 1.9-1.5 2.4-.5.4-.7.6-.7 1.2H4.3c0-1.1.5-1.7 1.2-2.2.6-.4.9-.7.9-1.3 0-.7-.5-1.1-1.3-1.1S3.8 2.6 3.8 3.4zM4.2 7.6h1.7v1.7H4.2z',
  exposes: diamond,
  reroutes: 'M0 4h6V1.5L10 5 6 8.5V6H0z',
  availability: bars,
  neutral: bars,
  strengthens: 'M1 8h8L5 1z',
};

/** Returns the small icon of an effect; the words beside it have the meaning. */
function icon(effect: EffectClass): Html {
  return element('svg', { class: 'icon', viewBox: '0 0 10 10', 'aria-hidden': 'true', focusable: 'false' }, [
    empty('path', { d: drawings[effect] }),
  ]);
}

/** Returns a label with icon and word. */
export function verdictBadge(effect: EffectClass): Html {
  return element('span', { class: `badge ${effect}` }, [icon(effect), ' ', verdictWords[effect]]);
}

/** Returns a position, as a link if there is one. */
export function positionHtml(at: Position, linkOf: LinkOf | undefined, text: string = `${at.file}:${at.line}`): Html {
  const href = linkOf?.(at);
  return href === undefined
    ? element('span', { class: 'mono quiet' }, text)
    : element('a', { class: 'mono', href, rel: 'noreferrer' }, text);
}

/** Returns a line with marks. */
export function lineHtml(line: string, linkOf: LinkOf | undefined): Html {
  return joinHtml(piecesOf(line.replaceAll(/ {2,}/g, ' ')).map((piece) => pieceHtml(piece, linkOf)));
}

const classes: Readonly<Partial<Record<Piece['role'], string>>> = {
  name: 'mono',
  quiet: 'quiet',
  added: 'mono gains',
  removed: 'mono loses',
};

function pieceHtml({ role, text, at }: Piece, linkOf: LinkOf | undefined): string | Html {
  if (at !== undefined) return positionHtml(at, linkOf, role === 'line' ? String(at.line) : undefined);
  if (role === 'plain') return text;
  if (role === 'strong') return element('strong', {}, text);
  if (classes[role] !== undefined) return element('span', { class: classes[role] }, text);
  if ((role === 'badge' || role === 'icon') && isEffect(text)) return role === 'badge' ? verdictBadge(text) : icon(text);
  if (role !== 'commit') return element('code', {}, text);
  const href = linkOf?.({ commit: text });
  const hash = element('span', { class: 'mono' }, text.slice(0, 7));
  return href === undefined ? hash : element('a', { href, rel: 'noreferrer' }, [hash]);
}

function isEffect(text: string): text is EffectClass {
  return Object.hasOwn(verdictWords, text);
}
