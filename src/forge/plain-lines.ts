import { parse, postprocess, preprocess } from 'micromark';
import { gfm } from 'micromark-extension-gfm';

/** Elements without an end tag. */
const voidElements: ReadonlySet<string> = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/**
 * Returns the numbers of the lines of a comment, from 0, that GitHub and GitLab show as they are written: lines of a paragraph that no quotation,
 * list, table, footnote, link, emphasis, code, formula or HTML element contains.
 */
export function plainLinesOf(body: string): ReadonlySet<number> {
  const text = body.replace(/^\u{feff}/u, '');
  const lines = text.split(/\r\n|\r|\n/);
  const plain = new Set<number>();
  // GitLab shows the lines between two of these as a quotation.
  if (lines.some((line) => /^\s*>>>\s*$/.test(line))) return plain;
  const around: string[] = [];
  const elements: string[] = [];
  let isFormula = false;
  for (const [step, token, context] of postprocess(
    parse({ extensions: [gfm()] })
      .document()
      .write(preprocess()(text, undefined, true)),
  )) {
    const { type, start } = token;
    if (step === 'exit') {
      around.pop();
      continue;
    }
    if (type === 'htmlFlow' || type === 'htmlText') followElements(elements, context.sliceSerialize(token));
    // GitHub shows text between dollar signs as a formula; the parser does not know them.
    if (type === 'paragraph') isFormula = context.sliceSerialize(token).includes('$$');
    const line = start.line - 1;
    const isFirst = (lines[line] ?? '').slice(0, start.column - 1).trim() === '';
    if (type === 'data' && around.join(' ') === 'content paragraph' && isFirst && elements.length === 0 && !isFormula) plain.add(line);
    around.push(type);
  }
  return plain;
}

/** Adds the elements that a piece of HTML opens, and removes those that it closes; one that is closed out of order stays open. */
function followElements(open: string[], html: string): void {
  const tags = html.replaceAll(/<!--[^]*?(?:-->|$)/g, '').replaceAll(/=\s*(?:"[^"]*"|'[^']*')/g, '');
  for (const [, slash, given = ''] of tags.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    const name = given.toLowerCase();
    if (slash === '') {
      if (!voidElements.has(name)) open.push(name);
    } else if (open.at(-1) === name) open.pop();
  }
}
