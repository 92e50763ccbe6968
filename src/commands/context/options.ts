import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliContext } from './cli-context.ts';
import { dialectNames } from '../../model/dialects.ts';
import { type Allowance, noDigest, type RiskClass, riskClasses } from '../../model/plan/plan.ts';
import { isDay } from '../../model/time.ts';
import type { PlanBaseOptions } from '../../project/plan-base.ts';
import type { ProjectSelection } from '../../project/resolved-config.ts';
import { type FormatName, formatsFor, type ReportSubject } from '../../report/formats.ts';

/** The headings of options in the help; the most used come first, then a command's own. */
export const groups = {
  common: 'Common options:',
  own: 'Options:',
  from: 'Manifests and gateway:',
  base: 'Base (last applied commit):',
  report: 'Reports:',
  refusals: 'Refusals:',
  plan: 'Plan:',
  write: 'Writing:',
} as const;

/** Adds the arguments and options of a command; its action calls `run` with the work, which returns the exit code. */
export type DefineCommand = (command: Command, run: (work: (context: CliContext) => Promise<number>) => Promise<void>) => void;

export const pathsArgument = ['[paths...]', 'use only the manifests in these files and folders'] as const;

/** Adds a command with the options that every command has. */
export function addCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .allowExcessArguments(false)
    .option('--no-color', 'print no colors; NO_COLOR and FORCE_COLOR are respected')
    .option('--quiet', 'print only the result', false)
    .option('--full', 'print long lists completely', false)
    .option('-v, --verbose', 'log each request to the gateway with its duration', false);
}

/** Starts the help of a command with an example and the options that most people need. */
export function startHelp(on: Command, example: string, common: readonly string[]): void {
  on.addHelpText('before', `Example: ${example}\n`);
  for (const option of on.options) if (common.includes(option.long ?? '')) option.helpGroup(groups.common);
}

/** Makes it an error to give another option as the value of one: its own value was forgotten. */
export function refuseForgottenValues(on: Command): void {
  for (const option of on.options.filter(({ required }) => required)) {
    on.on(`option:${option.name()}`, (value: unknown) => {
      const other = on.options.find(({ long, short }) => value === long || value === short);
      if (other === undefined) return;
      on.error(`error: option "${option.flags}" has no value: ${String(value)} is another option`, { code: 'ostiary.noValue' });
    });
  }
}

/** Makes it an error to give an option with a single value twice. */
export function refuseRepeated(on: Command): void {
  for (const option of on.options.filter(({ required, defaultValue }) => required && !Array.isArray(defaultValue))) {
    let given = false;
    on.on(`option:${option.name()}`, () => {
      if (given) on.error(`error: option "${option.long ?? option.flags}" is given more than once`, { code: 'ostiary.repeated' });
      given = true;
    });
  }
}

/** Adds the options that select a target, or with `several` more than one. */
export function targetOptions(on: Command, several = false): Command {
  on.optionsGroup(groups.from);
  if (several) on.option('--all-targets', 'run for every target of the config, one after another', false);
  return configOption(on)
    .option('--target <name>', several ? 'target of the config, or several: a,b' : 'target of the config')
    .option('--url <url>', 'URL of the gateway; overrides the target and OSTIARY_URL')
    .addOption(new Option('--dialect <name>', 'API dialect of the gateway; overrides the target').choices(['auto', ...dialectNames]))
    .addOption(new Option('--auth <how>', 'how to send the token; overrides the target').choices(['auto', 'bearer', 'api-key']));
}

/** Adds `--config`. */
export function configOption(on: Command): Command {
  return on
    .optionsGroup(groups.from)
    .option('--config <file>', 'config file (default: ostiary.yaml in this folder or a parent folder within the repository)');
}

/** Adds `--only`. */
export function selectionOption(on: Command): Command {
  return on
    .optionsGroup(groups.from)
    .option('--only <kind/name>', "include only this resource, or a pattern: '*/orders-*' (repeatable)", collect, [])
    .option('--tag <key=value>', 'include only connections with this tag; repeat to require several tags', collectTag, [])
    .option('--exclude <kind/name>', 'exclude this resource, or a pattern (repeatable)', collect, []);
}

/** Adds `--config-ref`. */
export function configRefOption(on: Command): Command {
  return on.option('--config-ref <ref>', 'use the config of this commit: targets, URLs, token and secret names, limits');
}

