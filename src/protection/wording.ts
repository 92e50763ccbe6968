import type { ControlType } from '../model/protection/protection.ts';
import { controlRow } from './controls/control-table.ts';
import { verbPhrase, type VerbPhrase } from './controls/control-row.ts';
import { controlsOf, type Control, type Posture } from './controls/control.ts';
import { isSameEnforcement } from './controls/enforcement.ts';

/** The wording for one connection and for several. A smaller weight is printed first. */
export type Wording = VerbPhrase & { readonly weight: number };

/** The verdicts that have a wording; a mixed difference has two phrases. */
export type WordedVerdict = 'weakens' | 'strengthens' | 'unknown';

/** The controls that the phrase is about, and the postures of the connection. */
type WordingContext = { readonly controls: readonly Control[]; readonly before: Posture; readonly after: Posture };

/** Returns the verb phrase for a changed control type; it follows the number of connections. */
export function wordingFor(aspect: ControlType, way: WordedVerdict, context: WordingContext): Wording {
  const { weight, about, loses, gains } = controlRow(aspect);
  const enforcement = enforcementPhrase(aspect, way, context);
  if (enforcement !== undefined) return { weight, ...enforcement };
  if (way === 'unknown') return { weight, ...verbPhrase('changes', 'change', `${about} in a way that cannot be compared`) };
  // The controls on the other side decide whether all or some of them were lost or gained.
  return { weight, ...(way === 'weakens' ? loses(context.controls, context.after) : gains(context.controls, context.before)) };
}

/** Returns the phrase for a type that enforces a control otherwise than the type before. */
function enforcementPhrase(aspect: ControlType, way: WordedVerdict, { before, after }: WordingContext): VerbPhrase | undefined {
  const { conditions, about, enforced: what = about } = controlRow(aspect);
  const [first, last] = [before.enforcement, after.enforcement];
  if (conditions === undefined || isSameEnforcement(first, last)) return undefined;
  if (way === 'unknown') return verbPhrase('changes', 'change', `to a type that may enforce ${what} otherwise`);
  const isMissing = controlsOf(way === 'weakens' ? before : after, aspect).length === 0;
  if (isMissing || first.kind === last.kind) return undefined;
  return way === 'weakens'
    ? verbPhrase('no longer enforces', 'no longer enforce', what)
    : verbPhrase('starts', 'start', `to enforce ${what}`);
}

const longest = 60;

/** Cuts a text to 60 characters. */
export function cutText(text: string): string {
  const characters = Array.from(text.slice(0, 4 * longest));
  return characters.length > longest ? `${characters.slice(0, longest - 3).join('')}...` : text;
}

/** Cuts a text to 60 characters and puts it in quotes, without escaping. */
export function shortText(text: string): string {
  return `"${cutText(text)}"`;
}
