import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { applyDocument } from '../../src/report/subjects/apply.ts';
import { applyMarkdown, applyText, planJson, planMarkdown, planText } from '../../src/report/reports.ts';
import { progressLine } from '../../src/commands/output/progress.ts';
import { runReportMarkdown } from '../../src/report/markdown/comment.ts';
import { runBody } from '../../src/report/subjects/run-end.ts';
import { diagnosticsMarkdown } from '../../src/report/markdown/fit-to-limit.ts';
import { diagnosticsText } from '../../src/report/text/diagnostics.ts';
import { renderJson } from '../../src/report/serialize.ts';
import { explainDocument } from '../../src/report/subjects/explain.ts';
import { renderReportText } from '../../src/report/text/text.ts';
import { fileLinks } from '../../src/report/links.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { tableText } from '../../src/report/text/table.ts';
import { plainPalette, visibleWidth } from '../../src/report/wrap.ts';
import { id, path, ruleOn } from '../support/nasty-values.ts';
import { applied, diagnostic, plan, plans, position, value } from '../unit/report/nasty-plan.ts';
import { hasControls, nastyText, outsideCode } from '../unit/report/nasty-text.ts';

const columns = fc.integer({ min: 40, max: 140 });

/** Lines that are too wide, end with spaces or hold a control character. */
function badLines(text: string, width: number): readonly string[] {
  return text.split('\n').filter((line) => visibleWidth(line) > width || line !== line.trimEnd() || hasControls(line));
}

const linkOf = fileLinks({ page: 'https://github.com/o/r', commit: 'a'.repeat(40), pathOf: (file) => file });
/** Links to our repository, and marks of a quotation, once code is removed. */
const ownMarks =
  /\[(?:(?:&#124;)*|this run|comment|The full report)\]\(https:\/\/github\.com\/o\/r\/(?:blob\/a{10}\/[\w%./-]*#L\d+|commit\/[\w%.-]*|actions\/runs\/1|pull\/1#issuecomment-2)\)|^> /gm;

const ownTags = /^<details><summary>(?:<code>[^<>`]*<\/code>|[\w ,:]*)<\/summary>$|^<\/details>$/gm;

/** Lines with anything outside code that Markdown or GitHub would act on, or with control characters. */
function activeLines(markdown: string, marks: RegExp = /^$/g): readonly string[] {
  const outside = outsideCode(markdown)
    .replaceAll(marks, '')
    .replaceAll(ownTags, '')
    .replaceAll('&#124;', '')
    .replaceAll(/^####? /gm, '')
    .split('\n');
  const active = outside.filter((line) => {
    const pipes = line.split('|').length - 1;
    const cells = line.startsWith('|') ? [3, 5] : [0];
    return !cells.includes(pipes) || /[@<>[\]_~#`\\/&]|gh-\d|www\./i.test(line);
  });
  return [...active, ...markdown.split('\n').filter((line) => hasControls(line))];
}

function schema(name: string): object {
  return JSON.parse(readFileSync(`schemas/documents/${name}.schema.json`, 'utf8'));
}

describe('text', () => {
  it('of plans fits the terminal and contains no control character', () => {
    fc.assert(
      fc.property(plans, columns, (some, width) => {
        expect(badLines(planText(some, { color: plainPalette, columns: width }), width)).toEqual([]);
      }),
    );
  });

  it('of applies fits the terminal and contains no control character', () => {
    fc.assert(
      fc.property(applied, columns, (one, width) => {
        expect(badLines(applyText([one], { color: plainPalette, columns: width }), width)).toEqual([]);
      }),
    );
  });

  it('of diagnostics fits the terminal and contains no control character', () => {
    fc.assert(
      fc.property(fc.array(diagnostic, { maxLength: 4 }), columns, (some, width) => {
        expect(badLines(diagnosticsText(some, { color: plainPalette, columns: width }), width)).toEqual([]);
      }),
    );
  });

  it('of explanations fits the terminal and contains no control character', () => {
    const origin = fc.constantFrom('intent', 'pending', 'drift', 'both', 'adoption', 'held');
    const part = fc.record({ path, before: value, after: value, origin, at: position, why: nastyText });
    const row = fc.record({
      path,
      desired: value,
      live: value,
      base: value,
      status: fc.constantFrom('same', 'differs', 'kept', 'held', 'blocked'),
      at: position,
      why: nastyText,
      declared: fc.array(nastyText, { maxLength: 2 }),
      parts: fc.array(part, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        id,
        nastyText,
        fc.array(row, { maxLength: 4 }),
        fc.array(ruleOn, { maxLength: 3 }),
        columns,
        (one, summary, rows, rules, width) => {
          const explained = rules.map((rule) => ({ ...rule, verbs: rule.after?.controls ?? [] }));
          const document = explainDocument({ id: one, summary, rows, rules: explained });
          expect(badLines(renderReportText(document, { color: plainPalette, columns: width }), width)).toEqual([]);
          expect(hasControls(renderJson(document), true)).toBe(false);
        },
      ),
    );
  });

  it('of tables fits a terminal of any width and contains no control character', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(nastyText, nastyText, nastyText)), fc.nat(100), (rows, width) => {
        expect(badLines(tableText({ headers: ['name', 'type', 'reviewers'], rows }, width), width)).toEqual([]);
      }),
    );
  });

  it('of progress is one line', () => {
    fc.assert(
      fc.property(id, fc.nat(100), (one, width) => {
        const line = progressLine({ done: 1, total: 2, failed: 1, id: one }, width);
        expect(visibleWidth(line)).toBeLessThanOrEqual(width);
        expect(hasControls(line)).toBe(false);
      }),
    );
  });
});