/** Adds `--cache`. */
export function cacheOption(on: Command): Command {
  return on
    .optionsGroup(groups.from)
    .option('--cache <folder>', 'folder for the cache of verified secrets, without their values (default: .ostiary)')
    .addOption(readConcurrencyOption());
}

/** Returns `--read-concurrency`. */
export function readConcurrencyOption(): Option {
  return new Option('--read-concurrency <n>', 'maximum number of concurrent reads; overrides the target (default: 16)')
    .argParser(wholeNumber(1, 64))
    .helpGroup(groups.from);
}

/** Adds the options that decide what counts as last applied. */
export function baseOptions(on: Command): Command {
  return on
    .optionsGroup(groups.base)
    .option('--base <ref>', 'the last applied commit to compare with, or "none" (default: the recorded commit)')
    .option('--own <ref>', 'mark the changes since this branch (such as origin/main) as your own')
    .option('--no-origin', 'do not read or push the record of applies on origin');
}

/** Adds the options of commands that plan. */
export function planOptions(on: Command, subject: ReportSubject): Command {
  return reportOptions(baseOptions(cacheOption(on)), subject)
    .optionsGroup(groups.refusals)
    .addOption(
      new Option('--max-risk <class>', 'refuse changes above this risk, lowest first (default: allow any)').choices([...riskClasses]),
    )
    .option('--no-new-access', 'refuse a plan after which people can do more than before, or need less approval')
    .optionsGroup(groups.plan)
    .option('--import <kind/name>', 'agree to import this existing object; its manifest overwrites it (repeatable)', collect, [])
    .option('--revert <kind/name>', 'revert held drift on this object (repeatable)', collect, [])
    .option('--prune', 'delete orphans: objects removed from the manifests (default: set in the config)')
    .option('--no-prune', 'keep orphans for this run');
}

/** Adds the options for output, report files and overrides. */
export function reportOptions(on: Command, subject: ReportSubject = 'drift'): Command {
  const files = formatsFor(subject, 'file');
  return on
    .addOption(formatOption(formatsFor(subject, 'print')))
    .optionsGroup(groups.report)
    .addOption(reportFileOption(files))
    .option('--link-base <url>', 'base URL for links to files in Markdown and HTML: https://HOST/PROJECT/-/blob/COMMIT', parseLinkBase)
    .option('--max-length <n>', 'maximum length of Markdown in characters (default: 65536)', wholeNumber(1000, 10_000_000))
    .addOption(todayOption())
    .optionsGroup(groups.refusals)
    .option('--allow <code=reason>', 'override a refusal and state the reason (repeatable)', collectAllowance, []);
}

/** Adds the options of commands that write to the gateway. */
export function writeOptions(on: Command): Command {
  return on
    .optionsGroup(groups.write)
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--concurrency <n>', 'maximum number of concurrent writes', wholeNumber(1, 64), 8)
    .option('--lock-timeout <duration>', 'how long to wait for another apply of the target: 30s, 10m (default: do not wait)', parseDuration)
    .option('--journal <file>', 'append requests and responses to this file as JSON Lines');
}

/** Returns `--format` with these choices; `text` is the default. */
export function formatOption(choices: readonly string[]): Option {
  return new Option('--format <format>', 'output format')
    .choices([...choices])
    .default('text')
    .helpGroup(groups.report);
}

/** Returns `--today`; it rejects a text that is not a day. */
export function todayOption(): Option {
  const option = new Option('--today <day>', 'date used to check policy waivers (default: today in UTC)');
  return option.helpGroup(groups.refusals).argParser((text) => {
    if (!isDay(text)) throw new InvalidArgumentError('expected a date such as 2026-12-31');
    return text;
  });
}

/** Returns `--keep-going`. */
export function keepGoingOption(): Option {
  const text = 'when an object cannot be planned, leave out only that object and what depends on it';
  return new Option('--keep-going', text).helpGroup(groups.plan);
}

/** Returns `--secrets`. */
export function secretsOption(): Option {
  return new Option('--secrets <how>', 'read secret values, or only compare their sources')
    .choices([...secretsChoices])
    .default('resolve')
    .helpGroup(groups.plan);
}

