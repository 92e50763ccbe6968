import { escapeHtmlText } from '../escape.ts';

/** Finished HTML; every other text is escaped when it is put into some. */
export type Html = { readonly html: string };

type Content = string | Html | readonly (string | Html)[];

/** Attributes; true stands alone, false and undefined are left out. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** An element around its content. */
export function element(name: string, attributes: Attributes, content: Content): Html {
  return { html: `<${name}${attributesText(attributes)}>${contentText(content)}</${name}>` };
}

/** An element without content. */
export function empty(name: string, attributes: Attributes): Html {
  return { html: `<${name}${attributesText(attributes)}>` };
}

/** Pieces one after another. */
export function joinHtml(pieces: readonly (string | Html)[]): Html {
  return { html: contentText(pieces) };
}

/** Text of our own that stands as it is: a style sheet, a script. */
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
