import { escapeHtmlText } from '../escape.ts';
import type { HeadlineVerdict, ProtectionVerdict } from '../../model/protection/protection.ts';
import type { Position } from '../../model/diagnostic.ts';
import type { LinkOf } from '../document.ts';

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

/** Icons as paths, because some fonts have no such characters. */
const drawings = {
  down: 'M1 2h8L5 9z',
  up: 'M1 8h8L5 1z',
  diamond: 'M5 0l5 5-5 5-5-5z',
  arrow: 'M0 4h6V1.5L10 5 6 8.5V6H0z',
  bars: 'M1 2.5h8v1.8H1zM1 5.7h8v1.8H1z',
  question:
    'M2.2 3.4C2.2 1.6 3.4.6 5.1.6s2.8 1 2.8 2.5c0 1.3-.8 1.9-1.5 2.4-.5.4-.7.6-.7 1.2H4.3c0-1.1.5-1.7 1.2-2.2.6-.4.9-.7.9-1.3 0-.7-.5-1.1-1.3-1.1S3.8 2.6 3.8 3.4zM4.2 7.6h1.7v1.7H4.2z',
} as const;

type IconName = keyof typeof drawings;

/** Returns a small decorative icon; the words beside it have the meaning. */
export function icon(name: IconName): Html {
  return element('svg', { class: 'icon', viewBox: '0 0 10 10', 'aria-hidden': 'true', focusable: 'false' }, [
    empty('path', { d: drawings[name] }),
  ]);
}

/** A verdict by its icon and its word: color is never the only signal. */
const shown: Readonly<Record<ProtectionVerdict | HeadlineVerdict, { readonly sign: IconName; readonly word: string }>> = {
  weakens: { sign: 'down', word: 'weaker' },
  both: { sign: 'diamond', word: 'mixed' },
  unknown: { sign: 'question', word: 'cannot be compared' },
  exposes: { sign: 'question', word: 'unprotected' },
  reroutes: { sign: 'question', word: 'rerouted' },
  neutral: { sign: 'bars', word: 'no effect' },
  strengthens: { sign: 'up', word: 'stronger' },
};

/** The verdicts, the most severe first. */
export const verdicts: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'strengthens', 'neutral'];

/** Returns the word of a verdict. */
export function verdictWord(verdict: ProtectionVerdict | HeadlineVerdict): string {
  return shown[verdict].word;
}

/** Returns the icon of a verdict. */
export function verdictIcon(verdict: ProtectionVerdict | HeadlineVerdict): Html {
  return icon(shown[verdict].sign);
}

/** Returns a label with icon and word. */
export function verdictBadge(verdict: ProtectionVerdict | HeadlineVerdict): Html {
  return element('span', { class: `badge ${verdict}` }, [verdictIcon(verdict), ' ', verdictWord(verdict)]);
}

/** Returns `file:line`, as a link if there is one. */
export function positionHtml(at: Position, linkOf: LinkOf | undefined): Html {
  const text = `${at.file}:${at.line}`;
  const href = linkOf?.(at);
  return href === undefined
    ? element('span', { class: 'mono quiet' }, text)
    : element('a', { class: 'mono', href, rel: 'noreferrer' }, text);
}
