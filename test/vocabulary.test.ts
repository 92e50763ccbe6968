import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, test } from 'vitest';

/** What people wrote before a concept had one word; the messages of src have the one word. */
const replaced = new RegExp(
  [
    String.raw`\b(?:told|tells?|nobody|somebody|hears?|doomed|strangers?|stands?|bears?|all the same|but for|in any case|who may)\b`,
    String.raw`\b(?:(?:changed|tightened) by hand|both moved|left so|left behind|not ours|as in the manifests|comes into being|comes? open)\b`,
    String.raw`\b(?:takes? (?:back|over|the place)|what each cause reaches|which way|cannot be (?:told|answered)|the least is|lacks?)\b`,
    String.raw`\b(?:breakers?|footing|slips?|ties|tied|edges?|colour|behaviour|cancelled)\b`,
  ].join('|'),
  'i',
);

/** Returns the string literals and templates of a module that have a space, without code spans and SQL. */
function messagesOf(path: string): readonly string[] {
  const texts: { readonly at: number; readonly text: string }[] = [];
  const tagged = new Set<number>();
  const { program } = parseSync(path, readFileSync(path, 'utf8'));
  new Visitor({
    Literal: ({ start, value }) => void (typeof value === 'string' && texts.push({ at: start, text: value })),
    TemplateLiteral: ({ start, quasis }) => void texts.push({ at: start, text: quasis.map((part) => part.value.cooked ?? '').join('…') }),
    TaggedTemplateExpression: ({ quasi }) => void tagged.add(quasi.start),
  }).visit(program);
  return texts.filter(({ at, text }) => !tagged.has(at) && text.includes(' ')).map(({ text }) => text.replaceAll(/`[^`]*`/g, ''));
}

test('the messages of src use the vocabulary', () => {
  // The texts of workflows are those of the examples, with the words of GitHub's expressions.
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.d)\.ts$/.test(path));
  const messages = paths.flatMap((path) => messagesOf(join('src', path)).map((text) => ({ path, text })));
  expect(messages.length).toBeGreaterThan(3000);
  expect(messages.flatMap(({ path, text }) => (replaced.test(text) ? [`src/${path}: [${replaced.exec(text)?.[0]}] ${text}`] : []))).toEqual(
    [],
  );
});

/** Subjects that hide the actor, in what people read beside messages: pages, and comments of src. */
const hidingActors = /\b(?:nobody|somebody|told)\b/i;

test('pages and comments name the actor', () => {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  const modules = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts') || path.endsWith('.md'));
  const paths = ['README.md', 'SECURITY.md', ...pages.map((path) => join('docs', path)), ...modules.map((path) => join('src', path))];
  expect(paths.length).toBeGreaterThan(500);
  expect(paths.filter((path) => hidingActors.test(readFileSync(path, 'utf8')))).toEqual([]);
});
