import type { JsonObject } from '../../model/json.ts';
import type { ControlType, RuleEffect } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Enforcement } from './enforcement.ts';

/** One control between people and a connection. In `access`, `schema` and `force` it grants access instead. */
export type Control = {
  /** The identity within its control type: a group, a word, an entity type. */
  readonly name: string;
  /** A `word` covers every longer word that contains it; a `pattern` covers what its language contains. */
  readonly form?: 'word' | 'pattern';
  /** The custom entity type that defines it. */
  readonly entityType?: string;
  /** The word or the pattern of a custom entity type, without the name of the type. */
  readonly content?: string;
  /** Lower is stricter: seconds, or the score (0 to 1) from which something is masked. */
  readonly limit?: number;
  /** The limit is relative to the gateway's own threshold, which cannot be compared with a number. */
  readonly relativeToGateway?: true;
  /** The text in reports, if that is not the name. */
  readonly text?: string;
  /** The rules that contribute it. */
  readonly rules?: readonly ResourceId[];
};

/** A sample of a reviewed manifest, which is evidence where two patterns cannot be compared. */
export type SampleText = { readonly aspect: ControlType; readonly text: string };

/** Everything between people and one connection. */
export type Posture = {
  readonly controls: Readonly<Partial<Record<ControlType, readonly Control[]>>>;
  /** The number of reviewer groups that must approve. */
  readonly approvals: number;
  /** The longest access in seconds where the connection sets no limit; absent when the gateway does not report it. */
  readonly longestAccess?: number;
  /** Whether the gateway can read what passes through the connection. */
  readonly enforcement: Enforcement;
  /** Samples that the rules on the connection must block or mask. */
  readonly samples: readonly SampleText[];
  /** Control types that may have more controls than can be read. */
  readonly incomplete: ReadonlySet<ControlType>;
  readonly tags: JsonObject;
  /** The rules on the connection, sorted by id: their control types and attachments. */
  readonly rules: ReadonlyMap<ResourceId, RuleEffect>;
};

/** The posture of a connection that does not exist. */
export const emptyPosture: Posture = {
  controls: {},
  approvals: 0,
  enforcement: { by: '', kind: 'reads' },
  samples: [],
  incomplete: new Set(),
  tags: {},
  rules: new Map(),
};

const none: readonly Control[] = [];

/** Returns the controls of one type. */
export function controlsOf({ controls }: Posture, aspect: ControlType): readonly Control[] {
  return controls[aspect] ?? none;
}

/** Returns whether a connection is accessible and nothing protects it: no review, no guardrail, no masking, no redaction. */
export function isUnprotected(posture: Posture): boolean {
  const masking: readonly ControlType[] = posture.enforcement.kind === 'forwards' ? [] : ['masking'];
  const protecting: readonly ControlType[] = ['review', 'requests', 'input', 'output', 'redaction', ...masking];
  return controlsOf(posture, 'access').length > 0 && protecting.every((aspect) => controlsOf(posture, aspect).length === 0);
}

/** How two states of one control type compare: what was certainly lost or gained, and what cannot be compared. */
export type ControlComparison = {
  readonly lost: readonly Control[];
  readonly gained: readonly Control[];
  readonly incomparable: readonly Control[];
  /** Added controls of which Ostiary cannot decide whether others cover them already. They remove nothing. */
  readonly coexisting: readonly Control[];
  /** The texts that only one side has, as reports print them. */
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** Returns the texts of controls as reports print them. */
export function controlTexts(controls: readonly Control[]): readonly string[] {
  return controls.map(({ name, text }) => text ?? name);
}

/** Returns the texts that only one of two lists has. */
export function exclusiveTexts(before: readonly string[], after: readonly string[]): Pick<ControlComparison, 'before' | 'after'> {
  const [first, last] = [new Set(before), new Set(after)];
  return { before: before.filter((text) => !last.has(text)), after: after.filter((text) => !first.has(text)) };
}
