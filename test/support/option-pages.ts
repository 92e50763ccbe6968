import { readdirSync, readFileSync } from 'node:fs';

/** Pages that name options and whose text follows from other files. */
const generated = ['action.md', 'cli.md', 'coverage.md', 'fields.md', 'json.md', 'risks.md', 'security-tests.md'];

/** The pages that people write, by how close they are to a task; what diagnostics advise comes last. */
const pages = ['', 'how-to', 'explanation', 'people', 'reference'].flatMap((folder) =>
  readdirSync(`docs/${folder}`)
    .filter((name) => name.endsWith('.md') && ![...generated, 'decisions.md', 'README.md'].includes(name))
    .map((name) => {
      const text = readFileSync(`docs/${folder}/${name}`, 'utf8');
      const [, title = ''] = /^# (.+)$/m.exec(text) ?? [];
      const place = folder === 'reference' ? '' : `../${folder === '' ? '' : `${folder}/`}`;
      return { link: `[${title}](${place}${name})`, rank: name === 'diagnostics.md' ? 2 : folder === 'reference' ? 1 : 0, text };
    }),
);

/** The most pages that are named for one option. */
const mostPages = 3;

/**
 * Returns links to the pages that need an option, or an input of the action; those that use it most come first. Throws when no page
 * does: then the option goes, or a page lacks it.
 */
export function pagesNeeding(name: string, as: 'option' | 'input'): string {
  const option = new RegExp(`(?<![\\w-])--${name}(?![\\w-])`, 'g');
  const input = new RegExp(`\`${name}(?:: [^\`]*)?\``, 'g');
  for (const pattern of as === 'option' ? [option, input] : [input, option]) {
    const counted = pages.flatMap(({ text, ...page }) => {
      const count = [...text.matchAll(pattern)].length;
      return count === 0 ? [] : [{ ...page, count }];
    });
    const closest = Math.min(...counted.map(({ rank }) => rank));
    const found = counted.filter(({ rank }) => rank === closest).toSorted((left, right) => right.count - left.count);
    if (found.length > 0)
      return found
        .slice(0, mostPages)
        .map(({ link }) => link)
        .join(', ');
  }
  throw new Error(`no page of docs/ needs --${name}`);
}
