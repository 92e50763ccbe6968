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

/** People: one person in all of some groups and in no other, or everybody in none of the groups that the test names, except admins and auditors. */
export type ExpectedPeople = { readonly groups: readonly string[] } | { readonly outside: readonly string[] };

/** The group of an expectation about everybody in none of the groups that its test names. */
export const othersGroup = 'others';

/** What must be true of people on some connections. */
export type AccessExpectation = {
  readonly at: Position;
  readonly people: ExpectedPeople;
  readonly on: { readonly names: readonly string[] } | { readonly tags: Readonly<Record<string, string>> };
  /** Undefined: in no way, or in at least one. */
  readonly verbs: readonly AccessMode[] | undefined;
  readonly expect: 'allowed' | 'denied' | ExpectedApproval;
  /** Seconds. */
  readonly longest: number | undefined;
  readonly masked: readonly string[];
  readonly blocked: readonly string[];
  /** What must happen to tools: `denied delete_*`, `approval write_*`, `allowed read_*`. */
  readonly tools: readonly string[];
  /** The entry, and the groups that it leaves out, in canonical form. */
  readonly text: string;
};

/** Expectations about access, beside the manifests. */
export type AccessTest = { readonly name: string; readonly at: Position; readonly expectations: readonly AccessExpectation[] };

/** Lists the groups that an expectation names. */
export function namedGroups({ people }: Pick<AccessExpectation, 'people'>): readonly string[] {
  return 'groups' in people ? people.groups : [];
}

/** The result of one expectation for one connection. */
export type AccessTestResult = {
  readonly test: string;
  readonly at: Position;
  /** What was expected of whom, as in `contractors: denied on env=prod`. */
  readonly about: string;
  /** The connection; empty where none matches. */
  readonly connection: string;
  /** Those of the people for whom it is not as expected; absent where they are one person. */
  readonly who?: string | undefined;
  readonly outcome: 'passed' | 'failed' | 'unknown';
  /** The outcome for the same people in an earlier state; absent without one. */
  readonly before?: 'passed' | 'failed' | 'unknown' | undefined;
  readonly expected: string;
  readonly found: string;
  /** The lines, or the objects without a manifest, that decide it. */
  readonly because: readonly string[];
};

/** The kind of documents with access tests. */
export const accessTestKind = 'AccessTest';
