import type { Diagnostic, Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/** One expression that has to be true. */
export type Requirement = {
  readonly expression: string;
  /** What is said where it is not true, instead of what the policy says. */
  readonly message?: string;
  /** Makes a diagnostic of what is wrong at a character of the expression. */
  readonly diagnose: (problem: Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'>, offset: number) => Diagnostic;
};

/** A connection (`*` and `?` stand for characters) that need not do as a policy asks, up to and with a day. */
export type Waiver = { readonly connection: string; readonly until: string; readonly reason: string; readonly at: Position };

/** What connections have to be like once a plan is carried out. */
export type Policy = {
  readonly name: string;
  readonly at: Position;
  /** All of it has to be true of a connection that the policy is about; an empty list asks for nothing. */
  readonly match: {
    readonly tags: Readonly<Record<string, readonly string[]>>;
    readonly type: readonly string[];
    readonly subtype: readonly string[];
    readonly name: readonly string[];
  };
  readonly require: readonly Requirement[];
  readonly message: string;
  readonly severity: 'error' | 'warning';
  readonly waivers: readonly Waiver[];
  /** All that the document says, in one form. */
  readonly text: string;
};

/** A connection that does not do as a policy asks, or of which nobody can tell. */
export type PolicyFinding = {
  readonly policy: string;
  readonly connection: ResourceId;
  readonly result: 'violated' | 'unknown';
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly expression: string;
  readonly at?: Position;
};

/** A finding that a waiver lets pass. */
export type WaivedFinding = Pick<PolicyFinding, 'policy' | 'connection' | 'result'> & Pick<Waiver, 'until' | 'reason'>;

/** What became of policies on a day. */
export type PolicyReport = {
  /** `YYYY-MM-DD`: waivers count by it. */
  readonly today: string;
  /** How many policies there are. */
  readonly policies: number;
  /** How many connections any of them is about. */
  readonly connections: number;
  readonly findings: readonly PolicyFinding[];
  readonly waived: readonly WaivedFinding[];
};

/** What one policy says of one connection. */
export type PolicyResult = {
  readonly policy: string;
  readonly at: Position;
  readonly result: 'passes' | 'violated' | 'unknown' | 'waived';
  /** What the connection lacks. */
  readonly messages: readonly string[];
  /** The last day of the waiver, and why there is one. */
  readonly until?: string;
  readonly reason?: string;
};