/** Appends the value of a repeatable option to the earlier ones. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/** Appends a tag to the earlier ones. Throws InvalidArgumentError for a text that is no `KEY=VALUE`. */
export function collectTag(text: string, earlier: readonly string[]): readonly string[] {
  const [key, value] = split(text);
  if (key === '' || value === '') throw new InvalidArgumentError('expected KEY=VALUE, such as env=prod');
  return [...earlier, text];
}

/** Returns `--report` with these formats. */
export function reportFileOption(formats: readonly string[]): Option {
  return new Option('--report <format=path>', 'write a report to a file (repeatable)')
    .choices([...formats])
    .argParser(collectReport(formats))
    .default([])
    .helpGroup(groups.report);
}

/** Makes a parser for `--report` that accepts the formats. */
function collectReport<F extends string>(
  choices: readonly F[],
): (text: string, earlier: readonly ReportFlag<F>[]) => readonly ReportFlag<F>[] {
  return (text, earlier) => {
    const [name, path] = split(text);
    const format = choices.find((one) => one === name);
    if (format === undefined || path === '') throw new InvalidArgumentError(`expected FORMAT=PATH with one of: ${choices.join(', ')}`);
    return [...earlier, { format, path }];
  };
}

function collectAllowance(text: string, earlier: readonly Allowance[]): readonly Allowance[] {
  const [code, reason] = split(text);
  if (!/^[a-z]+\/[a-z-]+$/.test(code) || reason.trim() === '') throw new InvalidArgumentError('expected AREA/CODE=REASON with a reason');
  return [...earlier, { code, reason }];
}

function split(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns whether a text can distinguish a config from others in names of branches and in titles. */
export function isConfigLabel(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,49}$/.test(text);
}

export const configLabelHint = 'at most 50 letters, digits, dots, hyphens and underscores, such as payments';

/** Returns a label that is valid. Throws InvalidArgumentError for any other text. */
export function parseConfigLabel(text: string): string {
  if (!isConfigLabel(text)) throw new InvalidArgumentError(configLabelHint);
  return text;
}

/** Returns the URL of a folder without its final slash. Throws InvalidArgumentError for anything that files cannot be below. */
function parseLinkBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && [url.search, url.hash, url.username, url.password].every((part) => part === '');
  if (!isPlain || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new InvalidArgumentError(
      'expected an http or https URL without a query, such as https://gitlab.example.com/team/access/-/blob/COMMIT',
    );
  return url.href.replace(/\/+$/, '').replaceAll(/[()|]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Makes a parser for whole numbers; it throws InvalidArgumentError for a number outside the range. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < from || value > to) throw new InvalidArgumentError(`expected an integer from ${from} to ${to}`);
    return value;
  };
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Parses a number of days: `30d`. Throws InvalidArgumentError for anything else. */
export function parseDays(text: string): number {
  const days = Number(/^([1-9]\d{0,3})d$/.exec(text)?.[1]);
  if (Number.isNaN(days)) throw new InvalidArgumentError('expected a number of days, such as 30d');
  return days;
}

/** Parses a duration to milliseconds. */
function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,4})([smh])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('expected a number with s, m or h, such as 30s or 10m');
  return Number(count) * (unitMs[unit] ?? 0);
}

/** Returns a digest in lower case, or `none`. Throws InvalidArgumentError for anything else. */
export function parseDigest(text: string): string {
  if (text === noDigest) return text;
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('expected the digest of a plan (64 hexadecimal digits) or none');
  return text.toLowerCase();
}

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
const secretsChoices = ['resolve', 'unresolved'] as const;

type SecretsFlag = (typeof secretsChoices)[number];

/** Flags of all commands; `full` prints long lists whole. */
export type OutputFlags = {
  /** False for no colors; otherwise the environment and the terminal decide. */
  readonly color: boolean;
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
    /** False: new access is refused, whatever the config says. */
    readonly newAccess?: boolean;
    /** Resources to import although they differ. */
    readonly import: readonly string[];
    /** Resources whose drift is undone even if that weakens protection. */
    readonly revert: readonly string[];
    /** Whether objects that the base declares and no manifest does are deleted; otherwise the config decides. */
    readonly prune?: boolean;
    /** Whether an error about a single object blocks only that object and what depends on it. */
    readonly keepGoing?: boolean;
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
