import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codeBlock,
  codeSpan,
  escapeCommandData,
  escapeCommandProperty,
  escapeHtmlText,
  escapeMarkdown,
  escapeTerminal,
} from '../../src/report/escape.ts';
import { hasControls, nastyText, outsideCode } from '../unit/report/nasty-text.ts';

describe('escapes', () => {
  it('leave no control character in terminal output, and change nothing twice', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        const escaped = escapeTerminal(text);
        expect(hasControls(escaped)).toBe(false);
        expect(escapeTerminal(escaped)).toBe(escaped);
      }),
    );
  });

  it('leave no markup in HTML', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(escapeHtmlText(text)).not.toMatch(/[<>"'`\p{Cc}\p{Cf}]|&(?!#\d+;)/u);
      }),
    );
  });

  it('leave no end of a workflow command', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(hasControls(escapeCommandData(text))).toBe(false);
        expect(escapeCommandData(text)).not.toMatch(/%(?!25|0D|0A)/);
        expect(escapeCommandProperty(text)).not.toMatch(/[:,]|%(?!25|0D|0A|3A|2C)/);
      }),
    );
  });

  it('leave no active Markdown outside code', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        const escaped = escapeMarkdown(text);
        expect(hasControls(escaped)).toBe(false);
        expect(outsideCode(escaped).replaceAll('&#124;', '')).not.toMatch(/[@<>[\]|*_~#`\\/&]|gh-\d|www\.|:\w/i);
      }),
    );
  });

  it('put any text into code spans, without a pipe, and keep it', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        const span = codeSpan(text);
        expect(span).not.toContain('|');
        expect(outsideCode(span).replaceAll('&#124;', '')).toBe('');
      }),
    );
  });

  it('put any lines into a complete block', () => {
    fc.assert(
      fc.property(fc.array(nastyText), (lines) => {
        const block = codeBlock(lines, 'diff').split('\n');
        const fence = /^`+/.exec(block[0] ?? '')?.[0] ?? '';
        expect(block.slice(1).findIndex((line) => line.startsWith(fence))).toBe(Math.max(1, lines.length));
      }),
    );
  });
});
