import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { exitMeanings } from '../src/commands/command-line/run-for-targets.ts';
import { catalogSections } from '../src/model/catalog/diagnostic-catalog.ts';
import { riskCodes } from '../src/protection/risk/risk-codes.ts';
import { commandNames, helpOf } from './support/command-help.ts';
import { reasonsNotToRun, uncheckedCommands } from './support/page-steps.ts';
import { loadText } from './support/policies.ts';

/** A page and its code: the fenced lines, with continued ones joined, and the code spans. */
type Page = { readonly path: string; readonly text: string; readonly lines: readonly string[]; readonly spans: readonly string[] };

function pageOf(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const fence = /^```[^\n]*\n([\s\S]*?)^```$/gm;
  const blocks = [...text.matchAll(fence)].map((match) => (match[1] ?? '').replaceAll(/\\\n\s*/g, ' '));
  const prose = text.replaceAll(fence, '');
  return {
    path,
    text,
    lines: blocks.flatMap((block) => block.split('\n')),
    spans: [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? ''),
  };
}

const pages: readonly Page[] = [
  'README.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => join('docs', name)),
].map(pageOf);
const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  // The catalog declares codes; it does not use them.
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith(join('model', 'catalog')))
  .map((path) => readFileSync(join('src', path), 'utf8'));
const code = source.map((text) => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, ''));

function flagsOf(text: string): ReadonlySet<string> {
  const found = [...text.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)/gm)];
  return new Set(found.flatMap(([, short, long = '']) => [long, ...(short === undefined ? [] : [short])]));
}

/** The flags of every command as its help names them; the program's own under the empty name. */
async function flagsByCommand(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const general = await helpOf([], 200);
  const names = (await commandNames()).flatMap((name) => name.split('|'));
  expect(names).toContain('plan');
  const flags = new Map([['', flagsOf(general)]]);
  for (const name of names) flags.set(name, flagsOf(await helpOf([name], 200)));
  return flags;
}

test('the help of every command fits a terminal of 80 columns', async () => {
  const wide: string[] = [];
  for (const name of ['', ...(await commandNames()).flatMap((names) => names.split('|'))]) {
    const lines = (await helpOf(name === '' ? [] : [name], 80)).split('\n');
    // An example is a command to copy, which a line break would change.
    wide.push(...lines.filter((line) => line.length > 80 && !/^ {2}\S.* ostiary /.test(line)));
  }
  expect(wide).toEqual([]);
});

