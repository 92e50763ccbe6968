import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AssessedChange, Plan } from '../../../src/model/plan/plan.ts';
import { renderReport } from '../../../src/report/formats.ts';
import { quietPlan } from './quiet-plan.ts';
import type { Diagnostic, Severity } from '../../../src/model/diagnostic.ts';
import { annotationCommands } from '../../../src/report/annotations.ts';
import type { Annotation } from '../../../src/report/blocks.ts';
import { diagnosticAnnotations } from '../../../src/report/subjects/annotations.ts';
import { diagnosticsText } from '../../../src/report/text/diagnostics.ts';
import { sarifDocument } from '../../../src/report/sarif.ts';
import { toJsonText } from '../../../src/report/serialize.ts';
import { findingsDocument } from '../../../src/report/subjects/findings.ts';
import { plainPalette } from '../../../src/report/wrap.ts';
import { hasControls, nastyText } from './nasty-text.ts';

const severity = fc.constantFrom<Severity>('error', 'warning', 'notice');
const at = fc.record({ file: nastyText, line: fc.integer({ min: 1, max: 99 }), column: fc.integer({ min: 1, max: 99 }) });
const annotation: fc.Arbitrary<Annotation> = fc.record(
  { severity, title: nastyText, message: nastyText, at },
  { requiredKeys: ['severity', 'title', 'message'] },
);
const diagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  { code: fc.constantFrom('manifest/none', 'manifest/yaml'), severity, message: nastyText, hint: nastyText, at },
  { requiredKeys: ['code', 'severity', 'message'] },
);

describe('annotations', () => {
  test('are one command a line, ten of each severity at most, the first ones first', () => {
    fc.assert(
      fc.property(fc.array(annotation, { maxLength: 60 }), (all) => {
        const lines = annotationCommands(all, (file) => file)
          .split('\n')
          .slice(0, -1);
        for (const one of ['error', 'warning', 'notice'] as const) {
          const asked = all.filter((other) => other.severity === one).length;
          const shown = lines.filter((line) => line.startsWith(`::${one} `));
          expect(shown).toHaveLength(Math.min(10, asked));
          expect(shown.at(-1)?.includes(`and ${asked - 9} more`) ?? false).toBe(asked > 10);
        }
        expect(lines.every((line) => /^::(?:error|warning|notice) (?:file=[^:,]*,line=\d+,col=\d+,)?title=[^:,]*::/.test(line))).toBe(true);
        expect(hasControls(lines.join(''))).toBe(false);
      }),
    );
  });

  test('of diagnostics keep their place, code and hint', () => {
    const one: Diagnostic = {
      code: 'manifest/none',
      severity: 'error',
      message: 'a, b: 100%',
      hint: 'do',
      at: { file: 'x.yaml', line: 3, column: 5 },
    };
    expect(annotationCommands(diagnosticAnnotations([one]), (file) => `top/${file}`)).toBe(
      '::error file=top/x.yaml,line=3,col=5,title=manifest/none::a, b: 100%25; do\n',
    );
    expect(annotationCommands(diagnosticAnnotations([one]), () => undefined)).toBe('::error title=manifest/none::a, b: 100%25; do\n');
  });
});

const changed: AssessedChange = {
  id: 'Connection/db',
  action: 'update',
  at: { file: 'db.yaml', line: 1, column: 1 },
  fields: [
    { path: '/command', before: { value: ['a'] }, after: { value: ['b'] } },
    { path: '/reviewers', before: { value: ['dba'] }, after: { value: [] } },
  ],
  positions: {
    byPath: { '/command': { file: 'db.yaml', line: 5, column: 3 }, '/reviewers': { file: 'db.yaml', line: 9, column: 3 } },
  },
  needs: [],
  carried: [],
  risks: [],
};

