import type { FormatName } from '../report/formats.ts';
import type { Allowance } from '../model/plan/plan.ts';
import type { RiskClass } from '../model/plan/risk.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import type { ProjectSelection } from '../project/project-selection.ts';

export type Format = FormatName;

/** How something that was looked up is printed. */
export const viewFormats = ['text', 'json', 'yaml'] as const;

export type ViewFormat = (typeof viewFormats)[number];

/** Where the embedded database of `serve` lies unless told. */
export const defaultDatabase = '.ostiary/gateway';

/** A report to be written beside what is printed. */
export type ReportFlag<F = Format> = { readonly format: F; readonly path: string };

/** Whether the sources of secrets are read, or only looked at. */
export const secretsChoices = ['resolve', 'unresolved'] as const;

export type SecretsFlag = (typeof secretsChoices)[number];

/** Flags that every command takes. */
export type OutputFlags = { readonly color: boolean; readonly quiet: boolean };

/** Options that select manifests and a gateway. */
export type TargetFlags = OutputFlags &
  ProjectSelection & {
    /** The folder that caches which secrets were verified. */
    readonly cache?: string;
  };

/** Flags of commands that look something up. */
export type ViewFlags = TargetFlags & { readonly format: ViewFormat };

/** Flags of commands that plan. */
export type PlanFlags = TargetFlags &
  PlanBaseOptions & {
    readonly format: Format;
    readonly report: readonly ReportFlag[];
    readonly allow: readonly Allowance[];
    /** The day by which waivers count, `YYYY-MM-DD`; today unless told. */
    readonly today?: string;
    /** The highest class of risk that is not refused; any unless told. */
    readonly maxRisk?: RiskClass;
    /** Resources to take over although they differ. */
    readonly adopt: readonly string[];
    /** Resources whose drift is undone even where that loosens them. */
    readonly revert: readonly string[];
    /** What the base declares and no manifest does is deleted. */
    readonly prune: boolean;
    /** Whether the sources of secrets are read. */
    readonly secrets?: SecretsFlag;
  };

/** Flags of `apply`. */
export type ApplyFlags = PlanFlags & {
  readonly yes: boolean;
  readonly concurrency: number;
  readonly onManaged: 'refuse' | 'skip';
  readonly journal?: string;
  /** The file of a saved plan, carried out instead of a new one. */
  readonly plan?: string;
  /** The digest of the one plan that is to be carried out. */
  readonly digest?: string;
};
