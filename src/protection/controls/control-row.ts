import { accessModes, type AccessMode, defaultRoles } from '../../model/protection/access-objects.ts';
import { joinWords } from '../../model/collections.ts';
import { type JsonObject } from '../../model/json.ts';
import type { AccessLimits } from '../../model/live.ts';
import type { RiskClass } from '../../model/plan/plan.ts';
import type { ControlColumn, ControlType, RuleEffect } from '../../model/protection/protection.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AccessFacts } from '../access/access-index.ts';
import { canUse, type ConnectionAccess } from '../access/effective-access.ts';
import { isUsedWithoutReview, neededFor } from '../access/people.ts';
import type { Difference } from '../access/terms.ts';
import {
  type ConnectionEnforcement,
  type EnforcingGateway,
  enforcementNote,
  enforcementOf,
  isChecked,
  isEnforcedControl,
  levelsOf,
} from './enforcement.ts';

/** One control between people and a connection. In `access`, `schema` and `force` it grants access instead. */
export type Control = {
  /** The identity within its control type: a group, a word, an entity type. */
  readonly name: string;
  /** A `word` covers every longer word that contains it; a `pattern` covers what its language contains. */
  readonly form?: 'word' | 'pattern';
  /** The custom entity type that defines it. */
  readonly entityType?: string;
  /** What identifies it, if that is not the name: the word or the pattern of a custom entity type, or nothing for everybody. */
  readonly content?: string | undefined;
  /** Lower is stricter: seconds, or the score (0 to 1) from which something is masked. */
  readonly limit?: number;
  /** The limit is relative to the gateway's own threshold, which cannot be compared with a number. */
  readonly relativeToGateway?: true;
  /** The text in reports, if that is not the name. */
  readonly text?: string;
  /** The rules that contribute it. */
  readonly rules?: readonly ResourceId[];
};

/** What a gateway decides about access to all its connections, beside them and the rules on them. */
export type GatewayAccess = {
  /** The connections for which the gateway enforces their own limit, if not all. */
  readonly license?: AccessLimits | undefined;
  /** The longest access in seconds where a connection sets no limit, if the gateway reports it. */
  readonly longestAccess?: number | undefined;
  /** Control types to which the gateway may add what is not read. */
  readonly incomplete: ReadonlySet<ControlType>;
  /** What decides whether it enforces rules. */
  readonly enforcing: EnforcingGateway;
};

/** What the rows of access control are called among the kinds that decide a control. */
export const accessControlRows = 'access-control';

/** A sample of a reviewed manifest, which is evidence where two patterns cannot be compared. */
export type SampleText = { readonly control: ControlType; readonly text: string };

/** Everything between people and one connection. */
export type Posture = {
  readonly controls: Readonly<Partial<Record<ControlType, readonly Control[]>>>;
  /** Which groups can use it, and what they need. */
  readonly access: ConnectionAccess;
  /** How its sessions enforce rules. */
  readonly enforcement: ConnectionEnforcement;
  /** Samples that rules must block or mask, by rule. */
  readonly samples: ReadonlyMap<ResourceId, readonly SampleText[]> | undefined;
  /** Control types that may have more controls than can be read. */
  readonly incomplete: ReadonlySet<ControlType>;
  readonly tags: JsonObject;
  /** The rules on the connection, sorted by id: their control types and attachments. */
  readonly rules: ReadonlyMap<ResourceId, RuleEffect>;
};

/** The posture of a connection that does not exist. */
export const emptyPosture: Posture = {
  controls: {},
  access: {
    roles: defaultRoles,
    groups: undefined,
    machines: [],
    isControlled: false,
    open: new Set(),
    rules: { jit: undefined, command: undefined },
    own: undefined,
    license: undefined,
    ownLimit: undefined,
    longest: undefined,
    mayAnalyzeNative: false,
    analyzer: undefined,
    runbooks: undefined,
  },
  enforcement: enforcementOf({ access_mode_connect: 'enabled', access_mode_exec: 'enabled' }, {}),
  samples: undefined,
  incomplete: new Set(),
  tags: {},
  rules: new Map(),
};

const none: readonly Control[] = [];

/** Returns the controls of one type. */
export function controlsOf({ controls }: Posture, control: ControlType): readonly Control[] {
  return controls[control] ?? none;
}

