import type { JsonObject } from '../../model/json.ts';
import type { AccessRule } from '../../model/live.ts';
import type { RiskClass } from '../../model/plan/plan.ts';
import type { ControlColumn, ControlType } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Control, ControlComparison, Posture } from './control.ts';

/** Everything that Ostiary knows about one control type. */
export type ControlRow = ControlWording & {
  readonly type: ControlType;
  /** The fields that form it, by kind. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The fields of a connection that decide whether the gateway enforces it. */
  readonly conditions?: readonly string[];
  /** The field of a connection that decides what the entries of the others are worth, so that they are held only together. */
  readonly decides?: string;
  /** Reads the controls that a connection itself has. */
  readonly ofConnection?: (spec: JsonObject, accessRules: readonly AccessRule[]) => readonly Control[];
  /** The rules that bring it to connections. */
  readonly ofRules?: RuleControls;
  /** Returns what is lost and gained between two states of a whole connection. */
  readonly compare: (before: Posture, after: Posture) => ControlComparison;
  /** What a changed field of a kind does, as reasons of risks. */
  readonly risks: Readonly<Record<string, readonly FieldRisks[]>>;
};

/** How the rules of one kind bring controls to connections. */
export type RuleControls = {
  readonly kind: string;
  readonly read: (spec: JsonObject, rules: readonly ResourceId[]) => readonly Control[];
  /** What the rule does with what passes through a connection. */
  readonly verb: string;
  readonly attached: RiskCode;
  readonly detached: RiskCode;
};

/** The words of headlines and pages. A smaller weight is printed first. */
export type ControlWording = {
  readonly weight: number;
  readonly column: Omit<ControlColumn, 'type'>;
  /** What a headline names that cannot say more. */
  readonly about: string;
  /** What a type enforces, if that is not `about`. */
  readonly enforced?: string;
  readonly loses: PhraseBuilder;
  readonly gains: PhraseBuilder;
};

/** The phrase for one connection and for several. */
export type VerbPhrase = { readonly one: string; readonly many: string };

/** Builds the phrase for controls that are lost or gained, from the posture on the other side. */
export type PhraseBuilder = (controls: readonly Control[], other: Posture) => VerbPhrase;

/** Returns a verb phrase for one connection and for several. */
export function verbPhrase(one: string, many: string, rest: string): VerbPhrase {
  return { one: `${one} ${rest}`, many: `${many} ${rest}` };
}

/** A reason of a risk: its name, its usual class, its meaning, and the words of its headline. */
export type RiskCode = {
  readonly name: string;
  readonly class: RiskClass;
  readonly means: string;
  readonly headline?: VerbPhrase;
};

/** Returns a code whose usual effect is to weaken. */
export function weakening(name: string, means: string): RiskCode {
  return { name, class: 'weakens', means };
}

/** Returns a code whose usual effect is to strengthen. */
export function strengthening(name: string, means: string): RiskCode {
  return { name, class: 'strengthens', means };
}

/** Returns a code for what cannot be compared. */
export function uncertain(name: string, means: string): RiskCode {
  return { name, class: 'unknown', means };
}

/** A risk before it has a position: its code, the path of its field, and its class if that is not the usual one of the code. */
export type RiskDraft = { readonly code: RiskCode; readonly fields: readonly string[]; readonly class?: RiskClass };

/** The specs of an object before and after. */
export type SpecSides = { readonly before: JsonObject; readonly after: JsonObject };

/** Finds what changed fields do; `codes` lists all codes that it can find. */
export type FieldRisks = { readonly codes: readonly RiskCode[]; readonly find: (sides: SpecSides) => readonly RiskDraft[] };
