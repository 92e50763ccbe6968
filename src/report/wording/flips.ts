import type { Change } from '../../model/plan/plan.ts';
import type { SampleChange, Protection } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import { clip } from '../text/width.ts';

const longestSample = 100;

/** The samples that a change makes come out otherwise. */
export function flipsIn(protection: Protection | undefined, { id }: Pick<Change, 'id'>): readonly SampleChange[] {
  return (protection?.flips ?? []).filter(({ rule }) => rule === id);
}

/** What becomes of a sample: `blocked → allowed`, with the entity type of a masking rule before it. */
export function turnText({ type, before, after }: SampleChange): string {
  const turn = `${before} → ${after}`;
  return type === undefined ? turn : `${escapeTerminal(clip(type, 60))} ${turn}`;
}

/** The text of a sample in one line, and where it comes from if that is worth a word. */
export function sampleText({ text, side, gone }: SampleChange): { readonly text: string; readonly note: string } {
  const notes = [...(side === 'output' ? ['output'] : []), ...(gone === true ? ['the sample is taken out'] : [])];
  return { text: escapeTerminal(clip(text, longestSample)), note: notes.length === 0 ? '' : `(${notes.join('; ')})` };
}

/** Which way a sample goes: `-` it is less protected afterwards, `+` it is more, `!` nobody can tell. */
export function flipSign({ before, after }: SampleChange): '-' | '+' | '!' {
  if (before === 'blocked' || before === 'masked') return '-';
  return after === 'blocked' || after === 'masked' ? '+' : '!';
}

/** A flip as one line of text, escaped. */
export function flipText(flip: SampleChange): string {
  const { text, note } = sampleText(flip);
  return `${turnText(flip)}: ${text}${note === '' ? '' : ` ${note}`}`;
}

/** A flip as a line of a diff. */
export function flipLine(flip: SampleChange): string {
  return `${flipSign(flip)} ${flipText(flip)}`;
}
