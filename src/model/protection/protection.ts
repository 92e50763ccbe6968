import type { Position } from '../diagnostic.ts';
import type { JsonObject } from '../json.ts';
import type { Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import type { AccessMode } from './access-objects.ts';
import type { PermissionTerms } from './permission.ts';

/** The side of a sample: text that a user sends, text that returns, or text for masking. */
export type SampleSide = 'input' | 'output' | 'text';

/** A sample and the result of simulating the rule on it. */
export type SampleResult = {
  readonly at: Position;
  readonly name?: string | undefined;
  /** The role of the text; `access` for an access test, which has none. */
  readonly side: SampleSide | 'access';
  readonly text: string;
  readonly outcome: 'passed' | 'failed' | 'not-simulated';
  /** The expected and the actual result: `blocked by ddl`, `allowed`, `EMP_ID`, `nothing`. */
  readonly expected: string;
  readonly found: string;
  /** The reason why it failed or could not be simulated. */
  readonly why?: string;
  readonly hint?: string | undefined;
};

/** One rule and the results of its samples. */
export type RuleSampleResults = {
  readonly rule: ResourceId;
  readonly at: Position;
  readonly trials: readonly SampleResult[];
  /** Entity types that only the gateway can find, so they are not simulated. */
  readonly notSimulated: readonly string[];
};

/** The sample results of all rules of one target. */
export type TargetSampleResults = { readonly target: string; readonly rules: readonly RuleSampleResults[] };

/** The verdict on a change. `both`: one control is weaker and another stronger; `unknown`: incomparable, never counts as safe. */
export const protectionVerdicts = ['weakens', 'both', 'unknown', 'strengthens', 'neutral'] as const;
export type ProtectionVerdict = (typeof protectionVerdicts)[number];

/** The verdict of a headline: `exposes` and `reroutes` are risks of connections that have no protection to lose, or lose none; `availability`: no group can use it; `neutral`: what changes is not enforced. */
export type HeadlineVerdict = Exclude<ProtectionVerdict, 'both'> | 'exposes' | 'reroutes' | 'availability';

/** The verdicts of headlines, the worst first. */
export const headlineOrder: readonly HeadlineVerdict[] = [
  'weakens',
  'reroutes',
  'exposes',
  'unknown',
  'availability',
  'neutral',
  'strengthens',
];

/** The types of controls between people and a connection, the most important first. */
export const controlTypes = [
  'access',
  'who',
  'review',
  'input',
  'output',
  'masking',
  'redaction',
  'tools',
  'force',
  'duration',
  'schema',
  'metadata',
  'attributes',
  'approval',
  'runbooks',
  'rulepacks',
  'analyzer',
  'federation',
] as const;

/**
 * `access`: open access modes; `who`: groups that can reach the connection; `review`: groups that must approve; `input` / `output`: what
 * guardrails block; `masking` and `redaction`: what is hidden; `tools`: which tools of a server are allowed, denied, or need an approval; `force`: groups that may approve alone; `duration`: the longest session in
 * seconds; `schema`: whether the schema is shown; `metadata`: required metadata of a session; `attributes`: attributes that rules refer to.
 * Of objects of the gateway that manifests do not contain: `approval`: who needs one by access-request rules; `runbooks`: which may be run;
 * `rulepacks`; `analyzer`: what happens to commands by their risk; `federation`: as whom people work in the cloud.
 */
export type ControlType = (typeof controlTypes)[number];

/** How reports show a control type: its heading, and the text of an empty cell. */
export type ControlColumn = {
  readonly type: ControlType;
  readonly heading: string;
  /** The text for no controls, if that is not `none`. */
  readonly none?: string;
  /** The text of the control that includes all others; a column with nothing else is left out. */
  readonly all?: string;
  /** It is only shown where a connection has such a control. */
  readonly isOptional?: true;
  /** There is at most one control, so a cell shows it instead of a count. */
  readonly isSingle?: true;
  /** The unit of its texts: seconds, which reports show as minutes and hours. */
  readonly unit?: 's';
};

/** The cause of a changed control: a field of a resource or an edge, with its position in a manifest or a mark for drift. */
export type Cause = {
  readonly by: ResourceId;
  readonly path?: Pointer | undefined;
  /** The other end, if an edge is the cause. */
  readonly edge?: ResourceId | undefined;
  /** The position in a manifest: `file:line:column`. */
  readonly place?: string | undefined;
  /** The plan reverts a drift. */
  readonly byHand?: true | undefined;
};

/**
 * How a rule is attached to a connection. `direct`: a list of one end names the other; `selector`: the selector of the rule
 * matches; `attribute`: both share it; `edge`: the gateway has the edge and no known manifest declares it;
 * `every`: the rule includes every connection.
 */
export type Attachment = {
  readonly how: 'direct' | 'selector' | 'attribute' | 'edge' | 'every';
  readonly attribute?: string;
  /** The position in a manifest: `file:line:column`. Only `explain` states it: a plan has one for each pair of a rule and a connection. */
  readonly place?: string | undefined;
};

/** The control types of a rule on a connection, and everything that attaches it. */
export type RuleEffect = { readonly controls: readonly ControlType[]; readonly by: readonly Attachment[] };

/** A rule on a connection before the plan, after it, or both. */
export type ConnectionRule = {
  readonly rule: ResourceId;
  readonly before?: RuleEffect | undefined;
  readonly after?: RuleEffect | undefined;
};

/** One control type of one connection before and after. */
export type ControlChange = {
  readonly control: ControlType;
  readonly direction: ProtectionVerdict;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** There may be more controls than can be read. */
  readonly atLeast?: true | undefined;
  readonly causes: readonly Cause[];
};

/** A connection whose protection changes, directly or through a rule. */
export type PostureChange = {
  readonly connection: ResourceId;
  readonly direction: ProtectionVerdict;
  /** The connection is created or opened for the first time, so it had no protection to lose. */
  readonly created?: true | undefined;
  readonly deleted?: true | undefined;
  /** The connection that it replaces, and that it is compared with. */
  readonly replaces?: ResourceId | undefined;
  readonly tags: JsonObject;
  readonly controls: readonly ControlChange[];
  /** All rules on the connection, including unchanged ones; absent when there are none. */
  readonly rules?: readonly ConnectionRule[] | undefined;
};

/** One statement about several connections, such as `lose masking`. */
export type Headline = {
  readonly direction: HeadlineVerdict;
  readonly text: string;
  /** Empty if the causes affect no connections, such as a runbook configuration whose password is sent elsewhere. */
  readonly connections: readonly ResourceId[];
  /** The tags that all connections share. */
  readonly tags: JsonObject;
  /** The causes, each listed once. */
  readonly causes: readonly Cause[];
  /** The manifests accept drift: the gateway already has the change. */
  readonly accepted?: true;
  /** What a reroute sends credentials to, or whose code it runs. */
  readonly target?: RerouteTarget | undefined;
  /** The place of its control among headlines with the same verdict: a smaller one comes first. Absent where no control is the cause. */
  readonly weight?: number;
};

/** Sorts headlines: the worst verdict first, then what people lose the most by; others keep their order. */
export function sortHeadlines(headlines: readonly Headline[]): readonly Headline[] {
  const weightOf = ({ weight = Number.MAX_VALUE }: Headline): number => weight;
  return headlines.toSorted(
    (left, right) => headlineOrder.indexOf(left.direction) - headlineOrder.indexOf(right.direction) || weightOf(left) - weightOf(right),
  );
}

/** The kinds of reroutes: a credential goes to another endpoint, agent or command, or code of another repository uses it. */
export type RerouteTarget = 'endpoint' | 'agent' | 'command' | 'code' | 'other';

/** What a field, an edge or a whole object does to protection. */
export type PartEffect = Pick<Cause, 'by' | 'path' | 'edge'> & { readonly direction: ProtectionVerdict };

/** A sample of a live rule whose result changes with the plan: `blocked`, `allowed`, `masked`, `in clear`, or unknown. */
export type SampleChange = {
  readonly rule: ResourceId;
  readonly name?: string | undefined;
  readonly side: SampleSide;
  readonly text: string;
  /** The entity type, for a masking rule. */
  readonly type?: string;
  readonly before: string;
  readonly after: string;
  readonly at?: Position | undefined;
  /** The sample exists only in the manifests that were applied last. */
  readonly gone?: true | undefined;
};

/**
 * What a plan does to permissions, the largest effect first. `opened` and `granted`: new access without and after an approval, or after one
 * that is not known; `unknown`: it cannot be known whether they may before or after; `eased`: an approval that is easier, or none.
 */
export const permissionEffects = ['opened', 'granted', 'unknown', 'eased', 'longer', 'stricter', 'lost'] as const;

export type PermissionEffect = (typeof permissionEffects)[number];

/** The same change of what several groups may do on several connections. */
export type PermissionChange = {
  readonly effect: PermissionEffect;
  /** Whose members it is about; absent: everybody but the members of the groups in `except`. */
  readonly groups?: readonly string[] | undefined;
  /** It is about people in all of the groups: people in fewer of them do not gain it. */
  readonly together?: true;
  /** Lists of groups that decide the same: the people are in one of each. Absent where each list has one, which is in `groups`. */
  readonly oneOfEach?: readonly (readonly string[])[] | undefined;
  readonly except?: readonly string[];
  readonly verbs: readonly AccessMode[];
  readonly connections: readonly ResourceId[];
  readonly before: PermissionTerms;
  readonly after: PermissionTerms;
  /** What decides it after the plan; what decided it before, where nothing decides it any more. */
  readonly causes: readonly Cause[];
};

/** Who can do what after a plan that could not before, and the reverse. */
export type PermissionDelta = {
  readonly changes: readonly PermissionChange[];
  /** How many permissions (a group or people in none, a verb, a connection) change, and how many stay the same. */
  readonly changed: number;
  readonly same: number;
};

/** The change of protection that a plan makes; the one of a plan with changes is computed when a part of it is first read. */
export type Protection = {
  readonly headlines: readonly Headline[];
  readonly connections: readonly PostureChange[];
  /** Live connections that certainly lose a control. */
  readonly losing: readonly ResourceId[];
  /** Who can do what before and after; absent when that stays the same. */
  readonly permissions?: PermissionDelta | undefined;
  /** What each part of a drift does; absent for plans. */
  readonly parts?: readonly PartEffect[];
  /** Samples whose result changes; absent when there are none. */
  readonly changedSamples?: readonly SampleChange[];
};

/** The controls of one type of one connection before and after, as short texts. */
export type ProtectionMatrixCell = {
  readonly control: ControlType;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The verdict; absent when unchanged. */
  readonly direction?: ProtectionVerdict | undefined;
  /** There may be more controls than can be read. */
  readonly atLeast?: true | undefined;
};

/** One connection with all its controls. */
export type ProtectionMatrixRow = {
  readonly connection: ResourceId;
  readonly tags: JsonObject;
  readonly created?: true | undefined;
  readonly deleted?: true | undefined;
  /** The verdict as a whole; absent when nothing changes. */
  readonly direction?: ProtectionVerdict | undefined;
  /** One cell per column, in their order. */
  readonly cells: readonly ProtectionMatrixCell[];
};

/** All connections of a gateway and their controls, sorted by id, and how to show the control types that they have. */
export type ProtectionMatrix = { readonly columns: readonly ControlColumn[]; readonly rows: readonly ProtectionMatrixRow[] };
