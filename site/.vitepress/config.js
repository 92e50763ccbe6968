import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: repository = 'OWNER/ostiary' } = process.env;
const root = resolve(import.meta.dirname, '../..');
const docs = join(root, 'docs');

// Pages import packages of this folder, so they are built inside of it.
cpSync(docs, join(root, 'site', 'pages'), { recursive: true });

/** Returns the first heading of a page. */
function titleOf(path) {
  return /^# (.+)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1].replaceAll('`', '') ?? path;
}

/** Returns the pages of a folder as links, sorted by their titles. */
function pagesIn(folder) {
  const paths = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md'));
  const links = paths.map((name) => ({ text: titleOf(join(folder, name)), link: `/${folder}/${name.replace(/\.md$/, '')}` }));
  return links.toSorted((left, right) => left.text.localeCompare(right.text));
}

/** Makes links to files outside of docs/ lead to the repository. */
function linkToRepository(markdown) {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : '';
      if (!href.startsWith('..')) continue;
      const [file = '', anchor] = href.split('#');
      const path = relative(root, join(docs, dirname(env.relativePath), file));
      if (path.startsWith('docs/')) continue;
      if (!existsSync(join(root, path))) throw new Error(`${env.relativePath}: ${href} has no target`);
      token.attrSet('href', `${server}/${repository}/blob/main/${path}${anchor === undefined ? '' : `#${anchor}`}`);
    }
  });
}

/** Shows `{{` of a page as text; Vue would evaluate it. */
function showBraces(markdown) {
  for (const rule of ['text', 'code_inline']) {
    const render = markdown.renderer.rules[rule];
    markdown.renderer.rules[rule] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
  }
}

const home = {
  layout: 'home',
  hero: {
    name: 'Ostiary',
    text: 'GitOps for access gateways',
    tagline: 'Manifests in git. Plans that state what changes for people. An apply that does exactly that.',
    actions: [
      { theme: 'brand', text: 'Tutorial', link: '/tutorial' },
      { theme: 'alt', text: 'Import a gateway', link: '/how-to/import' },
      { theme: 'alt', text: 'Read a plan', link: '/how-to/read-a-plan' },
    ],
  },
};

export default {
  title: 'Ostiary',
  description: 'GitOps for access gateways: a directory of YAML manifests, planned, reviewed and applied.',
  lang: 'en-US',
  srcDir: 'pages',
  outDir: '../dist/site',
  cacheDir: './.vitepress/cache',
  base: process.env['OSTIARY_SITE_BASE'] ?? '/',
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md' },
  markdown: {
    config(markdown) {
      linkToRepository(markdown);
      showBraces(markdown);
    },
  },
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath === 'index.md' ? { frontmatter: { ...frontmatter, ...home } } : undefined,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Command line', link: '/reference/cli' },
      { text: 'Repository', link: `${server}/${repository}` },
    ],
    sidebar: [
      {
        text: 'Learn',
        items: [
          { text: 'Tutorial', link: '/tutorial' },
          { text: 'Twenty recipes', link: '/recipes' },
        ],
      },
      { text: 'Start', items: pagesIn('people') },
      { text: 'Do', items: pagesIn('how-to') },
      { text: 'Understand', items: [...pagesIn('explanation'), { text: 'Decisions', link: '/decisions' }] },
      { text: 'Look up', items: pagesIn('reference') },
    ],
  },
};