/** Lists the open access modes that some people, other than admins and auditors, or machine identities use without review. */
export function unreviewedModes(posture: Posture): readonly Control[] {
  // Where the groups that see the connection cannot be read, everybody may.
  const access = posture.incomplete.has('who') ? { ...posture.access, groups: undefined } : posture.access;
  const isByMachine = access.machines.length > 0 && neededFor(access, [access.roles.admin], 'connect').by === undefined;
  const isFree = (mode: AccessMode): boolean =>
    access.open.has(mode) && ((mode === 'connect' && isByMachine) || isUsedWithoutReview(access, mode));
  return controlsOf(posture, 'access').filter(({ name }) => accessModes.some((mode) => mode === name && isFree(mode)));
}

/** Returns whether the members of some groups use one of the modes without review. */
export function useWithoutReview({ access }: Posture, member: readonly string[], modes: readonly Control[]): boolean {
  const isNamed = (mode: AccessMode): boolean => modes.some(({ name }) => name === mode);
  return accessModes.some((mode) => isNamed(mode) && canUse(access, member, mode) && neededFor(access, member, mode).by === undefined);
}

/** Returns the controls of one type that all sessions by one verb, or by every one that is open, certainly check. */
export function effectiveControls(posture: Posture, control: ControlType, verb?: AccessMode): readonly Control[] {
  const controls = controlsOf(posture, control);
  if (controls.length === 0 || !isEnforcedControl(control)) return controls;
  return levelsOf(posture.enforcement, control, verb).every(isChecked) ? controls : none;
}

/** Returns whether the gateway refuses sessions by the protocol of a connection because their proxy cannot enforce a guardrail on it. */
export function refusesSessions(posture: Posture | undefined): boolean {
  if (posture === undefined || !posture.access.open.has('connect')) return false;
  return (['input', 'output'] as const).some(
    (control) => controlsOf(posture, control).length > 0 && levelsOf(posture.enforcement, control, 'connect').includes('refused'),
  );
}

/** Returns the texts of controls of one type as reports show them, with what sessions do otherwise than to enforce them. */
export function enforcedTexts(posture: Posture, control: ControlType): readonly string[] {
  const controls = controlsOf(posture, control);
  const note = controls.length === 0 || !isEnforcedControl(control) ? undefined : enforcementNote(posture.enforcement, control);
  if (note === undefined || !isEnforcedControl(control)) return controlTexts(controls);
  return levelsOf(posture.enforcement, control).every((level) => level === 'unchecked') ? [note] : [...controlTexts(controls), note];
}

/** How two states of one control type compare: what was certainly lost or gained, and what cannot be compared. */
export type ControlComparison = {
  readonly lost: readonly Control[];
  readonly gained: readonly Control[];
  readonly incomparable: readonly Control[];
  /** Added controls of which Ostiary cannot decide whether others cover them already. They remove nothing. */
  readonly coexisting: readonly Control[];
  /** Added and removed controls that no session enforces. */
  readonly unenforced: readonly Control[];
};

/** Returns the texts of controls as reports print them. */
export function controlTexts(controls: readonly Control[]): readonly string[] {
  return controls.map(({ name, text }) => text ?? name);
}

/** Everything that Ostiary knows about one control type. */
export type ControlRow = ControlWording & {
  readonly type: ControlType;
  /** The fields that form it, by kind. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The only parts of its fields that form it. */
  readonly within?: readonly Pointer[];
  /** Returns whether the spec of a connection shows all of it, whatever else of it is unread. */
  readonly isRead?: (spec: JsonObject) => boolean;
  /** Another control that does the same for what both name. */
  readonly coveredBy?: ControlType;
  /** The fields of a connection that decide whether the gateway enforces it, or has it. */
  readonly conditions?: readonly string[];
  /** The fields of a connection that decide whether it can have any. */
  readonly selects?: readonly string[];
  /** Other controls that it brings: what may be unread of one is unread of it. */
  readonly decidedWith?: readonly ControlType[];
  /** The field of a connection that decides what the entries of the others are worth, so that they are held only together. */
  readonly decides?: string;
  /** Reads the controls that a connection itself has. */
  readonly ofConnection?: (spec: JsonObject, access: { readonly facts: AccessFacts; readonly is: ConnectionAccess }) => readonly Control[];
  /** The rules that bring it to connections. */
  readonly ofRules?: RuleControls;
  /** By kind, the objects that decide it together. */
  readonly ofAccess?: Readonly<Record<string, Pick<RuleControls, 'verb'>>>;
  /** Compares what protects from whoever uses a connection: what is lost and gained between two of its states. */
  readonly compare?: (before: Posture, after: Posture) => ControlComparison;
  /** Names the controls by which people may do more or less, where what they may do decides how these compare. */
  readonly moved?: MovedNaming;
  /** Returns whether a difference of what people may do is about it, if not all are that may be. */
  readonly isAbout?: (difference: Difference, sides: ComparedPostures) => boolean;
  /** It has no parts: what cannot be compared of it is itself. */
  readonly isWhole?: true;
  /** Returns the texts of its controls as reports print them, if these are not all. */
  readonly textsOf?: (posture: Posture) => readonly string[];
};

