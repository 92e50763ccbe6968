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

/** Returns a mark of a post. It also names our line that is the farthest from it, where our part ends if the other mark was removed. */
function markOf(key: readonly string[], farthest: string, end: '' | 'end ' = ''): string {
  return `<!-- ostiary ${end}${nameOf(key)} ${contentDigest(farthest)} -->`;
}

// Whole lines: the heading before ours quotes names of the gateway, too. With blanks, because forges trim what they store.
const anyMark = /^[^\S\n]*<!-- ostiary (end )?([0-9a-f]{32}) ([0-9a-f]{32}) -->[^\S\n]*$/gm;
const digestMark = /^(?:\n*<!-- says (\w+) -->\n?|\n)/;
const lastHeading = /(?<=^|\n)#[^\n]*\n$/;

/**
 * Reads the part with the key, by default the first part; undefined if there is none. It begins with a mark and ends with the next one, so
 * that whatever people paste around it stays, marks of ours too. Without a whole part, the mark that is left counts.
 */
export function readStickyBody(body: string, key?: readonly string[]): StickyBody | undefined {
  const whole = body.replaceAll('\r\n', '\n');
  const marks = Array.from(whole.matchAll(anyMark), ({ 0: line, 1: end, 2: name = '', 3: farthest = '', index }) => {
    return { name, farthest, isEnd: end !== undefined, from: index, to: index + line.length };
  });
  const parts = marks.flatMap((begin) => {
    const end = marks.find((one) => one.name === begin.name && one.from > begin.from);
    return begin.isEnd || end?.isEnd !== true ? [] : [{ begin, end }];
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

type Mark = { readonly name: string; readonly farthest: string; readonly isEnd: boolean; readonly from: number; readonly to: number };

/** Returns the body with both marks: our part reaches to the nearest line that the mark names. If a person changed that one, too, all text is theirs. */
function completed(body: string, { name, farthest, isEnd, from, to }: Mark): string {
  const found = Array.from(body.matchAll(/^.*$/gm)).filter(([line]) => contentDigest(line) === farthest);
  const nearest = isEnd ? found.findLast(({ index }) => index < from) : found.find(({ index }) => index > to);
  const { 0: line = '', index = isEnd ? from : to } = nearest ?? {};
  // A heading is above the mark.
  const at = isEnd && !line.startsWith('#') ? index : index + line.length;
  return `${body.slice(0, at)}\n<!-- ostiary ${isEnd ? '' : 'end '}${name} ${farthest} -->\n${body.slice(at)}`;
}

/** Returns what people wrote around our part. No marks stay, because the next run trusts those of a comment that no other account edited. */
export function withoutMarks(text: string): string {
  return text.replaceAll(anyMark, '');
}

/**
 * Returns a body with our text, with what people wrote around it, and with a digest of its content if there is one. A heading is above the
 * marks, because previews show the first line.
 */
export function writeStickyBody(
  key: readonly string[],
  digest: string | undefined,
  text: string,
  around: Pick<StickyBody, 'above' | 'below'> = { above: '', below: '' },
): string {
  const [above = '', ours = '', below = ''] = [around.above, text, around.below].map(withoutMarks);
  const [heading = ''] = /^#[^\n]*\n/.exec(ours) ?? [];
  const [first = '', ...lines] = ours.trimEnd().split('\n');
  const [begin, end] = [markOf(key, lines.at(-1) ?? first), markOf(key, first, 'end ')];
  const says = digest === undefined ? '' : `<!-- says ${digest} -->\n`;
  return `${above}${heading}${begin}\n${says}${ours.slice(heading.length).trimEnd()}\n${end}${below}`;
}

/** Returns the body with another blank line at the end of our part: a forge records no edit that changes nothing, so that the last editor would stay. */
export function withOtherEnd(body: string): string {
  return body.replace(/\n(?=<!-- ostiary end \w)/, '\n\n');
}
