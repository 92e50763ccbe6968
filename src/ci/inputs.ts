import { Command, type Option } from 'commander';
import { workflowCommands } from '../commands/workflow-commands.ts';
import { UsageError } from '../model/errors.ts';
import { didYouMean } from '../model/diagnostic.ts';
import { configLabelHint, isConfigLabel } from '../commands/context/options.ts';

/** The value of the input `digest` that means: the digest in the comment on the merged pull request. */
export const digestFromComment = 'comment';

export const actionModes = ['validate', 'targets', 'plan', 'apply', 'drift'] as const;

export type ActionMode = (typeof actionModes)[number];

/** How an option is passed on: alone, with one value, with a value per line, as `--no-` if false, or as either of both. */
type OptionForm = 'switch' | 'flag' | 'flags' | 'unless' | 'either';

/** The options of a command by their names, without `--` and `no-`. */
type CommandOptions = ReadonlyMap<string, OptionForm>;

/** A job has no terminal and cannot confirm; its output is the log; it knows where its files are, and how long a comment may be. */
const withoutEffect: ReadonlySet<string> = new Set(['yes', 'format', 'link-base', 'max-length']);

/** Reads the options that a step can pass on from the definition of the command. */
export async function optionsOf(mode: ActionMode): Promise<CommandOptions> {
  const command = new Command(mode);
  (await workflowCommands[mode].load())(command, () => Promise.resolve());
  const options = new Map<string, OptionForm>();
  for (const option of command.options) {
    const name = plainName(option);
    if (withoutEffect.has(name)) continue;
    const form = option.negate ? 'unless' : option.isBoolean() ? 'switch' : Array.isArray(option.defaultValue) ? 'flags' : 'flag';
    options.set(name, options.has(name) ? 'either' : form);
  }
  return options;
}

/** Returns the name of an option; `--no-NAME` has that of `--NAME`. */
export function plainName(option: Pick<Option, 'name'>): string {
  return option.name().replace(/^no-/, '');
}

const all = actionModes;
const planning = ['plan', 'apply'] as const;

/** What the step itself does, in these modes. */
const own: Readonly<Record<string, readonly ActionMode[]>> = {
  mode: all,
  cache: all,
  comment: all,
  'github-token': all,
  issue: all,
  sarif: all,
  status: all,
  'working-directory': all,
  label: ['validate', 'targets', ...planning],
  overrides: planning,
  assignees: ['drift'],
  labels: ['drift'],
  'config-ref': ['apply', 'drift'],
  'detailed-exitcode': ['drift'],
};

/** What becomes arguments and options of the same names. Only `ostiary ci` has the others: a workflow has the config, the manifests, the variables and the outputs, or the default suits every job. */
const passedOn =
  'paths config target all-targets affected only tag exclude report allow max-risk adopt revert prune keep-going origin secrets replay on-managed plan digest lock-timeout journal expire snapshot';

/** The inputs of the action. */
export const actionInputs: readonly string[] = [...passedOn.split(' '), ...Object.keys(own).filter((name) => name !== 'detailed-exitcode')];

/** Switches that are true by default; all others are false. */
const usuallyTrue: ReadonlySet<string> = new Set(['cache', 'comment', 'issue', 'new-access', 'origin']);

/** The inputs of a step, parsed. */
export type ActionInputs = {
  readonly mode: ActionMode;
  /** Whether the step can have several targets. */
  readonly several: boolean;
  /** The targets that the step names; empty for those of the config. */
  readonly selected: string;
  readonly comment: boolean;
  /** Whether a status of the commit shows the outcome. */
  readonly status: boolean;
  /** The text that distinguishes this config from others with targets of the same names; undefined for none. */
  readonly label: string | undefined;
  /** The folder that the step works in, below that of the job; undefined for the same one. */
  readonly workingDirectory: string | undefined;
  /** Whether an issue reports a drift. */
  readonly issue: boolean;
  /** The labels of a new drift issue, at least one: the first one identifies it. */
  readonly labels: readonly [string, ...string[]];
  /** The assignees of a new drift issue. */
  readonly assignees: readonly string[];
  /** The options of the command, and of those that take its place where nothing can be planned, or has to be. */
  readonly options: Readonly<Partial<Record<ActionMode, CommandOptions>>>;
  /** Whether changes fail the step, in modes where the command line does not decide that. */
  readonly detailed: boolean;
  /** Whether the cache of verified secrets is kept between runs. */
  readonly cache: boolean;
  /** Whether comments of people with write access override refusals. */
  readonly overrides: boolean;
  readonly token: string;
  /** The revision whose history counts as reviewed; undefined for the default branch. */
  readonly configRef: string | undefined;
  /** The SARIF file for code scanning. */
  readonly sarif: string | undefined;
  /** Options of every command about its output. */
  readonly output: readonly string[];
  /** The given inputs that become options, by name. */
  readonly flags: Readonly<Record<string, string>>;
};

