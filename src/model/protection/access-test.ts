import type { Position } from '../diagnostic.ts';
import type { AccessMode } from './access-objects.ts';

/** The approval that a test asks for. */
export type ExpectedApproval = {
  /** At least one of these groups has to approve; empty: any group. */
  readonly from: readonly string[];
  readonly atLeast: number;
  /** The only groups that can force it; undefined: not compared. */
  readonly forcedBy: readonly string[] | undefined;
};

/** What must be true of people in some groups on some connections. */
export type AccessExpectation = {
  readonly at: Position;
  /** All groups of one person. */
  readonly groups: readonly string[];
  readonly on: { readonly names: readonly string[] } | { readonly tags: Readonly<Record<string, string>> };
  /** Undefined: in no way, or in at least one. */
  readonly verbs: readonly AccessMode[] | undefined;
  readonly expect: 'allowed' | 'denied' | ExpectedApproval;
  /** Seconds. */
  readonly longest: number | undefined;
  readonly masked: readonly string[];
  readonly blocked: readonly string[];
  /** The entry in canonical form. */
  readonly text: string;
};

/** Expectations about access, beside the manifests. */
export type AccessTest = { readonly name: string; readonly at: Position; readonly expectations: readonly AccessExpectation[] };

/** The result of one expectation for one connection. */
export type AccessTestResult = {
  readonly test: string;
  readonly at: Position;
  /** What was expected of whom, as in `contractors: denied on env=prod`. */
  readonly about: string;
  /** The connection; empty where none matches. */
  readonly connection: string;
  readonly outcome: 'passed' | 'failed' | 'unknown';
  readonly expected: string;
  readonly found: string;
  /** The lines, or the objects without a manifest, that decide it. */
  readonly because: readonly string[];
};

/** The kind of documents with access tests. */
export const accessTestKind = 'AccessTest';
