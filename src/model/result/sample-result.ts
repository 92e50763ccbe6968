import type { Position } from '../diagnostic.ts';
import type { ResourceId } from '../resource.ts';

/** The side of a sample: text that a user sends, text that comes back, or text for masking. */
export type SampleSide = 'input' | 'output' | 'text';

/** A sample and the result of simulating the rule on it. */
export type SampleResult = {
  readonly at: Position;
  readonly name?: string;
  readonly side: SampleSide;
  readonly text: string;
  readonly outcome: 'passed' | 'failed' | 'not-simulated';
  /** The expected and the actual result: `blocked by ddl`, `allowed`, `EMP_ID`, `nothing`. */
  readonly expected: string;
  readonly found: string;
  /** The reason why it failed or could not be simulated. */
  readonly why?: string;
  readonly hint?: string;
};

/** One rule and the results of its samples. */
export type RuleSampleResults = {
  readonly rule: ResourceId;
  readonly at: Position;
  readonly trials: readonly SampleResult[];
  /** Entries that no sample triggers. */
  readonly untried: readonly string[];
  /** Entity types that only the gateway can find, so they are not simulated. */
  readonly notSimulated: readonly string[];
};

/** The sample results of all rules of one target. */
export type TargetSampleResults = { readonly target: string; readonly rules: readonly RuleSampleResults[] };
