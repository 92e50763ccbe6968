import type { Diagnostic, Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/** One expression that must be true. */
export type Requirement = {
  readonly expression: string;
  readonly at: Position;
  /** The message for a violation, instead of that of the policy. */
  readonly message?: string;
  /** Converts a problem at a character of the expression (index from 0) to a diagnostic. */
  readonly diagnose: (problem: Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'>, offset: number) => Diagnostic;
};

/** An exemption of connections (a glob with `*` and `?`) from a policy, up to and including the day `until`. */
export type Waiver = { readonly connection: string; readonly until: string; readonly reason: string; readonly at: Position };

/** Requirements on connections after a plan. */
export type Policy = {
  readonly name: string;
  readonly at: Position;
  /** The policy applies to a connection that matches all of these; an empty list matches everything. */
  readonly match: {
    readonly tags: Readonly<Record<string, readonly string[]>>;
    readonly type: readonly string[];
    readonly subtype: readonly string[];
    readonly name: readonly string[];
    /** The place of the match, or of a policy that has none. */
    readonly at: Position;
  };
  readonly require: readonly Requirement[];
  readonly message: string;
  readonly severity: 'error' | 'warning';
  readonly waivers: readonly Waiver[];
  /** The content of the document in canonical form. */
  readonly text: string;
};

/** A connection that violates a policy, or for which it cannot be evaluated. */
export type PolicyFinding = {
  readonly policy: string;
  readonly connection: ResourceId;
  readonly result: 'violated' | 'unknown';
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly expression: string;
  /** The field in the manifest that the expression reads first, or the manifest. */
  readonly at?: Position;
  /** The place of the expression in its policy. */
  readonly requirement: Position;
  /** The error of an expression that fails on visible values, at its character. */
  readonly error?: Diagnostic;
};

/** A finding that a waiver exempts. */
export type WaivedFinding = Pick<PolicyFinding, 'policy' | 'connection' | 'result'> & Pick<Waiver, 'until' | 'reason'>;

/** The result of all policies on one day. */
export type PolicyReport = {
  /** `YYYY-MM-DD`; waivers are compared with this day. */
  readonly today: string;
  /** The number of policies. */
  readonly policies: number;
  /** The number of connections that at least one policy applies to. */
  readonly connections: number;
  readonly findings: readonly PolicyFinding[];
  readonly waived: readonly WaivedFinding[];
};

/** The result of one policy for one connection. */
export type PolicyResult = {
  readonly policy: string;
  readonly at: Position;
  readonly result: 'passes' | 'violated' | 'unknown' | 'waived';
  /** The messages of the violated requirements. */
  readonly messages: readonly string[];
  /** The last day of the waiver, and its reason. */
  readonly until?: string;
  readonly reason?: string;
};

/** The kind of policy documents. */
export const policyKind = 'Policy';
