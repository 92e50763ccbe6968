import { describe, expect, it } from 'vitest';
import { optionIn, printerFor, recordPrinted } from '../../../../src/commands/output/printer.ts';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { createTestContext } from '../../../support/cli-context.ts';

const error: Diagnostic = { code: 'cli/usage', severity: 'error', message: 'one' };
const warning: Diagnostic = { code: 'cli/usage', severity: 'warning', message: 'two' };

describe('a printer', () => {
  it('prints errors alone where it is quiet', () => {
    const { context, printed } = createTestContext();
    const { hint, diagnostics } = printerFor(context, { color: true, quiet: true, full: false });
    hint('a hint\n');
    diagnostics([error, warning]);
    expect(printed()).toMatchObject({ stdout: '', stderr: 'error cli/usage  one\n1 error\n' });
  });

  it('prints a diagnostic once, and counts it again', () => {
    const { context, printed } = createTestContext();
    const { diagnostics } = printerFor({ ...context, printed: recordPrinted() }, { color: true, quiet: false, full: false });
    diagnostics([error]);
    diagnostics([error, warning]);
    expect(printed().stderr).toBe('error cli/usage  one\nwarning cli/usage  two\nand 1 error shown above\n');
  });

  it.each<[Readonly<Record<string, string>>, boolean, boolean]>([
    [{}, true, false],
    [{ FORCE_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, false],
  ])('with %j and color %s has colors: %s', (env, color, isColored) => {
    const { context } = createTestContext({ env });
    expect(printerFor(context, { color, quiet: false, full: false }).results.color.red('x') !== 'x').toBe(isColored);
  });
});

describe('options of a command line that the parser rejects', () => {
  it('have their last value', () => {
    expect(optionIn(['plan', '--format', 'text', '--format=json'], '--format')).toBe('json');
    expect(optionIn(['plan', '--format'], '--format')).toBeUndefined();
  });
});
