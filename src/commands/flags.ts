import type { FormatName } from '../report/formats.ts';
import type { Allowance, RiskClass } from '../model/plan/plan.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import type { ProjectSelection } from '../project/resolved-config.ts';

export type Format = FormatName;

/** The formats of commands that look something up. */
export const viewFormats = ['text', 'json', 'yaml'] as const;

export type ViewFormat = (typeof viewFormats)[number];

/** The default folder of the embedded database of `serve`. */
export const defaultDatabase = '.ostiary/gateway';

/** A report file that is written besides the printed output. */
export type ReportFlag<F = Format> = { readonly format: F; readonly path: string };

/** Flags of reports in Markdown and HTML. */
export type ReportFlags = {
  /** The URL of the top of the repository at one commit; positions become links below it. */
  readonly linkBase?: string;
  /** The longest Markdown, in characters. */
  readonly maxLength?: number;
};

/** `resolve` reads the values of secrets; `unresolved` compares only their sources. */
export const secretsChoices = ['resolve', 'unresolved'] as const;

type SecretsFlag = (typeof secretsChoices)[number];

/** `auto` colors a terminal, unless the environment decides otherwise. */
export const colorChoices = ['always', 'auto', 'never'] as const;

/** When output is colored; `--no-color` gives false, which is `never`. */
export type ColorChoice = (typeof colorChoices)[number] | false;

/** Flags of all commands; `full` prints long lists whole. */
export type OutputFlags = {
  readonly color: ColorChoice;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly full?: boolean;
};

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
  ReportFlags &
  PlanBaseOptions & {
    readonly format: Format;
    readonly report: readonly ReportFlag[];
    readonly allow: readonly Allowance[];
    /** The day that decides which waivers are valid, `YYYY-MM-DD`; the default is today. */
    readonly today?: string;
    /** The highest risk class that is not refused; by default no class is. */
    readonly maxRisk?: RiskClass;
    /** Resources to import although they differ. */
    readonly adopt: readonly string[];
    /** Resources whose drift is undone even if that weakens protection. */
    readonly revert: readonly string[];
    /** Whether objects that the base declares and no manifest does are deleted; otherwise the config decides. */
    readonly prune?: boolean;
    /** Whether an error about a single object blocks only that object and what depends on it. */
    readonly keepGoing?: boolean;
    /** How secrets are read. */
    readonly secrets?: SecretsFlag;
  };

/** Flags of `apply`. */
export type ApplyFlags = PlanFlags & {
  readonly yes: boolean;
  readonly concurrency: number;
  readonly onManaged: 'refuse' | 'skip';
  readonly journal?: string;
  /** How long to wait for another apply to the target, in milliseconds; by default not at all. */
  readonly lockTimeout?: number;
  /** The file of a saved plan, executed instead of a new plan. */
  readonly plan?: string;
  /** The digest of the only plan that may be executed. */
  readonly digest?: string;
};
