// How the cost of texts and lists grows with their length: of functions, and of validating a file with many mistakes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf } from './fixture.js';

const config = 'apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets: { bench: { url: "http://127.0.0.1:9" } }\n';
const fields = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec:\n';
const rule = 'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec:\n  connection_ids:\n';
const test = 'apiVersion: ostiary/v1\nkind: AccessTest\nmetadata: { name: a }\nspec:\n';

function repeat(count, textOf) {
  return Array.from({ length: count }, (_, index) => textOf(index)).join('');
}

/** Files with many of one mistake, and the exit code of `validate`. */
const files = [
  { what: 'unknown fields', expect: 3, textOf: (count) => fields + repeat(count, (index) => `  f${index}: 1\n`) },
  {
    what: 'unknown fields in one line',
    expect: 3,
    textOf: (count) => `${fields.trimEnd()} {${repeat(count, (index) => ` f${index}: 1,`)} }\n`,
  },
  {
    what: 'invalid secrets in one line',
    expect: 3,
    textOf: (count) => `${fields}  secret: {${repeat(count, (index) => ` A${index}: x,`)} }\n`,
  },
  { what: 'unknown connection_ids', expect: 0, textOf: (count) => rule + repeat(count, (index) => `  - c${index}\n`) },
  { what: 'duplicate connection_ids', expect: 3, textOf: (count) => rule + repeat(count, (index) => `  - c${index >> 1}\n`) },
  { what: 'duplicate fields', expect: 3, textOf: (count) => fields + repeat(count, (index) => `  f${index >> 1}: 1\n`) },
  { what: 'invalid secrets', expect: 3, textOf: (count) => `${fields}  secret:\n${repeat(count, (index) => `    A${index}: x\n`)}` },
  {
    what: 'empty secrets with invalid names',
    expect: 3,
    textOf: (count) => `${fields}  secret:\n${repeat(count, (index) => `    A${index}: {}\n`)}`,
  },
  {
    what: 'invalid ignore entries',
    expect: 3,
    textOf: (count) => manifestOf(0).replace('name: db-0', `name: a\n  ignore: [${repeat(count, (index) => `/spec/a${index},`)}]`),
  },
  {
    what: 'groups without a name',
    expect: 3,
    textOf: (count) => `${fields}  groups:\n${repeat(count, () => '  - { until: 2030-01-01 }\n')}`,
  },
  {
    what: 'duplicate groups with an end',
    expect: 3,
    textOf: (count) => `${fields}  groups:\n${repeat(count, (index) => `  - { group: g${index >> 1}, until: 2030-01-01 }\n`)}`,
  },
  {
    what: 'invalid expectations',
    expect: 3,
    textOf: (count) =>
      test + repeat(count, (index) => `  - { group: g${index}, on: [a], expect: { approval: { from: [x], at_most: 1 } } }\n`),
  },
  { what: 'duplicate manifests', expect: 3, textOf: (count) => repeat(count / 16, () => `---\n${manifestOf(0)}`) },
];

/** Adds a row for each function, with its steepest case, and one for each file, as CPU per entry at two lengths. */
export async function growthRows({ folder, run, cli, bundled, row }) {
  const { stdout } = run([await bundled('growth')]);
  for (const { what, few, many, aim, cases, steepest, slowest } of JSON.parse(stdout)) {
    const growth = `${steepest.ratio.toFixed(2)} × (${steepest.name})`;
    const lengths = `${few.toLocaleString('en')} → ${many.toLocaleString('en')}`;
    row(
      `${what}, ${lengths}, the steepest of ${cases}`,
      `${growth}, at most ${slowest.ms.toFixed(0)} ms`,
      `≤ ${aim} ×, 2,000 ms`,
      steepest.ratio <= aim && slowest.ms <= 2000,
    );
  }
  for (const { what, textOf, expect } of files) {
    const [few, many] = [10_000, 60_000].map((count) => {
      const cwd = join(folder, 'growth', what.replaceAll(' ', '-'), String(count));
      mkdirSync(join(cwd, 'access'), { recursive: true });
      writeFileSync(join(cwd, 'ostiary.yaml'), config);
      writeFileSync(join(cwd, 'access', 'many.yaml'), textOf(count));
      return { count, cpu: run([cli, 'validate'], { cwd, expect }).cpu };
    });
    const growth = many.cpu / many.count / (few.cpu / few.count);
    row(
      `validate with ${many.count.toLocaleString('en')} ${what}, CPU per entry`,
      `${growth.toFixed(2)} × that of ${few.count.toLocaleString('en')} (${many.cpu.toFixed(0)} ms)`,
      '≤ 1 × (linear)',
      growth <= 1,
    );
  }
}

/** Adds a row for each kind of rule, or for one of them: how the cost of a plan and the order of its writes grows with attachments, in the steepest case. */
export async function orderRows({ full, kind: only, run, bundled, row }) {
  const { stdout } = run([await bundled('write-order'), ...(only === undefined ? [] : [only]), ...(full ? ['full'] : [])]);
  for (const line of stdout.trim().split('\n')) {
    const { kind, few, many, found } = JSON.parse(line);
    const [steepest] = found.toSorted((one, other) => other.exponent - one.exponent);
    const sizes = [few, many].map(({ connections, rules }) => `${connections} × ${rules}`).join(' → ');
    const times = found.map(({ action, ms }) => `${action} ${ms.toFixed(0)} ms`).join(', ');
    row(
      `plan of ${kind} on connections, ${sizes}, exponent in attachments`,
      `${steepest.exponent.toFixed(2)} (${steepest.action}; ${times})`,
      '≤ 1.1',
      steepest.exponent <= 1.1,
    );
  }
}
