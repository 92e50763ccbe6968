import { escapeHtmlText } from '../escape.ts';

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
