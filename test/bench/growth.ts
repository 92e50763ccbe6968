// How the cost of texts and lists grows with their length, function by function: node growth.js
import { firstLineOf, parseCommand } from '../../src/forge/comment-commands.ts';
import { makePrintable } from '../../src/gateway/http/failure.ts';
import { containsSecret, isOpaque } from '../../src/gateway/http/reveal-secrets.ts';
import { registry } from '../../src/kinds/index.ts';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import { emptyRecord } from '../../src/model/applied-record.ts';
import type { AssessedChange, EdgeChange } from '../../src/model/plan/plan.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import { onlyDeclared } from '../../src/project/remembered-objects.ts';
import { lintRule } from '../../src/protection/lint/lint-guardrail.ts';
import { compilePattern, patternCache } from '../../src/protection/pattern/compile.ts';
import { matchesGlob } from '../../src/protection/pattern/glob.ts';
import { checkAccessTests } from '../../src/protection/permission/check-access-tests.ts';
import { desiredSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { newAccessRefusals } from '../../src/reconcile/guard/new-access-refusals.ts';
import { draftPlan } from '../../src/reconcile/reconcile.ts';
import { digestOf } from '../../src/reconcile/saved-plan/plan-digest.ts';
import { changeRows } from '../../src/report/rows/change-rows.ts';
import { duplicateKey } from '../../src/model/spec/duplicate-key.ts';
import { readTemplate } from '../../src/server/rules/runbooks/template.ts';
import { accessTestOf } from '../support/access-test.ts';
import { bombs } from '../support/bombs.ts';
import { desiredState } from '../support/desired-state.ts';
import { largeAccess } from '../support/large-access.ts';
import { desiredOf } from '../support/resources.ts';
import { connectionManifest, liveAs } from '../support/risks.ts';
import { inputOf, noLimits, testTarget } from '../support/run-pipeline.ts';

/** Makes something of a length, and returns what is measured. */
type Case = (length: number) => () => unknown;

/** Cases whose cost per unit is compared at two lengths, of which the longer is a multiple. Twice the cost is noise. */
type Growth = {
  readonly what: string;
  readonly few: number;
  readonly times: number;
  readonly aim?: number;
  readonly cases: Readonly<Record<string, Case>>;
};

/** Returns a case for each text, which a function reads in any length. */
function reading(parts: readonly string[], read: (text: string) => unknown): Readonly<Record<string, Case>> {
  return Object.fromEntries(
    parts.map((part) => [
      JSON.stringify(part),
      (length) => {
        const text = part.repeat(length / part.length);
        return () => read(text);
      },
    ]),
  );
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}

function ids(kind: string, length: number): readonly ResourceId[] {
  return range(length).map((index): ResourceId => `${kind}/${index}`);
}

const templateParts = ['{{ .a }}', '{{', '{{ "', '{{ .a |', '{{/*', '{{ (', '\n', '{{ `', "{{ '\\", '{{ .a | x "\\'];
const commentParts = ['\n', ' ', '\r', '\t\n', '/', '/ostiary ', '/ostiary allow ', '/ostiary allow a a/a=', '=', '\u{2028}'];
const responseParts = ['a', 'ff, ', 'a1b2 ', '%2525', '\\', '&#1', '0x', ' \u0000'];
const bodyParts = { 'many keys': '"\\\\\\\\NUMBER":[],', 'a long text': '\\\\', brackets: '[' };

const patterns = [
  '(a+)+$',
  '(x+x+)+y',
  '(.*)*[!?]x',
  '(?:a?){100}[bc]$',
  '(a|b)*a(a|b){20}[cd]',
  'a.{50}[cd]',
  '\\pL{200}\\pN',
  '(?i)\\b(drop\\s+(table|schema|database|index)|truncate\\s)\\b',
  '(?i)(\\bcopy\\b.+\\bto\\b|\\\\copy\\b|\\bbcp\\b.+\\bout\\b|mongoexport|mongodump|mysqldump)',
];

const patternTexts: Readonly<Record<string, (length: number) => string>> = {
  'a list of words': (length) =>
    `(${range(length / 10)
      .map((index) => `word${index}`)
      .join('|')})`,
  brackets: (length) => '('.repeat(length),
  classes: (length) => '[a-z\\d_]'.repeat(length / 8),
  repeats: (length) => `${'(?:'.repeat(length / 5)}a${')*'.repeat(length / 5)}`,
  'empty choices': (length) => `(${'|'.repeat(length)})`,
  assertions: (length) => '\\b\\B^$'.repeat(length / 6),
};

function bodyOf(part: string, length: number): string {
  if (part === '[') return `{"x":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`;
  if (!part.includes('NUMBER')) return `{"name":"${part.repeat(length / part.length)}"}`;
  return `{${range(length / part.length)
    .map((index) => part.replace('NUMBER', String(index)))
    .join('')
    .slice(0, -1)}}`;
}

const change = { id: 'GuardrailRule/a', action: 'update', fields: [], needs: [], carried: [], risks: [] } as const;

function pathOf(entry: unknown): `/${string}` {
  return `/input/rules/${JSON.stringify(entry)}`;
}

/** Edits the only word of many rules without a name. */
function editsOf(count: number): AssessedChange['fields'] {
  return range(count).flatMap((index) => {
    const [before, after] = [`a${index}`, `b${index}`].map((word) => ({ type: 'deny_words_list', words: [word] }));
    return [
      { path: pathOf(before), before: { value: before ?? null }, after: { absent: true } },
      { path: pathOf(after), before: { absent: true }, after: { value: after ?? null } },
    ] as const;
  });
}

/** Measures the digest of a plan that attaches a rule to many connections. */
const digestOfAttachments: Case = (count) => {
  const connections = ids('Connection', count);
  const changes = connections.map((id) => ({ ...change, id, reasons: [] }));
  const edge = { rule: 'GuardrailRule/a', action: 'attach', declared: ['x:1:1'] } as const;
  const edges: readonly EdgeChange[] = connections.toReversed().map((connection) => ({ ...edge, connection, by: connection }));
  return () => digestOf(testTarget, changes, edges, { sources: [], seal: '' });
};

/** Measures which attachments of an interrupted apply the manifests declare. */
const pendingAttachments: Case = (count) => {
  const rules = ids('GuardrailRule', 100);
  const edges = rules.flatMap((rule) => ids('Connection', count / 100).map((connection) => ({ rule, connection, declarations: [] })));
  const declared = desiredState([{ kind: 'GuardrailRule', metadata: { name: 'rule-0', renamedFrom: 'former' }, spec: {} }]);
  const record = { ...emptyRecord, pending: [{ commit: 'c', objects: [], edges }] };
  return () => onlyDeclared(record, new Map([['c', { ...declared, edges }]]), new Set());
};

const accessTests: Case = (connections) => {
  const manifests = largeAccess(connections, 40).map(([name, spec]) => ({ kind: 'Connection', metadata: { name }, spec }));
  const snapshot = desiredSnapshot(desiredState(manifests), registry, 'interface');
  const named = range(40).map((index) => ({ group: `team-${index}`, on: 'db-0', expect: 'denied' }));
  const tested = accessTestOf({ group: 'others', on: '*', expect: 'denied' }, ...named);
  return () => checkAccessTests([tested], snapshot, { textOf: ({ id }) => id, newPatterns: undefined });
};

const newAccess: Case = (connections) => {
  const groups = range(40).map((index) => `group-${index}`);
  const state = (more: readonly string[]): ReturnType<typeof desiredState> =>
    desiredState(
      range(connections).map((index) =>
        connectionManifest(`db-${index}`, {
          access_mode_connect: 'disabled',
          access_mode_exec: 'enabled',
          reviewers: [groups[index % 40] ?? ''],
          access_groups: [...groups.slice(0, 1 + (index % 39)), ...more],
        }),
      ),
    );
  const given = { desired: state(['contractors']), live: liveAs(state([])), borrowed: ['Connection.access_groups'] };
  const { value: draft } = draftPlan(inputOf({ ...given, limits: { ...noLimits, newAccess: 'refuse' } }));
  if (draft === undefined) throw new Error('no draft');
  return () => newAccessRefusals(draft.prepared, draft, undefined);
};

/** Measures the rule that blocks many words. */
const manyWords: Case = (count) => {
  const words = range(count).map((index) => `w${index.toString(36)}`);
  const rule = desiredOf('GuardrailRule/rule', { written: { input: { rules: [{ type: 'deny_words_list', words }] } } });
  return () => lintRule(rule, patternCache());
};

const growths: readonly Growth[] = [
  {
    what: 'reading a manifest',
    few: 2000,
    times: 10,
    cases: Object.fromEntries(
      Object.entries(bombs).map(([name, textOf]) => [
        name,
        (length) => {
          const file = { path: 'bomb.yaml', text: textOf(length) };
          return () => parseDocuments(file);
        },
      ]),
    ),
  },
  { what: 'reading a template of a runbook', few: 100_000, times: 10, cases: reading(templateParts, readTemplate) },
  {
    what: 'reading a comment with a command',
    few: 6000,
    times: 10,
    cases: reading(commentParts, (text) => parseCommand(firstLineOf(text))),
  },
  {
    what: 'finding secrets in a response',
    few: 6000,
    times: 10,
    cases: reading(responseParts, (text) => [
      isOpaque(text),
      containsSecret(text, ['hunter2-canary']),
      makePrintable(text, ['Zx9#Qw7!Rt5']),
    ]),
  },
  {
    what: 'finding duplicate keys of a request',
    few: 100_000,
    times: 8,
    cases: Object.fromEntries(
      Object.entries(bodyParts).map(([name, part]) => [
        name,
        (length) => {
          const text = bodyOf(part, length);
          return () => duplicateKey(text);
        },
      ]),
    ),
  },
  {
    what: 'searching a text for a pattern',
    few: 100_000,
    times: 10,
    cases: Object.fromEntries(
      patterns.map((pattern) => [
        pattern,
        (length) => {
          const samples = ['a', 'ab', 'x ', 'drop '].map((part) => `${part.repeat(length / part.length)}!`);
          return () => {
            const compiled = compilePattern(pattern);
            return 'pattern' in compiled && samples.map((sample) => compiled.pattern.finds(sample));
          };
        },
      ]),
    ),
  },
  {
    what: 'compiling a pattern',
    few: 6000,
    times: 10,
    cases: Object.fromEntries(
      Object.entries(patternTexts).map(([name, textOf]) => [
        name,
        (length) => {
          const text = textOf(length);
          return () => {
            const compiled = compilePattern(text);
            return 'pattern' in compiled && [compiled.pattern.finds('a'.repeat(1000)), compiled.pattern.slowText()];
          };
        },
      ]),
    ),
  },
  {
    what: 'matching a name',
    few: 500,
    times: 10,
    cases: {
      stars: (length) => {
        const [glob, name] = [`${'*a'.repeat(30)}b`, 'a'.repeat(length)];
        return () => matchesGlob(glob, name);
      },
    },
  },
  { what: 'linting a rule', few: 5000, times: 10, cases: { words: manyWords } },
  {
    what: 'rows of a change',
    few: 2000,
    times: 10,
    cases: {
      'edited entries': (count) => {
        const edited = { ...change, fields: editsOf(count) };
        return () => changeRows(edited);
      },
    },
  },
  { what: 'the digest of a plan', few: 1000, times: 20, cases: { attachments: digestOfAttachments } },
  { what: 'proving what an interrupted apply wrote', few: 10_000, times: 10, cases: { attachments: pendingAttachments } },
  { what: 'checking access of 40 groups', few: 200, times: 5, cases: { 'access tests': accessTests, 'new access': newAccess } },
];

/** Returns the CPU milliseconds of several runs. */
function cpuOf(run: () => unknown, times = 1): number {
  const { user, system } = process.cpuUsage();
  for (let count = 0; count < times; count += 1) run();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1000;
}

/** A run that is shorter than this shows nothing but the compiler. */
const atOnceMs = 20;
const rounds = 3;

/** Returns the time of the long case, and how much more it takes than the short one as often as it is longer. Other work only adds: the least of several rounds counts. */
function measure(made: Case, { few, times }: Growth): { readonly ms: number; readonly ratio: number } {
  const [short, long] = [made(few), made(few * times)];
  cpuOf(short, times);
  const pairs = Array.from({ length: rounds }, () => ({ short: cpuOf(short, times), long: cpuOf(long) }));
  const ms = Math.min(...pairs.map((pair) => pair.long));
  return { ms, ratio: ms < atOnceMs ? 0 : Math.min(...pairs.map((pair) => pair.long / pair.short)) };
}

const found = growths.map((growth) => {
  const all = Object.entries(growth.cases).map(([name, made]) => ({ name, ...measure(made, growth) }));
  const [steepest] = all.toSorted((left, right) => right.ratio - left.ratio);
  const [slowest] = all.toSorted((left, right) => right.ms - left.ms);
  const { what, few, times, aim = 3 } = growth;
  return { what, few, many: few * times, aim, cases: all.length, steepest, slowest };
});
process.stdout.write(JSON.stringify(found));
