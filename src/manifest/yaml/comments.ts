import { Lexer } from 'yaml';

/** A comment of a YAML text without its `#`, and the line (from 1) that it is about: its own, or, if nothing else is on its line, the next one without such a comment. */
export type YamlComment = { readonly line: number; readonly text: string };

// What the lexer of `yaml` adds between the parts of the text: the start of a document, the end of a broken collection, and of a scalar.
const controls = new Set(['\u0002', '\u0018', '\u001F']);

/** Returns the comments of a text; a `#` within a scalar begins none. */
export function commentsOf(source: string): readonly YamlComment[] {
  const found: (YamlComment & { readonly isAlone: boolean })[] = [];
  let line = 1;
  let before = '';
  let isScalar = false;
  for (const token of new Lexer().lex(source)) {
    if (!controls.has(token)) {
      if (token.startsWith('#') && !isScalar) {
        found.push({ line, text: token.slice(1).trim(), isAlone: before.trim() === '' });
      }
      const parts = token.split('\n');
      line += parts.length - 1;
      before = parts.length > 1 ? (parts.at(-1) ?? '') : before + token;
    }
    isScalar = token === '\u001F';
  }
  const ownLines = new Set(found.flatMap((one) => (one.isAlone ? [one.line] : [])));
  let about = 0;
  return found
    .toReversed()
    .map(({ line: own, text, isAlone }) => {
      if (!isAlone || !ownLines.has(own + 1)) about = isAlone ? own + 1 : own;
      return { line: about, text };
    })
    .toReversed();
}
