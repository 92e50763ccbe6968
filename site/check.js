// Checks the built site: every page has its heading, and every link within the site has a page and an anchor.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const folder = join(import.meta.dirname, '..', 'dist', 'site');
const base = process.env['OSTIARY_SITE_BASE'] ?? '/';
const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html') && name !== '404.html');
const texts = new Map(pages.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

/** Returns the file that an address within the site leads to. */
function fileOf(address) {
  const path = address.slice(base.length);
  if (path === '' || path.endsWith('/')) return `${path}index.html`;
  return posix.extname(path) === '' ? `${path}.html` : path;
}

/** Returns what is wrong with a link of a page. */
function problemOf(name, href) {
  const { host, pathname, hash } = new URL(href, `http://site${base}${name}`);
  if (host !== 'site') return [];
  const file = href.startsWith('#') ? name : fileOf(pathname);
  if (!existsSync(join(folder, file))) return [`${name}: ${href} has no page`];
  const anchor = decodeURIComponent(hash.slice(1));
  return anchor === '' || texts.get(file)?.includes(`id="${anchor}"`) ? [] : [`${name}: ${href} has no anchor`];
}

const problems = [...texts].flatMap(([name, text]) => [
  ...(/<h1[ >]/.test(text) ? [] : [`${name}: no heading`]),
  ...[...text.matchAll(/<(?:a|link)\b[^>]*? href="([^"]+)"/g)].flatMap(([, href = '']) => problemOf(name, href.replaceAll('&amp;', '&'))),
]);
process.stdout.write(`${[...new Set(problems), `${texts.size} pages, ${problems.length} problems`].join('\n')}\n`);
if (problems.length > 0 || texts.size < 10) process.exitCode = 1;