test('every command and flag that the pages name exists', async () => {
  const flags = await flagsByCommand();
  const all = new Set([...flags.values()].flatMap((set) => [...set]));
  const wrong: string[] = [];
  let calls = 0;
  for (const { path, lines, spans } of pages) {
    for (const text of [...lines, ...spans]) {
      for (const match of text.matchAll(/(?<![\w/.-])ostiary ((?:-|[a-z])[^|;&>#]*)/g)) {
        const [first = '', ...rest] = (match[1] ?? '').trim().split(/[\s,]+/);
        const command = first.startsWith('-') ? '' : first;
        calls += 1;
        const known = flags.get(command);
        if (known === undefined) wrong.push(`${path}: unknown command "${command}"`);
        for (const word of command === '' ? [first, ...rest] : rest) {
          const flag = word.split('=')[0] ?? '';
          if (known !== undefined && /^--?[a-z]/.test(flag) && !known.has(flag)) wrong.push(`${path}: ostiary ${command} has no ${flag}`);
        }
      }
    }
    for (const span of spans) {
      const [flag = ''] = /^--?[a-z][\w-]*/.exec(span) ?? [];
      if (flag !== '' && !all.has(flag)) wrong.push(`${path}: no command has ${flag}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(20);
});

/** The texts of a union of literals in a type of src: what a template of codes is filled with. */
function union(path: string, pattern: RegExp): readonly string[] {
  const [, members = ''] = pattern.exec(readFileSync(path, 'utf8')) ?? [];
  return [...members.matchAll(/'([\w-]+)'/g)].map((match) => match[1] ?? '');
}

const readProblems = union('src/disk/text-file.ts', /readonly code: ([^;]+);/);
/** Codes built from templates, and the values of the templates. */
const templates: Readonly<Record<string, readonly string[]>> = {
  'manifest/${code}': readProblems,
  'config/${code}': readProblems,
  'secret/file-${refusal}': union('src/disk/secret-file.ts', /type Refusal = ([^;]+);/),
};
/** What looks like a code and is none: media types, a header, and a change's reasons, which docs/reference/json.md names. */
const reasons = ['edge/attach', 'edge/detach', 'edge/blocked'];
const risks: readonly string[] = Object.keys(riskCodes).map((name) => `risk/${name}`);
const others = new Set(['risk/${name}', 'application/json', 'text/plain', 'edge/${action}', ...reasons]);

/** Every code of a diagnostic, an error, a refusal or an outcome in src. */
function codesInSource(): readonly string[] {
  const found = new Set<string>();
  const texts = code.map((text) => text.replaceAll(/^(?:import|export)\s[^;]*?from\s+'[^']*'[^;]*;|\bimport\('[^']*'\)/gm, ''));
  for (const text of texts) {
    for (const [, literal = ''] of text.matchAll(/['"`]([a-z]+\/[a-z][a-z0-9-]*(?:\$\{[\w.]+\})?|[a-z]+\/\$\{[\w.]+\})['"`]/g)) {
      if (others.has(literal) || literal.startsWith('ostiary/') || literal.endsWith('${string}')) continue;
      const fillings = templates[literal];
      if (fillings === undefined) found.add(literal);
      else for (const filling of fillings) found.add(literal.replace(/\$\{.*\}/, filling));
    }
  }
  return [...found].toSorted();
}

const entries = catalogSections.flatMap((section) => Object.entries(section.codes));

test('the catalog lists every code that the source uses, each once', () => {
  const codes = codesInSource();
  expect(codes.filter((one) => one.includes('$'))).toEqual([]);
  expect(entries.map(([one]) => one).toSorted()).toEqual(codes);
});

test('the catalog follows its schema', () => {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync('src/model/catalog/diagnostics.schema.json', 'utf8')));
  validate(JSON.parse(readFileSync('src/model/catalog/diagnostics.json', 'utf8')));
  expect(validate.errors ?? []).toEqual([]);
});

/** Returns the codes of the golden files, with the messages that reports print. */
function goldenMessages(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (one: string, message: string): unknown => found.set(one, `${found.get(one) ?? ''}\n${message.replaceAll(/\s+/g, ' ')}`);
  for (const path of readdirSync('test/golden', { recursive: true, encoding: 'utf8' })) {
    if (!/expected.(?:diagnostics\.txt|plan\.json)$/.test(path)) continue;
    const text = readFileSync(join('test/golden', path), 'utf8');
    if (path.endsWith('.txt'))
      for (const [, one = '', message = ''] of text.matchAll(
        /^(?:\S+ )?(?:error|warning|notice) ([a-z]+\/[a-z-]+)([\s\S]*?)(?=^\S|$(?![\s\S]))/gm,
      ))
        add(one, message);
    else
      JSON.parse(text, (_, value) => {
        if (typeof value?.code === 'string' && typeof value.message === 'string') add(value.code, value.message);
        return value;
      });
  }
  return found;
}

test('the example of a code is what a golden plan prints, if one prints the code', () => {
  const printed = goldenMessages();
  const wrong = entries.filter(([one, { example }]) => printed.get(one)?.includes(example) === false).map(([one]) => one);
  expect(wrong).toEqual([]);
  expect(entries.filter(([one]) => printed.has(one)).length).toBeGreaterThan(10);
});

test('every code that the pages name exists', () => {
  const known = new Set([...codesInSource(), ...reasons, ...risks]);
  const areas = [...new Set([...known].map((one) => one.split('/')[0]))].join('|');
  const named = new RegExp(`(?<![\\w/.-])(?:${areas})/[a-z][a-z0-9-]*(?![\\w/.*-])`, 'g');
  const wrong = pages.flatMap(({ path, lines, spans }) =>
    [...lines, ...spans].flatMap((text) => [...text.matchAll(named)].filter(([one]) => !known.has(one)).map(([one]) => `${path}: ${one}`)),
  );
  expect(wrong).toEqual([]);
});

test('each file and folder that the map of the code names exists', () => {
  const paragraphs = readFileSync('src/README.md', 'utf8').split('\n\n');
  const named = paragraphs.flatMap((text) => {
    const room = /^(?:## .*\n)?\*\*`(\w+)\/`/.exec(text)?.[1] ?? '';
    const lines = text
      .split('\n')
      .map((line) =>
        [...line.matchAll(/`([a-z][\w./-]*(?:\/|\.ts))`/g)].map((match) => match[1] ?? '').filter((path) => !/KIND|NAME/.test(path)),
      );
    // A name without a folder is beside the one before it.
    return lines.flatMap((paths) =>
      paths.map((path, index) => ({ path, places: ['src', '.', `src/${room}`, `src/${dirname(paths[index - 1] ?? '')}`] })),
    );
  });
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ path, places }) => !places.some((place) => existsSync(join(place, path)))).map(({ path }) => path)).toEqual([]);
});

test('README names the two commands of a fresh machine', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n');
  expect(lines).toEqual(expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm test']));
});