describe('markdown', () => {
  it('of plans has nothing active outside code', () => {
    fc.assert(
      fc.property(plans, (some) => {
        const markdown = planMarkdown(some);
        expect(activeLines(markdown)).toEqual([]);
        expect(markdown.length).toBeLessThanOrEqual(65_536);
      }),
    );
  });

  it('of plans and diagnostics links only to our repository', () => {
    fc.assert(
      fc.property(plans, fc.array(diagnostic, { maxLength: 4 }), (some, found) => {
        expect(activeLines(planMarkdown(some, 65_536, linkOf), ownMarks)).toEqual([]);
        expect(activeLines(diagnosticsMarkdown(found, 65_536, linkOf), ownMarks)).toEqual([]);
      }),
    );
  });

  it('of comments has nothing active outside code, and fits', () => {
    const at = { commit: 'a'.repeat(40), runUrl: 'https://github.com/o/r/actions/runs/1' };
    const message = fc.record({
      title: nastyText,
      notes: fc.array(nastyText, { maxLength: 2 }),
      comments: fc.array(
        fc.record({ author: nastyText, command: nastyText, url: fc.constant('https://github.com/o/r/pull/1#issuecomment-2') }),
        {
          maxLength: 3,
        },
      ),
      diagnostics: fc.array(diagnostic, { maxLength: 4 }),
      plan: fc.option(plan, { nil: undefined }),
      version: fc.constant('1.2.3'),
    });
    fc.assert(
      fc.property(message, applied, fc.boolean(), (one, { result }, done) => {
        const markdown = runReportMarkdown({ ...one, ...runBody({ ...one, ...(done ? { result } : {}) }), at, linkOf }, 65_536);
        expect(activeLines(markdown, ownMarks)).toEqual([]);
        expect(markdown.length).toBeLessThanOrEqual(65_536);
      }),
    );
  });

  it('of applies has nothing active outside code', () => {
    fc.assert(
      fc.property(applied, (one) => {
        expect(activeLines(applyMarkdown([one]))).toEqual([]);
      }),
    );
  });

  it('opens and closes every folded section, whatever is omitted', () => {
    fc.assert(
      fc.property(plans, fc.nat(5000), (some, limit) => {
        const outside = outsideCode(planMarkdown(some, limit));
        const folds = outside.match(/<\/?details>/g) ?? [];
        expect(folds).toEqual(folds.map((_, index) => (index % 2 === 0 ? '<details>' : '</details>')));
        expect(folds.length % 2).toBe(0);
      }),
    );
  });

  it('fits any limit', () => {
    fc.assert(
      fc.property(plans, fc.nat(5000), (some, limit) => {
        expect(planMarkdown(some, limit).length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

describe('JSON', () => {
  const ajv = new Ajv2020({ strict: true });
  const validPlan = ajv.compile(schema('plan'));
  const validApply = ajv.compile(schema('apply'));

  it('of plans survives parsing, matches its schema and contains no control character', () => {
    fc.assert(
      fc.property(plans, (some) => {
        const text = planJson(some);
        const document = planDocument(some).json();
        expect(hasControls(text, true)).toBe(false);
        expect(JSON.parse(text)).toStrictEqual(document);
        expect([validPlan(document), validPlan.errors]).toStrictEqual([true, null]);
      }),
    );
  });

  it('of applies matches its schema', () => {
    fc.assert(
      fc.property(applied, (one) => {
        expect([validApply(applyDocument([one]).json()), validApply.errors]).toStrictEqual([true, null]);
      }),
    );
  });
});