/** Returns the part of a post's key that names the config, the selected manifests and the label: steps that differ there have posts of their own. */
export function projectKeyOf({ flags, label = '', workingDirectory = '' }: ProjectInputs): readonly string[] {
  const { config = '', paths = '', only = '', tag = '', exclude = '' } = flags;
  return [workingDirectory, config, paths, only, tag, exclude, label];
}

export type ProjectInputs = Pick<ActionInputs, 'flags' | 'label' | 'workingDirectory'>;

/** Reads the inputs of a step of a GitHub workflow. Throws UsageError for an unknown input or an invalid value. */
export async function readInputs(env: Readonly<Record<string, string | undefined>>): Promise<ActionInputs> {
  const given = new Map<string, string>();
  for (const [variable, text = ''] of Object.entries(env)) {
    if (!variable.startsWith('INPUT_')) continue;
    const name = variable.slice('INPUT_'.length).toLowerCase();
    if (!actionInputs.includes(name)) throw unknownInput(name);
    if (text.trim() !== '') given.set(name, text.trim());
  }
  return inputsOf(given);
}

/** Returns the inputs of a step by their texts. Throws UsageError for an invalid value. */
export async function inputsOf(given: ReadonlyMap<string, string>): Promise<ActionInputs> {
  const mode = actionModes.find((one) => one === given.get('mode'));
  if (mode === undefined) throw wrongInput('mode', given.get('mode') ?? '', `expected one of: ${actionModes.join(', ')}`);
  const forms = await optionsOf(mode);
  const flags: Record<string, string> = {};
  for (const [name, value] of given) {
    if (own[name]?.includes(mode) === true) continue;
    const form = name === 'paths' ? 'flags' : forms.get(name);
    if (form === undefined && value !== usualOf(name)) throw meaningless(name, mode);
    const isUsual = form === undefined || ((form === 'switch' || form === 'unless') && truth(name, value) === (form === 'unless'));
    if (form === 'either') truth(name, value);
    if (!isUsual) flags[name] = value;
  }
  for (const name of ['sarif', 'working-directory']) if (given.get(name) === '-') throw wrongInput(name, '-', 'expected a path');
  const label = given.get('label');
  if (label !== undefined && !isConfigLabel(label)) throw wrongInput('label', label, configLabelHint);
  const isTrue = (name: string): boolean => truth(name, given.get(name) ?? usualOf(name));
  return {
    mode,
    several: flags['all-targets'] !== undefined || flags['target']?.includes(',') === true,
    selected: flags['all-targets'] === undefined ? (flags['target'] ?? '') : '',
    comment: isTrue('comment'),
    status: isTrue('status'),
    label,
    workingDirectory: given.get('working-directory'),
    issue: isTrue('issue'),
    labels: labelsIn(given.get('labels') ?? ''),
    assignees: namesIn(given.get('assignees') ?? ''),
    options: { validate: await optionsOf('validate'), targets: await optionsOf('targets'), [mode]: forms },
    detailed: mode === 'drift' && isTrue('detailed-exitcode'),
    cache: isTrue('cache'),
    overrides: isTrue('overrides'),
    token: given.get('github-token') ?? '',
    configRef: given.get('config-ref'),
    sarif: given.get('sarif'),
    output: [],
    flags,
  };
}

function labelsIn(text: string): ActionInputs['labels'] {
  const [first = 'drift', ...others] = namesIn(text);
  return [first, ...others];
}

/** Returns the names on the lines of an input, or between its commas. */
function namesIn(text: string): readonly string[] {
  return [...new Set(linesOf(text.replaceAll(',', '\n')))];
}

function usualOf(name: string): string {
  return String(usuallyTrue.has(name));
}

function meaningless(name: string, mode: ActionMode): UsageError {
  return new UsageError(`the input "${name}" has no effect with mode: ${mode}`, 'remove it');
}

function truth(name: string, text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw wrongInput(name, text, 'write true or false');
}

function wrongInput(name: string, text: string, hint: string): UsageError {
  return new UsageError(text === '' ? `missing required input "${name}"` : `invalid value "${text}" for the input "${name}"`, hint);
}

function unknownInput(name: string): UsageError {
  const hint = didYouMean(name, actionInputs) ?? `inputs: ${actionInputs.join(', ')}`;
  return new UsageError(`unknown input "${name}"`, hint);
}

/** Returns the command line of the inputs; a fallback mode uses the inputs that it supports. */
export function argvOf({ flags, options, output }: ActionInputs, mode: ActionMode, more: readonly string[] = []): readonly string[] {
  const given = [...(options[mode] ?? [])].flatMap(([name, form]) => {
    const value = flags[name];
    if (value === undefined) return [];
    if (form === 'flag' || form === 'flags') return (form === 'flags' ? linesOf(value) : [value]).map((one) => `--${name}=${one}`);
    return [value === 'true' ? `--${name}` : `--no-${name}`];
  });
  const words = linesOf(flags['paths'] ?? '');
  return [mode, ...output, ...given, ...more, ...(words.length === 0 ? [] : ['--', ...words])];
}

/** Returns the lines of an input with several values. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
