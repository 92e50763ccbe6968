import type { Position } from '../diagnostic.ts';
import type { JsonObject } from '../json.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import type { SampleSide } from '../result/sample-result.ts';

/** Which way a change goes; `both` where it weakens one thing and strengthens another, `unknown` is never taken for safe. */
export type ProtectionVerdict = 'weakens' | 'both' | 'unknown' | 'neutral' | 'strengthens';

/** What stands between people and a connection, the weightiest first. */
export const controlTypes = [
  'access',
  'review',
  'input',
  'output',
  'masking',
  'redaction',
  'force',
  'duration',
  'schema',
  'metadata',
  'attributes',
  'requests',
] as const;

/**
 * `access` the open modes, `review` who must approve, `input` / `output` what guardrails block, `masking` and `redaction`
 * what is hidden, `force` who may approve alone, `duration` the longest session, `schema` whether it is shown, `metadata`
 * what a session must state, `attributes` what rules may hang on, `requests` access-request rules, which are not ours.
 */
export type ControlType = (typeof controlTypes)[number];

/** Why an aspect changes: a field of a resource or an edge, and where a manifest says so, or that somebody did it by hand. */
export type Cause = {
  readonly by: ResourceId;
  readonly path?: Pointer;
  /** The other end, where an edge is the cause. */
  readonly edge?: ResourceId;
  /** Where a manifest says so: `file:line:column`. */
  readonly place?: string;
  /** What is undone was done on the gateway. */
  readonly byHand?: true;
};

/**
 * What attaches a rule to a connection: `direct` a list of either end names the other, `selector` the selector of the rule
 * takes it, `attribute` both have it, `edge` the gateway says so and no known manifest does.
 */
export type Attachment = {
  readonly how: 'direct' | 'selector' | 'attribute' | 'edge';
  readonly attribute?: string;
  /** Where a manifest says so: `file:line:column`. */
  readonly place?: string;
};

/** What a rule does on a connection, and all that attaches it. */
export type RuleEffect = { readonly aspects: readonly ControlType[]; readonly by: readonly Attachment[] };

/** A rule that is on a connection before, after, or both. */
export type ConnectionRule = { readonly rule: ResourceId; readonly before?: RuleEffect; readonly after?: RuleEffect };

/** One aspect of one connection, before and after. */
export type ControlChange = {
  readonly aspect: ControlType;
  readonly way: ProtectionVerdict;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** There may be more than can be seen. */
  readonly atLeast?: true;
  readonly causes: readonly Cause[];
};

/** A connection whose protection changes, also where only a rule on it does. */
export type PostureChange = {
  readonly connection: ResourceId;
  readonly way: ProtectionVerdict;
  /** It comes, or is opened for the first time: nobody had any protection to lose. */
  readonly comes?: true;
  readonly goes?: true;
  readonly tags: JsonObject;
  readonly aspects: readonly ControlChange[];
  /** All rules on it, also those that stay; absent where there are none. */
  readonly rules?: readonly ConnectionRule[];
};

/** One sentence on several connections: `lose masking`, and which. */
export type Headline = {
  readonly way: ProtectionVerdict;
  readonly text: string;
  readonly connections: readonly ResourceId[];
  /** The tags that all of them have. */
  readonly tags: JsonObject;
  /** What brings it about, each named once. */
  readonly causes: readonly Cause[];
};

/** A tag, and how many have it. */
export type TagCount = { readonly tag: string; readonly connections: number };

/** How far one cause reaches: a field, edges that come or go, or a rule that comes or goes as a whole. */
export type Impact = {
  /** The rule; absent where the connections do it by themselves. */
  readonly by?: ResourceId;
  readonly path?: Pointer;
  /** Edges come or go; of a `path` it is the tag by which selectors took the connections. */
  readonly edges?: true;
  readonly way: ProtectionVerdict;
  /** Where manifests say so: `file:line:column`. */
  readonly places: readonly string[];
  /** What is undone was done on the gateway. */
  readonly byHand?: true;
  /** The connections whose protection it changes. */
  readonly connections: readonly ResourceId[];
  /** Their tags, the most frequent first. */
  readonly tags: readonly TagCount[];
};

/** A sample of a live rule that comes out otherwise after the plan: `blocked`, `allowed`, `masked`, `in clear`, or nobody can tell. */
export type SampleChange = {
  readonly rule: ResourceId;
  readonly name?: string;
  readonly side: SampleSide;
  readonly text: string;
  /** The entity type, of a masking rule. */
  readonly type?: string;
  readonly before: string;
  readonly after: string;
  /** Where the sample stands. */
  readonly at?: Position;
  /** It stands in the manifests that were applied last, and no more in these. */
  readonly gone?: true;
};

/** What a plan means for the connections it touches. */
export type Protection = {
  readonly headlines: readonly Headline[];
  readonly connections: readonly PostureChange[];
  /** Live connections that surely have less of something afterwards. */
  readonly losing: readonly ResourceId[];
  /** How far each cause reaches, what weakens first; absent where nothing has a cause. */
  readonly reach?: readonly Impact[];
  /** Samples that come out otherwise; absent where there are none. */
  readonly flips?: readonly SampleChange[];
};
