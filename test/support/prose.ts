import { parseAst } from 'rolldown/parseAst';
import { replacedPhrases, replacedWords } from './vocabulary.ts';

/** A text that people read, and the line on which it begins. */
export type Prose = { readonly line: number; readonly text: string };

/** Returns the first word or phrase of a text that the vocabulary replaces, outside code spans; undefined if there is none. */
export function findReplaced(text: string): string | undefined {
  const bare = text.replaceAll(/`[^`]*`/g, '');
  return (replacedWords.exec(bare) ?? replacedPhrases.exec(bare))?.[0];
}

/** Returns the sentences of a module: string literals and templates with a space, from its syntax tree, and comments. SQL is no sentence. */
export function proseOfSource(source: string, path: string): readonly Prose[] {
  const found: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (typeof node !== 'object' || node === null || Array.isArray(node) || !('type' in node)) return;
    const at = 'start' in node && typeof node.start === 'number' ? node.start : 0;
    if (node.type === 'TaggedTemplateExpression') return;
    if (node.type === 'Literal' && 'value' in node && typeof node.value === 'string') found.push({ at, text: node.value });
    if (node.type === 'TemplateLiteral' && 'quasis' in node && Array.isArray(node.quasis))
      found.push({ at, text: node.quasis.map((part: object) => ('value' in part ? cookedText(part.value) : '')).join('…') });
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(source, { lang: 'ts' }, path).body);
  const sentences = found.filter(({ text }) => /\S\s+\S/.test(text));
  const comments = [...source.matchAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm)].map(({ index, 0: text }) => ({
    at: index + text.length - text.trimStart().length,
    text: withoutCodeWords(text.replaceAll(/\s*\n\s*\*?\s*/g, ' ')),
  }));
  return [...sentences, ...comments]
    .toSorted((left, right) => left.at - right.at)
    .map(({ at, text }) => ({ line: source.slice(0, at).split('\n').length, text }));
}

function cookedText(value: unknown): string {
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string' ? value.cooked : '';
}

/** Removes the words that have a meaning in code, where an attachment is an edge. */
function withoutCodeWords(comment: string): string {
  return comment.replaceAll(/\bedges?\b/gi, '');
}
