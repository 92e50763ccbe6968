import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { clockUses } from './support/clock-uses.ts';
import { spreadCalls } from './support/spread-calls.ts';
import { checks } from './torture/safety-checks.js';

/** What each folder of src may import: siblings, then packages. `node:` is free outside the pure core. */
const table: Readonly<Record<string, { readonly rooms: readonly string[]; readonly packages: readonly string[]; readonly pure?: true }>> = {
  model: { rooms: [], packages: [], pure: true },
  kinds: { rooms: ['model', 'schemas'], packages: [], pure: true },
  disk: { rooms: ['model'], packages: ['ignore'] },
  manifest: { rooms: ['model', 'schemas'], packages: ['yaml'], pure: true },
  protection: { rooms: ['model'], packages: ['@marcbachmann/cel-js', 're2js'], pure: true },
  reconcile: { rooms: ['model', 'protection'], packages: [], pure: true },
  replay: { rooms: ['model', 'protection'], packages: [], pure: true },
  apply: { rooms: ['model'], packages: [] },
  report: { rooms: ['model', 'schemas'], packages: ['fast-json-patch'], pure: true },
  gateway: { rooms: ['model'], packages: ['undici'] },
  git: { rooms: ['model'], packages: ['simple-git'] },
  forge: { rooms: ['model'], packages: ['@octokit/rest'] },
  server: {
    rooms: ['model', 'kinds', 'git'],
    packages: ['hono', '@hono/node-server', 'ajv', 'ipaddr.js', 'kysely', 'pg', '@electric-sql/pglite'],
  },
  project: { rooms: ['examples', 'model', 'kinds', 'disk', 'manifest', 'git', 'gateway'], packages: [] },
  import: { rooms: 'model kinds disk manifest project protection reconcile report gateway git'.split(' '), packages: [] },
  commands: {
    rooms: 'model kinds disk manifest project protection reconcile replay apply report gateway git server import'.split(' '),
    packages: ['commander', 'picocolors', '@clack/prompts', 'prettier'],
  },
  ci: {
    rooms: 'model kinds disk manifest project protection reconcile report gateway git forge import commands'.split(' '),
    packages: ['commander'],
  },
  '.': { rooms: 'commands ci forge model kinds manifest protection reconcile apply report gateway'.split(' '), packages: [] },
};

type Source = { readonly path: string; readonly room: string; readonly text: string; readonly imports: readonly string[] };

function filesOf(folder: string, pattern: RegExp): readonly string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all
    .filter((path) => pattern.test(path))
    .map((path) => join(folder, path))
    .toSorted();
}

const schemas = readdirSync('schemas')
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => join('schemas', name));

const sources: readonly Source[] = filesOf('src', /(?<!\.d)\.[tj]s$/).map((path) => {
  const text = readFileSync(path, 'utf8');
  const room = relative('src', path).split('/').length === 1 ? '.' : (relative('src', path).split('/')[0] ?? '');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|(?:^|\n)import\s+['"]([^'"]+)['"]/g,
  );
  return { path, room, text, imports: [...found].flatMap((match) => match[1] ?? match[2] ?? match[3] ?? []) };
});

