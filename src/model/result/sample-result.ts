import type { Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/** What a sample is: something that a user sends, something that comes back, or a text that is looked through for masking. */
export type SampleSide = 'input' | 'output' | 'text';

/** A sample, and what came of trying the rule on it. */
export type SampleResult = {
  readonly at: Position;
  readonly name?: string;
  readonly side: SampleSide;
  readonly text: string;
  readonly outcome: 'passed' | 'failed' | 'not-simulated';
  /** What the sample expects, and what came: `blocked by ddl`, `allowed`, `EMP_ID`, `nothing`. */
  readonly expected: string;
  readonly found: string;
  /** Why it failed, or why nobody can tell here. */
  readonly why?: string;
  readonly hint?: string;
};

/** One rule and its samples. */
export type RuleSampleResults = {
  readonly rule: ResourceId;
  readonly at: Position;
  readonly trials: readonly SampleResult[];
  /** Entries that could block or mask something, and do in no sample. */
  readonly untried: readonly string[];
  /** Entity types that only the gateway can find. */
  readonly notSimulated: readonly string[];
};

/** The rules of one target and what came of their samples. */
export type TargetSampleResults = { readonly target: string; readonly rules: readonly RuleSampleResults[] };