/** Returns the annotations of a plan with one change. */
function planCommands(change: Partial<AssessedChange>, refusals: Plan['refusals'] = []): Promise<string> {
  const plan: Plan = { ...quietPlan(), orphans: [], changes: [{ ...changed, ...change }], refusals };
  const run = { targets: [{ diagnostics: [], plan }], version: '1.2.3', pathOf: (file: string) => file, fallback: 'ostiary.yaml' };
  return renderReport(findingsDocument(run), 'annotations');
}

describe('annotations of plans', () => {
  const removed = { code: 'risk/review', class: 'weakens', path: '/reviewers' } as const;
  const added = { code: 'risk/review', class: 'strengthens', path: '/reviewers' } as const;
  const refusal = {
    code: 'risk/review',
    message: 'it weakens',
    hint: 'say why',
    allowable: true,
    resource: 'Connection/db',
  } as const;

  test.each([
    ['a warning at the line that weakens', { risks: [added, removed] }, [], '::warning file=db.yaml,line=9,col=3,'],
    ['a notice at the line that strengthens', { risks: [added] }, [], '::notice file=db.yaml,line=9,col=3,'],
    ['a notice at the first changed line without a risk', {}, [], '::notice file=db.yaml,line=5,col=3,'],
    ['at the place of the risk', { risks: [{ ...removed, place: 'tags.yaml:4:7' }] }, [], '::warning file=tags.yaml,line=4,col=7,'],
    [
      'an error at the changed line for a refusal',
      { risks: [removed] },
      [refusal],
      '::error file=db.yaml,line=9,col=3,title=risk/review::',
    ],
    ['at the manifest for a new object', { action: 'create', risks: [] }, [], '::notice file=db.yaml,line=1,col=1,'],
  ] as const)('%s', async (_, change, refusals, expected) => {
    expect(await planCommands(change, refusals)).toContain(expected);
  });
});

describe('SARIF', () => {
  test('has a rule for every result, and a path in the repository', () => {
    fc.assert(
      fc.property(fc.array(diagnostic, { maxLength: 10 }), (all) => {
        const run = { targets: [{ diagnostics: all }], version: '1.2.3', pathOf: (file: string) => file, fallback: 'ostiary.yaml' };
        const text = toJsonText(sarifDocument(findingsDocument(run)));
        const { version, runs } = JSON.parse(text);
        expect(version).toBe('2.1.0');
        expect(runs[0].results).toHaveLength(new Set(all.map((one) => JSON.stringify(one))).size);
        for (const { ruleId, ruleIndex, level, message, locations } of runs[0].results) {
          expect(runs[0].tool.driver.rules[ruleIndex].id).toBe(ruleId);
          expect(['error', 'warning', 'note']).toContain(level);
          expect(message.text).not.toMatch(/(?<!\\)\[[^\]]*\]\(/);
          const [{ physicalLocation }] = locations;
          expect(physicalLocation.artifactLocation.uri).toMatch(/^[\w%./!~*'()-]*$/);
          expect(physicalLocation.region.startLine).toBeGreaterThan(0);
        }
        expect(hasControls(text, true)).toBe(false);
      }),
    );
  });
});

test('the problem matcher reads the printed lines', () => {
  const { problemMatcher } = JSON.parse(readFileSync('examples/github/problem-matcher.json', 'utf8'));
  const [{ pattern }] = problemMatcher;
  const [{ regexp, ...groups }] = pattern;
  const one: Diagnostic = {
    code: 'manifest/none',
    severity: 'warning',
    message: 'a: b',
    hint: 'do',
    at: { file: 'x y.yaml', line: 3, column: 5 },
  };
  const [line = ''] = diagnosticsText([one], { color: plainPalette }).split('\n');
  const found = new RegExp(regexp).exec(line) ?? [];
  const read = Object.entries<number>(groups).map(([name, index]) => [name, found[index]]);
  expect(Object.fromEntries(read)).toEqual({
    file: 'x y.yaml',
    line: '3',
    column: '5',
    severity: 'warning',
    code: 'manifest/none',
    message: 'a: b',
  });
});