function roomOf(source: Source, specifier: string): string {
  const path = relative('.', join(dirname(source.path), specifier));
  const [top, room, rest] = path.split('/');
  if (top !== 'src') return top ?? '';
  return rest === undefined ? '.' : (room ?? '');
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

test('imports point one way', () => {
  const wrong = sources.flatMap((source) => {
    const allowed = table[source.room];
    return source.imports.flatMap((specifier) => {
      if (allowed === undefined) return [`${source.path}: the table has no room "${source.room}"`];
      if (specifier.startsWith('node:'))
        return allowed.pure === true && specifier !== 'node:crypto'
          ? [`${source.path}: ${specifier}; the core is pure, take it as an argument`]
          : [];
      if (!specifier.startsWith('.'))
        return allowed.packages.includes(packageOf(specifier)) ? [] : [`${source.path}: the package ${specifier} is not in the table`];
      const room = roomOf(source, specifier);
      return room === source.room || allowed.rooms.includes(room)
        ? []
        : [`${source.path}: ${source.room} may not import ${room} (${specifier})`];
    });
  });
  expect(wrong).toEqual([]);
});

/** Renderers lay out the blocks of a document. */
test('renderers know no plan, no risk and no protection', () => {
  const renderers = sources.filter(({ path }) =>
    /^src\/report\/(?:(?:text|markdown|html)\/.*|annotations|code-quality|junit|sarif)\.ts$/.test(path),
  );
  const subjects =
    /model\/(?:plan|protection|result)\/|\/subjects\/|rows\/(?!diff-lines|fold-similar|equal-findings)|wording\/(?!phrases|diagnostics)/;
  const found = renderers.filter(({ imports }) => imports.some((one) => subjects.test(one))).map(({ path }) => path);
  expect(found).toEqual([]);
});

/**
 * The folders and files of each room in the order of its data: each imports only earlier ones. A file is one of the room itself.
 */
const inside: Readonly<Record<string, string>> = {
  protection:
    'pattern access controls posture effective compare common-tags.ts questions risk samples permission lint policy accepted-effects.ts extension-headlines.ts risk-headlines.ts new-access.ts protection-matrix.ts ' +
    'rule-inspector.ts stricter-drift.ts protection.ts',
  reconcile: 'cells prepare saved-plan order diff drift accepted assess guard explain record-content reconcile.ts',
  replay: 'judge-session.ts replay-sessions.ts find-unused.ts',
  manifest:
    'json-values.ts yaml schema-nodes.ts secrets manifest.ts source-map.ts acknowledge.ts validate collect-edges.ts edit respell-document.ts merge-layers.ts read-defaults.ts ' +
    'to-resource.ts target-documents.ts read-policies.ts read-access-tests.ts read-documents.ts load-manifests.ts draft accept format read-config.ts',
  gateway: 'dialect.ts dialects id-index.ts implied-element.ts from-wire.ts http session.ts live write service snapshot.ts open-gateway.ts',
  report:
    'escape.ts wrap.ts document-json.ts marks.ts blocks.ts wording links.ts rows document.ts subjects serialize.ts text markdown html annotations.ts code-quality.ts junit.ts sarif.ts ' +
    'formats.ts reports.ts',
  server: 'log.ts principal.ts rejection.ts secrets.ts resource-kind.ts collections.ts store rules routes http',
  commands:
    'context output session planning completion command-line validate.ts plan.ts apply.ts drift.ts explain.ts can.ts reporting test.ts targets.ts fmt.ts init.ts schema.ts ' +
    'pull.ts review.ts get.ts list.ts search.ts record.ts serve.ts version.ts workflow-commands.ts',
  'commands/planning':
    'target-policies.ts audit-log.ts name-deleters.ts read-secrets.ts read-gateway.ts planned-run.ts snapshot-file.ts create-plan.ts decided-plan.ts saved-plan.ts interrupted-plan.ts access-tests.ts access-view.ts read-sessions.ts replay-plan.ts affected-targets.ts pull-objects.ts',
  forge:
    'forge.ts ci-system.ts answers.ts requests.ts git-credentials.ts forge-errors.ts comment-commands.ts sticky-body.ts sticky-posts.ts approved-plan.ts override-comments.ts ' +
    'github gitlab find-ci-system.ts',
  ci: 'inputs.ts proposal.ts task.ts affected-plans.ts mentioned-pull-request.ts pull-requests.ts change-authors.ts decisions.ts drift-issue.ts commit-status.ts report-run.ts run-job.ts ci.ts',
};

test('inside a room, imports point one way', () => {
  const wrong = Object.entries(inside).flatMap(([room, text]) => {
    const order = text.split(' ');
    const placeOf = (path: string): string => relative(`src/${room}`, path).split('/')[0] ?? '';
    const missing = order.filter((place) => !existsSync(`src/${room}/${place}`)).map((place) => `${room}/${place} does not exist`);
    const found = sources
      .filter((source) => source.path.startsWith(`src/${room}/`))
      .flatMap((source) => {
        const own = order.indexOf(placeOf(source.path));
        if (own < 0) return [`${source.path}: the order of ${room} does not name it`];
        return source.imports.flatMap((specifier) => {
          const path = join(dirname(source.path), specifier);
          if (!specifier.startsWith('.') || !path.startsWith(`src/${room}/`)) return [];
          return order.indexOf(placeOf(path)) <= own ? [] : [`${source.path}: ${placeOf(path)} comes later`];
        });
      });
    return [...missing, ...found];
  });
  expect(wrong).toEqual([]);
});

/** Returns what a file imports when it is loaded: types are not, and dynamic imports wait. */
function loadedBy({ text }: Source): readonly string[] {
  const found = text.matchAll(/(?:^|\n)(?:import|export)\s+(?!type\b)([^'";]*?)\s*from\s+'([^']+)'/g);
  return [...found].flatMap(([, names = '', from = '']) => (/^\{(\s*type [^,}]+,?)+\s*\}$/.test(names) ? [] : [from]));
}

test('a plan loads the pattern compiler, expressions and the client of a forge on demand', () => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const packages = new Set<string>();
  const waiting = ['src/commands/plan.ts'];
  for (const path of waiting) {
    for (const specifier of loadedBy(byPath.get(path) ?? { path, room: '', text: '', imports: [] })) {
      const to = relative('.', join(dirname(path), specifier));
      if (!specifier.startsWith('.')) packages.add(packageOf(specifier));
      else if (!waiting.includes(to)) waiting.push(to);
    }
  }
  const loaded = [...packages].filter((name) => !name.startsWith('node:'));
  expect(loaded.toSorted()).toEqual(['commander', 'fast-json-patch', 'ignore', 'picocolors', 'yaml']);
});

test('model imports nothing, not even node:', () => {
  const wrong = sources
    .filter((source) => source.room === 'model')
    .flatMap((source) => source.imports.filter((specifier) => !specifier.startsWith('.') || roomOf(source, specifier) !== 'model'));
  expect(wrong).toEqual([]);
});

test('every kind has one file, one schema, and an entry in the index', () => {
  const files = schemas.map((path) => basename(path, '.schema.json'));
  const index = readFileSync('src/kinds/index.ts', 'utf8');
  for (const file of files) {
    expect(existsSync(`src/kinds/${file}.ts`)).toBe(true);
    expect(index).toContain(`./${file}.ts`);
  }
});

/** Every folder of a dialect: it has a `dialect.json`. */
const dialects = filesOf('src/gateway/dialects', /\/dialect\.json$/).map((path) => basename(dirname(path)));

/** The files that may name a kind, beside its schema and its file in `kinds/`: adding a kind means reading this list. */
const namesKinds = [
  ...schemas.map((path) => `src/kinds/${basename(path, '.schema.json')}.ts`),
  // One row per dialect, and one on the server with its texts.
  ...dialects.map((name) => `src/gateway/dialects/${name}/kinds.ts`),
  'src/server/collections.ts',
  'src/model/served-rules.ts',
  // Connections are replaced, listed, and reached by people.
  'src/gateway/dialects/rest.ts',
  // What decides access is listed beside the kinds, too.
  'src/model/protection/access-objects.ts',
  'src/gateway/dialects/hoop/checks/access-request-rule.ts',
  'src/gateway/dialects/hoop/checks/attribute.ts',
  'src/gateway/dialects/hoop/checks/runbook-rule.ts',
  'src/commands/get.ts',
  // An example of each kind.
  'src/project/templates/example-documents.ts',
  ...[
    'risk-headlines.ts',
    'lint/lint-guardrail.ts',
    'policy/check-policies.ts',
    'policy/compile-policies.ts',
    'policy/match.ts',
    'policy/subject.ts',

    'controls/access-rows.ts',
    'controls/runbooks-row.ts',
    'controls/connection-rows.ts',
    'controls/tools-row.ts',
    'controls/control-table.ts',
    'controls/request-rule-fields.ts',
    'controls/rule-rows.ts',
    'posture/diff-postures.ts',
    'compare/affected-connections.ts',
    'compare/own-effects.ts',
    'posture/posture.ts',
    'posture/protection-snapshot.ts',
    'effective/effective.ts',
    'protection-matrix.ts',
    'risk/risks.ts',
    'samples/try-samples.ts',
    'stricter-drift.ts',
  ].map((path) => `src/protection/${path}`),
];

test('only the listed files name a kind', () => {
  const names = schemas.map((path) => String(JSON.parse(readFileSync(path, 'utf8')).title));
  const found = sources.filter(({ text }) => names.some((name) => namesKind(text, name))).map(({ path }) => path);
  expect(
    found.filter((path) => !namesKinds.includes(path)),
    'files that name a kind and are not in namesKinds',
  ).toEqual([]);
  expect(
    namesKinds.filter((path) => !found.includes(path)),
    'files in namesKinds that name no kind',
  ).toEqual([]);
});

/** Returns whether code contains the name as text; `Connection` is also the name of an HTTP header. */
function namesKind(text: string, name: string): boolean {
  return new RegExp(`(?:['"\`]${name}\\b(?!: close|', 'close')|\\b${name}:(?! '?close))`).test(withoutText(text));
}

/** The kinds of access objects: how source names them beside their name, and in how many files at most, without the kind itself, messages and examples. */
const accessKinds = {
  AccessRequestRule: { by: /\b(?:isRequestRule|readRequestRule|requestRuleId)\b/, most: 8 },
  RunbookRule: { by: /\b(?:isRunbookRule|readRunbookRule)\b/, most: 8 },
  Attribute: { by: /\b(?:isAttribute|attributeId)\b/, most: 8 },
} as const;

test.each(Object.entries(accessKinds))('few files name %s', (name, { by, most }) => {
  const others = sources.filter(({ path }) => !/^src\/(?:kinds|project\/templates)\//.test(path));
  const found = others.filter(({ text }) => namesKind(text, name) || by.test(withoutText(text)));
  expect(found.length, `files that name it: ${found.map(({ path }) => path).join(' ')}`).toBeLessThanOrEqual(most);
});

/** The files outside its folder that may name a dialect; both are generated from the folders. */
const namesDialects = ['src/model/dialects.ts', 'src/gateway/dialects/index.ts'];

test('only its folder and the generated lists name a dialect', () => {
  const found = sources.flatMap(({ path, text }) =>
    dialects
      .filter(
        (name) => !path.startsWith(`src/gateway/dialects/${name}/`) && new RegExp(`['"]${name}['"]|\\b${name}:`).test(withoutText(text)),
      )
      .map((name) => `${path} names ${name}`),
  );
  expect(found.filter((line) => !namesDialects.some((path) => line.startsWith(`${path} `)))).toEqual([]);
});

test('the schemas name only dialects that have a folder', () => {
  const named = schemas.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/"x-ostiary-(?:dialect|borrowed)": "([^"]*)"/g)]);
  expect(named.map((match) => match[1]).filter((name) => name === undefined || !dialects.includes(name))).toEqual([]);
});

/** Comments, help texts and templates may use a kind as an example. */
function withoutText(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|`[\s\S]*?`/g, '');
}

/** The stages of the pipeline; `reconcile.ts` alone composes them. */
const stages = ['prepare/prepare', 'diff/diff-states', 'order/order-writes', 'assess/assess', 'guard/guard'];

test('commands, goldens and test support run one pipeline: only reconcile.ts composes its stages', () => {
  expect(stages.filter((stage) => !existsSync(`src/reconcile/${stage}.ts`))).toEqual([]);
  const folders = ['src', 'test/golden.test.ts', 'test/support', 'test/e2e', 'test/contract', 'test/hoop', 'test/bench'];
  const paths = folders.flatMap((folder) => (folder.endsWith('.ts') ? [folder] : filesOf(folder, /\.ts$/)));
  const found = paths.filter((path) => !path.startsWith('src/reconcile/')).flatMap((path) => stagesUsed(path, readFileSync(path, 'utf8')));
  expect(found).toEqual([]);
  expect(stagesUsed('x.ts', "import { guard, type GuardInput } from '../src/reconcile/guard/guard.ts';")).toHaveLength(1);
  expect(stagesUsed('x.ts', "import type { Consent } from '../src/reconcile/prepare/prepare.ts';")).toEqual([]);
});

/** The imports of stages as values; their types may be named anywhere. */
function stagesUsed(path: string, text: string): readonly string[] {
  const imports = text.matchAll(/import (?!type )[^;]*? from '[^']*reconcile\/([^']*)\.ts'|import\('[^']*reconcile\/([^']*)\.ts'\)/g);
  return [...imports]
    .flatMap((match) => match[1] ?? match[2] ?? [])
    .flatMap((file) => (stages.includes(file) ? [`${path} uses ${file}`] : []));
}

test('a preview is the plan: nothing below commands knows a dry run', () => {
  expect(sources.filter((source) => source.room !== 'commands' && /\bdry/i.test(source.text)).map((source) => source.path)).toEqual([]);
});

function codeLines(source: Source): number {
  return source.text.split('\n').filter((line) => !/^\s*(\/\/|\*|\/\*|$)/.test(line)).length;
}

test('files stay within the size limit', () => {
  const largest = sources
    .map((source) => ({ path: source.path, lines: codeLines(source) }))
    .toSorted((left, right) => right.lines - left.lines);
  expect(largest.filter((one) => one.lines > 400)).toEqual([]);
});

/** The code alone: no comments, texts, patterns, imports or re-exports. */
function bare(text: string): string {
  const withoutComments = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '');
  const withoutImports = withoutComments.replaceAll(/^(?:import|export)\s[^;]*?from\s+'[^']*'[^;]*;/gm, '');
  return withoutImports.replaceAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");
}

function count(pattern: RegExp, textOf: (source: Source) => string): readonly string[] {
  return sources.flatMap((source) => [...textOf(source).matchAll(pattern)].map((match) => `${source.path}: ${match[0]}`));
}

test('the exceptions from the rules are listed and counted', () => {
  expect(count(/@ts-(?:ignore|expect-error|nocheck)|oxlint-disable|eslint-disable/g, (source) => source.text)).toEqual([]);
  expect(count(/catch *(?:\([^)]*\))? *\{ *\}/g, (source) => source.text)).toEqual([]);
  expect(count(/\bas (?!const\b)[A-Za-z]\w*/g, (source) => bare(source.text))).toEqual([]);
  const skipped = filesOf('test', /\.ts$/).filter(
    (path) => path !== 'test/architecture.test.ts' && /\b(?:it|test|describe)\.(?:skip|only|todo)\b/.test(readFileSync(path, 'utf8')),
  );
  expect(skipped).toEqual([]);
});

/** Where a clock is no bound: scripts print how long they took, and a pause is the shortest time after which git or a timer shows a difference. */
const clocks: Readonly<Record<string, RegExp>> = {
  'test/support/hoop/clock.ts': /hrtime/,
  'test/support/hoop/start.ts': /delay/,
  'test/nightly.js': /performance/,
  'test/seeds.js': /Date/,
  'test/container.js': /Date/,
  'test/fresh-machine.js': /Date/,
  'test/torture/run.js': /Date/,
  'test/torture/safety-checks.js': /performance/,
  'test/torture/races.test.ts': /sleep/,
  'test/torture/faults.ts': /sleep/,
  'test/hoop/report-access.test.ts': /1100/,
  'test/e2e/apply/recording.test.ts': /setTimeout\(50\)/,
};

test('no test depends on how fast a machine is: it counts, polls, or is a row of the bench', () => {
  const found = filesOf('test', /\.[tj]s$/)
    .filter((path) => !path.startsWith('test/bench/'))
    .flatMap((path) => clockUses(path, readFileSync(path, 'utf8')).map((use) => ({ path, use })));
  expect(found.filter(({ path, use }) => clocks[path]?.test(use) !== true)).toEqual([]);
  expect(Object.keys(clocks).filter((path) => found.every((one) => one.path !== path))).toEqual([]);
  const probe = `import { setTimeout as sleep } from 'node:timers/promises';
    const began = performance.now(); const spent = process.cpuUsage(); const at = Date.now();
    test('a', { timeout: 5000 }, async () => { await sleep(50); expect(Date.now() - at).toBeLessThan(100); });
    it('b', async () => { while (!done && Date.now() < limit) await sleep(5); }, 1000);
    const old = new Date(Date.now() - 3_600_000); it('c', { timeout: 60_000 }, async () => { for (;;) await sleep(5); });
    await new Promise((resolve) => setTimeout(resolve, 50));`;
  expect(clockUses('probe.ts', probe)).toEqual([
    '2 performance.now',
    '2 process.cpuUsage',
    '3 timeout: 5000',
    '3 await sleep(50)',
    '3 Date.now() - at',
    '4 a limit of 1000',
    '4 Date.now() < limit',
    '6 await new Promise((resolve) => setTimeout(resolve, 50))',
  ]);
});

/** Functions of the project and of packages whose spread arguments are paths, options or flags, which have a bounded length. */
const boundedCalls: ReadonlySet<string> = new Set([
  'pointer',
  'join',
  'posix.join',
  'command.argument',
  'git.raw',
  'wrong',
  'toDiagnostic',
]);

test('the table of imports names only what exists', () => {
  const imported = new Set(sources.flatMap(({ room, imports }) => imports.map((specifier) => `${room} ${packageOf(specifier)}`)));
  const unused = Object.entries(table).flatMap(([room, { packages }]) => packages.filter((name) => !imported.has(`${room} ${name}`)));
  expect(Object.keys(table).filter((room) => room !== '.' && !existsSync(`src/${room}`))).toEqual([]);
  expect(unused).toEqual([]);
});

test('every safety check that the torture run removes exists, and so do the tests that notice it', () => {
  const tests = filesOf('test', /\.test\.ts$/);
  const wrong = checks.flatMap(([name, file, from, , named, first = '']) => {
    const path = join('src', file);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lost = named.filter((one) => !tests.some((existing) => existing.startsWith(join('test', one.split(': ')[0] ?? ''))));
    return [...(text.includes(from) && text.includes(first) ? [] : [`${name}: ${path}`]), ...lost.map((one) => `${name}: test/${one}`)];
  });
  expect(wrong).toEqual([]);
});

test('no list of unknown length is spread into the arguments of a call, which fails for long lists', () => {
  const found = sources.flatMap(spreadCalls).map((call) => ({ call, name: call.split(' ')[1] ?? '' }));
  expect(found.filter(({ name }) => !boundedCalls.has(name))).toEqual([]);
  expect([...boundedCalls].filter((name) => found.every((one) => one.name !== name))).toEqual([]);
  const probe = { path: 'probe.ts', text: 'f(a, ...b); new F(...b); g([...b], { ...c }); Math.max(...b)' };
  expect(spreadCalls(probe)).toEqual(['probe.ts:1 f', 'probe.ts:1 F', 'probe.ts:1 Math.max']);
});
