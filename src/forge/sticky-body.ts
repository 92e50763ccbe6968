import { createHash } from 'node:crypto';

/** The body of a post: our heading, our part between two marks, and what people wrote around it. */
type StickyBody = {
  readonly above: string;
  /** Represents the content of our part; undefined if its mark was removed. */
  readonly digest: string | undefined;
  readonly text: string;
  readonly below: string;
  /** Whether it also has marks of another post. */
  readonly isMixed: boolean;
};

/** The digest of a post that reports nothing to do, such as a closed one: any content differs from it. */
export const noContent = 'nothing';

/** Returns the digest that represents content in a mark. */
export function contentDigest(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

function nameOf(key: readonly string[]): string {
  return contentDigest(JSON.stringify(key));
}

function beginMark(name: string): string {
  return `<!-- ostiary ${name} -->`;
}

function endMark(name: string): string {
  return `<!-- ostiary end ${name} -->`;
}

// Whole lines: the heading before ours quotes names of the gateway, too.
const anyMark = /^<!-- ostiary (end )?([0-9a-f]{32}) -->$/gm;
const digestMark = /^(?:\n*<!-- says (\w+) -->\n?|\n)/;
const lastHeading = /(?<=^|\n)#[^\n]*\n$/;

/**
 * Reads the part with the key, by default the first part; undefined if there is none. It begins and ends with a mark, so that pasting one
 * mark of another post changes nothing. Without a whole part, the mark that is left counts.
 */
export function readStickyBody(body: string, key?: readonly string[]): StickyBody | undefined {
  const whole = body.replaceAll('\r\n', '\n');
  const marks = Array.from(whole.matchAll(anyMark), ({ 0: line, 1: end, 2: name = '', index }) => {
    return { name, isEnd: end !== undefined, from: index, to: index + line.length };
  });
  const parts = marks.flatMap((begin) => {
    const end = marks.findLast((one) => one.isEnd && one.name === begin.name && one.from > begin.from);
    return begin.isEnd || end === undefined ? [] : [{ begin, end }];
  });
  const left = marks.find(({ isEnd }) => isEnd) ?? marks[0];
  if (left !== undefined && parts.length === 0) return readStickyBody(completed(whole, left), key);
  const part = parts.find(({ begin }) => key === undefined || begin.name === nameOf(key));
  if (part === undefined) return undefined;
  const { begin, end } = part;
  const ours = whole.slice(begin.to, end.from);
  const [mark = '', digest] = digestMark.exec(ours) ?? [];
  const above = whole.slice(0, begin.from);
  const [heading = ''] = lastHeading.exec(above) ?? [];
  return {
    above: above.slice(0, above.length - heading.length),
    digest,
    text: `${heading}${ours.slice(mark.length)}`,
    below: whole.slice(end.to),
    isMixed: marks.some(({ name }) => name !== begin.name),
  };
}

/** Returns the body with both marks: our part ends where the body does, or begins with its first heading. */
function completed(body: string, { name, isEnd, from }: { readonly name: string; readonly isEnd: boolean; readonly from: number }): string {
  if (!isEnd) return `${body}\n${endMark(name)}`;
  const heading = /^#.*\n/m.exec(body.slice(0, from));
  const start = heading === null ? 0 : heading.index + heading[0].length;
  return `${body.slice(0, start)}${beginMark(name)}\n${body.slice(start)}`;
}

/**
 * Returns a body with our text, with what people wrote around it, and with a digest of its content if there is one. A heading is above the
 * marks, because previews show the first line. No other marks stay, because the next run trusts those of a comment that no other account edited.
 */
export function writeStickyBody(
  key: readonly string[],
  digest: string | undefined,
  text: string,
  around: Pick<StickyBody, 'above' | 'below'> = { above: '', below: '' },
): string {
  const [above = '', ours = '', below = ''] = [around.above, text, around.below].map((part) => part.replaceAll(anyMark, ''));
  const [heading = ''] = /^#[^\n]*\n/.exec(text) ?? [];
  const name = nameOf(key);
  const says = digest === undefined ? '' : `<!-- says ${digest} -->\n`;
  return `${above}${heading}${beginMark(name)}\n${says}${ours.slice(heading.length).trimEnd()}\n${endMark(name)}${below}`;
}
