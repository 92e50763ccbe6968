import type { AccessMode } from './access-objects.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';

/** Whether people may use a connection; `unknown`: what decides it is not known. */
export type Answer = 'yes' | 'no' | 'unknown';

/** What a fact of a permission is about, in the order in which a gateway decides. */
export const permissionParts = ['sees it', 'open', 'runbooks', 'approval', 'longest', 'analyzer', 'blocked', 'masked', 'tools'] as const;

export type PermissionPart = (typeof permissionParts)[number];

/** An object (path ''), one of its fields, an element of a list in it, or its edge to a connection, that decides a fact. */
export type Decider = { readonly id: ResourceId; readonly path: Pointer; readonly edge?: ResourceId | undefined };

/** One fact of a permission, and everything that decides it; nothing where it follows from what does not exist. */
export type PermissionFact = {
  readonly part: PermissionPart;
  readonly answer: Answer;
  readonly text: string;
  readonly by: readonly Decider[];
};

/** The approval that people need; `refused`: the gateway cannot review it, so no one gets it. */
export type NeededApproval =
  | {
      readonly groups: readonly string[];
      readonly needed: number;
      readonly force: readonly string[];
      /** More may be needed: the number is not known. */
      readonly atLeast?: true;
    }
  | 'refused';

/** A file that can be run, or all that begin with its name; without a repository every file. */
export type AllowedRunbook = { readonly repository?: string; readonly name: string };

/** The answer to a question, and what people need. */
export type PermissionTerms = {
  readonly answer: Answer;
  /** Absent: no approval; `unknown`: it is not known. */
  readonly approval?: NeededApproval | 'unknown' | undefined;
  /** The longest access in seconds; absent without a limit, and for commands. */
  readonly longest?: number | undefined;
  /** Something limits the access, and how long is not known. */
  readonly isLimitUnknown?: boolean | undefined;
  /** The only runbooks that they may run; absent: every one, or another verb. */
  readonly runbooks?: readonly AllowedRunbook[] | undefined;
  /** The day or time at which the manifests take the access away, and why it is for a time. */
  readonly until?: string | undefined;
  readonly reason?: string | undefined;
};

/** Whether people in some groups may use a connection in one way, and what they need for it. */
export type Permission = PermissionTerms & {
  readonly connection: ResourceId;
  /** All groups of the people; empty: people in no group that decides anything. */
  readonly groups: readonly string[];
  readonly verb: AccessMode;
  /** What guardrails block, and what is masked. */
  readonly blocked: readonly string[];
  readonly masked: readonly string[];
  /** The lists of tools: `denied delete_*`. */
  readonly tools: readonly string[];
  readonly facts: readonly PermissionFact[];
};

/** The most groups of a list that a text names. */
export const mostGroups = 4;

/** Names people in one group of each list: `people in both dba and sre`, `people in one of billing, payments and in sre`. */
export function membersText(lists: readonly (readonly string[])[], name: (group: string) => string = String): string {
  const texts = lists.map((groups) => {
    const more = groups.length > mostGroups ? [`and ${groups.length - mostGroups} more`] : [];
    return `${groups.length > 1 ? 'one of ' : ''}${[...groups.slice(0, mostGroups).map(name), ...more].join(', ')}`;
  });
  if (lists.some(({ length }) => length > 1)) return `people in ${texts.join(' and in ')}`;
  return `people in ${lists.length > 2 ? 'all of' : 'both'} ${texts.join(' and ')}`;
}
