import type { Change } from '../../model/plan/plan.ts';
import type { SampleChange, Protection } from '../../model/protection/protection.ts';
import { escapeTerminal } from '../escape.ts';
import { clip } from '../text/wrap.ts';

const longestSample = 100;

/** Returns the samples whose result a change affects. */
export function sampleChangesOf(protection: Protection | undefined, { id }: Pick<Change, 'id'>): readonly SampleChange[] {
  return (protection?.flips ?? []).filter(({ rule }) => rule === id);
}

/** Returns the results before and after, such as `blocked → allowed`, with the entity type of a masking rule before them. */
export function sampleTurn({ type, before, after }: SampleChange): string {
  const turn = `${before} → ${after}`;
  return type === undefined ? turn : `${escapeTerminal(clip(type, 60))} ${turn}`;
}

/** Returns the text of a sample in one line, with a note for output samples and for removed samples. */
export function sampleText({ text, side, gone }: SampleChange): { readonly text: string; readonly note: string } {
  const notes = [...(side === 'output' ? ['output'] : []), ...(gone === true ? ['the sample is taken out'] : [])];
  return { text: escapeTerminal(clip(text, longestSample)), note: notes.length === 0 ? '' : `(${notes.join('; ')})` };
}

/** Returns `-` for a sample that is less protected after the change, `+` for one that is more protected, `!` if they cannot be compared. */
export function sampleSign({ before, after }: SampleChange): '-' | '+' | '!' {
  if (before === 'blocked' || before === 'masked') return '-';
  return after === 'blocked' || after === 'masked' ? '+' : '!';
}

/** Returns a changed sample as one line, escaped. */
export function sampleChangeText(flip: SampleChange): string {
  const { text, note } = sampleText(flip);
  return `${sampleTurn(flip)}: ${text}${note === '' ? '' : ` ${note}`}`;
}

/** Returns a changed sample as a line of a diff. */
export function sampleChangeLine(flip: SampleChange): string {
  return `${sampleSign(flip)} ${sampleChangeText(flip)}`;
}