/** Two states of a connection. */
export type ComparedPostures = { readonly before: Posture; readonly after: Posture };

/** Names the controls by which people may do more or less. */
export type MovedNaming = (differences: readonly Difference[], direction: 'more' | 'less', sides: ComparedPostures) => readonly Control[];

/** Lists the controls that a list has not. */
export function missingFrom(controls: readonly Control[], others: readonly Control[]): readonly Control[] {
  const keyOf = ({ name, content, text }: Control): string => JSON.stringify([name, content, text]);
  const known = new Set(others.map(keyOf));
  return controls.filter((one) => !known.has(keyOf(one)));
}

/** Lists controls with the same name once. */
export function namedOnce(names: Iterable<string>): readonly Control[] {
  return [...new Set(names)].map((name) => ({ name }));
}

/** How the rules of one kind bring controls to connections. */
export type RuleControls = {
  readonly kind: string;
  readonly read: (spec: JsonObject, rules: readonly ResourceId[]) => readonly Control[];
  /** What the rule does with what passes through a connection. */
  readonly verb: string;
};

/** The words of headlines and pages. A smaller weight is printed first. */
type ControlWording = {
  readonly weight: number;
  readonly column: Omit<ControlColumn, 'type'>;
  /** What a headline names that cannot say more. */
  readonly about: string;
  /** What a type enforces, if that is not `about`. */
  readonly enforced?: string;
  readonly loses: PhraseBuilder;
  readonly gains: PhraseBuilder;
};

/** What a headline says of one connection: `loses masking`; in another form of several connections if it has several verbs. A `sentence` is about people, and the connections follow it. */
export type VerbPhrase = string | { readonly one: string; readonly many: string } | { readonly one: string; readonly sentence: string };

/** Builds the phrase for controls that are lost or gained, from the posture without them and the one with them. */
export type PhraseBuilder = (controls: readonly Control[], without: Posture, withThem: Posture) => VerbPhrase;

/** Returns what is said of one as it is said of several: `no longer masks` as `no longer mask`. */
export function ofSeveral(phrase: string): string {
  return phrase.replace(/^((?:no longer |now )?)(\S+)/, (_, before: string, verb: string) => before + pluralVerb(verb));
}

function pluralVerb(verb: string): string {
  return verb === 'is' ? 'are' : verb.replace(/(?<=ss)es$|s$/, '').replace(/ie$/, 'y');
}

const mostNames = 3;
const longestName = 60;

/** Returns names as headlines print them, after their noun unless the verb is enough; many are a number: `4 reviewer groups`. */
export function namesText(noun: string, names: readonly string[], isNounPrinted = true): string {
  const unique = [...new Set(names)].map((name) =>
    name.length > longestName ? `${Array.from(name).slice(0, longestName).join('')}…${name.startsWith('"') ? '"' : ''}` : name,
  );
  const nouns = unique.length === 1 ? noun : `${noun}s`;
  if (unique.length > mostNames) return `${unique.length} ${nouns}`;
  return isNounPrinted ? `${nouns} ${joinWords(unique)}` : joinWords(unique);
}

/** Returns a name that people choose, in quotes if it has several words: it is not read as a part of the sentence. */
export function quoteName(name: string): string {
  return /[\s"]/.test(name) ? JSON.stringify(name) : name;
}

/** A reason of a risk: its name, its usual class, its meaning, and the words of its headline. */
export type RiskCode = {
  readonly name: string;
  readonly class: RiskClass;
  readonly means: string;
  readonly headline?: string;
};

/** A risk before it has a position: its code, the path of its field, and its class if that is not the usual one of the code. */
export type RiskDraft = {
  readonly code: RiskCode;
  readonly fields: readonly string[];
  readonly class?: RiskClass;
};