test('every environment variable that the pages name is read, and every one that is read is named', () => {
  const reading = /\benv(?:\.|\['|: '|, ')([A-Z][A-Z0-9_]+)\b/g;
  const fromFiles = code.flatMap((text) => [...text.matchAll(/\breadVariable\('([A-Z_]+)'/g)].map((match) => match[1] ?? ''));
  expect(fromFiles.length).toBeGreaterThan(0);
  const read = new Set([
    ...code.flatMap((text) => [...text.matchAll(reading)].map((match) => match[1] ?? '')),
    ...fromFiles.flatMap((name) => [name, `${name}_FILE`]),
  ]);
  const named = pages.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /\b(?:OSTIARY_[A-Z_]+|GITHUB_[A-Z_]+|GITLAB_[A-Z_]+|CI_[A-Z0-9_]+|CI(?==true)|TRIGGER_PAYLOAD|RUNNER_TEMP|GIT_(?:ALLOW_PROTOCOL|CEILING_DIRECTORIES|CONFIG_COUNT|DISCOVERY_ACROSS_FILESYSTEM|SSH(?:_COMMAND)?)|NO_COLOR|FORCE_COLOR|DEBUG|TERM|COLUMNS|HOME|USERPROFILE|SUDO_UID|SSL_CERT_FILE|PGHOST|PGSSLMODE)\b/g,
      ),
    ].map(([name]) => ({
      path,
      name,
    })),
  );
  // The variables that the tests read are documented only for contributors.
  expect(named.filter(({ name }) => !read.has(name) && !/^OSTIARY_(?:SECRET|TEST)_|_$/.test(name))).toEqual([]);
  const documented = new Set(named.map(({ name }) => name));
  // `CI_MERGE_REQUEST_*` names all that begin so.
  const isNamed = (name: string): boolean => [...documented].some((one) => one === name || (one.endsWith('_') && name.startsWith(one)));
  expect([...read].filter((name) => !isNamed(name) && !name.startsWith('OSTIARY_SECRET_'))).toEqual([]);
});

/** Returns the anchor that GitHub gives a heading. */
function anchorsOf(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every relative link has a target', () => {
  const wrong = pages.flatMap(({ path, text }) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]+`/g, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(target)) return [`${path}: ${link}`];
      return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${path}: ${link}`];
    });
  });
  expect(wrong).toEqual([]);
});

test('every page that code, schemas and examples name exists', () => {
  const folders = ['src', 'schemas', 'examples', 'build', '.github'];
  const paths = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)));
  const texts = [...paths.filter((path) => /\.(?:ts|json|ya?ml|js|md)$/.test(path)), 'action.yml'];
  const wrong = texts.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bdocs\/[\w/-]+\.md/g)]
      .filter(([page]) => !existsSync(page))
      .map(([page]) => `${path}: ${page}`),
  );
  expect(wrong).toEqual([]);
});

test('every whole manifest and policy on a page is valid', () => {
  const blocks = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => ({ path, block })),
  );
  const whole = blocks.filter(({ block }) => ['apiVersion: ostiary/v1', 'metadata:', 'spec:'].every((part) => block.includes(part)));
  expect(whole.map(({ path }) => path)).toContain('docs/how-to/policies.md');
  const found = whole.flatMap(({ path, block }) => loadText(block, path).diagnostics.map((one) => ({ path, ...one })));
  // A page may have a policy alone.
  expect(found.filter(({ code: is }) => is !== 'manifest/none').map(({ path, message }) => `${path}: ${message}`)).toEqual([]);
});

// `test/e2e/reports/pages.test.ts` runs the commands of `console` blocks.
test('every block of commands is run by a test, or has a reason why not', () => {
  const documents = pages.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'));
  expect(documents.flatMap(({ path, text }) => uncheckedCommands(text).map((block) => `${path}: ${block}`))).toEqual([]);
  expect(documents.flatMap(({ text }) => reasonsNotToRun(text)).length).toBeLessThan(20);
});

/** Returns the first group of every match of a pattern in a file. */
function listed(path: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(pattern)].map((match) => match[1] ?? '');
}

test('the README and the reference list every exit code', () => {
  const codes = [...Object.keys(exitMeanings), '130'];
  expect(listed('docs/reference/exit-codes.md', /^\| (\d+) \|/gm)).toEqual(codes);
  expect(listed('README.md', /(?:^| · )(\d+) [a-z]/gm)).toEqual(codes);
});

/** A command that installs or runs a package of the public registry whose name is `ostiary`: anyone who owns that name decides what runs. */
const unscopedInstall =
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun|deno)\s+(?:i|add|create|dlx|exec|global|init|install|x))\b[^\n;&|]*?(?<![\w./@:-])(?:npm:)?ostiary(?:@[\w.^~-]+)?(?=[\s'"`)]|$)/m;

test('nothing that people copy installs Ostiary by a name that others could claim, and no registry has it', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ name: 'ostiary', private: true });
  for (const line of [
    'npx ostiary plan',
    'npm install --global ostiary@0.1.0',
    'npm i -D ostiary',
    'pnpm dlx ostiary',
    'npx --yes ostiary@1',
  ])
    expect(line).toMatch(unscopedInstall);
  for (const line of [
    'npm install --global ./ostiary-0.1.0.tgz',
    'npm ci && npm link',
    'npm install && ostiary plan',
    'npx vitest run ostiary.test.ts',
  ])
    expect(line).not.toMatch(unscopedInstall);
  const below = ['build', 'examples', '.github', 'deploy'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const texts = [
    ...pages.map(({ path, text }) => [path, text]),
    ...[...below, 'action.yml', 'Dockerfile'].map((path) => [path, readFileSync(path, 'utf8')]),
  ];
  expect(texts.length).toBeGreaterThan(100);
  expect(texts.filter(([, text = '']) => unscopedInstall.test(text)).map(([path]) => path)).toEqual([]);
  expect(source.filter((text) => unscopedInstall.test(text))).toEqual([]);
});
