import { describe, expect, it } from 'vitest';
import { createLines, cutCodeFrame } from '../../../../src/manifest/yaml/code-frame.ts';

function at(line: number, column: number): { readonly file: string; readonly line: number; readonly column: number } {
  return { file: 'a.yaml', line, column };
}

describe('frameOf', () => {
  const text = createLines('first\nsecond: x\nthird\n');

  it('shows the line and the line before it', () => {
    expect(cutCodeFrame(text, at(2, 9))).toStrictEqual({ line: 1, lines: ['first', 'second: x'], caret: { column: 9, length: 1 } });
  });

  it('shows only the first line if there is none before it', () => {
    expect(cutCodeFrame(text, at(1, 1), 5)).toStrictEqual({ line: 1, lines: ['first'], caret: { column: 1, length: 5 } });
  });

  it('marks at least one character and ends with the line', () => {
    expect(cutCodeFrame(text, at(3, 4), 90).caret).toStrictEqual({ column: 4, length: 2 });
    expect(cutCodeFrame(text, at(3, 6), 0).caret).toStrictEqual({ column: 6, length: 1 });
  });

  it('accepts a position after the end of the text', () => {
    expect(cutCodeFrame(createLines(''), at(1, 1)).lines).toStrictEqual(['']);
    expect(cutCodeFrame(createLines('one\n'), at(9, 9)).lines.at(-1)).toBe('');
  });

  it('shows no control characters and no carriage return', () => {
    expect(cutCodeFrame(createLines('a\tb\u001bc\r\nnext\r\n'), at(2, 1)).lines).toStrictEqual(['a b\ufffdc', 'next']);
  });

  it.each([1, 50, 119, 500, 940, 999])('clips long lines around the caret at column %i', (column) => {
    const line = Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    const { lines, caret } = cutCodeFrame(createLines(`${line}\n${line}`), at(2, column), 3);
    expect(lines.map((each) => each.length <= 120)).toStrictEqual([true, true]);
    expect(lines[0]).toBe(lines[1]);
    expect(lines[1]?.[caret.column - 1]).toBe(line[column - 1]);
  });
});
