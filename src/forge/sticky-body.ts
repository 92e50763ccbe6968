import { createHash } from 'node:crypto';

/** The body of an issue or a pull request: our heading, our part between two marks, and what people wrote around it. */
type StickyBody = {
  readonly above: string;
  /** Represents the content of our part; undefined if its mark was removed. */
  readonly digest: string | undefined;
  readonly text: string;
  readonly below: string;
};

/** The digest of a post that reports nothing to do, such as a closed one: any content differs from it. */
export const noContent = 'nothing';

/** Returns the digest that represents content in a mark. */
export function contentDigest(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** Returns the hidden line that is in every post with the key, below its heading. */
export function markerOf(key: readonly string[]): string {
  return `<!-- ostiary ${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)} -->`;
}

// A whole line: the heading before ours quotes names of the gateway, too.
const anyMarker = /^<!-- ostiary [0-9a-f]{32} -->$/m;
const digestMark = /^(?:\n*<!-- says (\w+) -->\n?|\n)/;
const lastHeading = /(?<=^|\n)#[^\n]*\n$/;
const endMark = '<!-- ostiary end -->';

/** Reads a body; undefined if it does not have the key. */
export function readStickyBody(body: string, key: readonly string[]): StickyBody | undefined {
  const found = readAnyBody(body);
  return found?.marker === markerOf(key) ? found : undefined;
}

/**
 * Reads a body with any key; undefined if it has none. Its first marker counts: our text comes after it, except for the heading before it,
 * and can contain the marker of another post, because it quotes names of the gateway.
 */
export function readAnyBody(body: string): (StickyBody & { readonly marker: string }) | undefined {
  const whole = body.replaceAll('\r\n', '\n');
  const { 0: marker, index: start = 0 } = anyMarker.exec(whole) ?? {};
  if (marker === undefined) return undefined;
  const marked = whole.slice(start + marker.length);
  const end = marked.lastIndexOf(endMark);
  const ours = end === -1 ? marked : marked.slice(0, end);
  const [mark = '', digest] = digestMark.exec(ours) ?? [];
  const above = whole.slice(0, start);
  const [heading = ''] = lastHeading.exec(above) ?? [];
  return {
    marker,
    above: above.slice(0, above.length - heading.length),
    digest,
    text: `${heading}${ours.slice(mark.length)}`,
    below: end === -1 ? '' : marked.slice(end + endMark.length),
  };
}

/** Returns a body with our text, with what people wrote around it, and with a digest of its content if there is one. A heading is above the marks, because previews show the first line. */
export function writeStickyBody(
  key: readonly string[],
  digest: string | undefined,
  text: string,
  { above, below }: Pick<StickyBody, 'above' | 'below'> = { above: '', below: '' },
): string {
  const [heading = ''] = /^#[^\n]*\n/.exec(text) ?? [];
  return `${above}${heading}${markerOf(key)}\n${digest === undefined ? '' : `<!-- says ${digest} -->\n`}${text.slice(heading.length).trimEnd()}\n${endMark}${below}`;
}
