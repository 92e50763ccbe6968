import { UsageError } from '../model/errors.ts';
import { suggest } from '../model/diagnostic.ts';
import { configLabelHint, isConfigLabel } from '../commands/context/options.ts';

/** The value of the input `digest` that means: the digest in the comment on the merged pull request. */
export const digestFromComment = 'comment';

export const actionModes = ['validate', 'plan', 'apply', 'drift'] as const;

export type ActionMode = (typeof actionModes)[number];

/** How an input becomes options: one option, one option per line, an option if true, a `--no-` option if false, either of them, or arguments. */
type FlagForm = 'flag' | 'flags' | 'switch' | 'unless' | 'either' | 'words';

type ActionInput = {
  readonly becomes: FlagForm;
  readonly of: readonly ActionMode[];
  /** Modes in which the input is true or false instead. */
  readonly switches?: readonly ActionMode[];
  /** Modes in which the action itself handles the input. */
  readonly obeyed?: readonly ActionMode[];
  /** Only `ostiary ci` has it: a workflow has the config, the variables and the outputs, or the default suits every job. */
  readonly isInput?: false;
};

const all = actionModes;
const planning = ['plan', 'apply'] as const;
const comparing = ['plan', 'apply', 'drift'] as const;
const writing = ['apply', 'drift'] as const;

/** What becomes command-line options of the same names; `paths` becomes arguments. */
export const flagInputs: Readonly<Record<string, ActionInput>> = {
  paths: { becomes: 'words', of: all },
  config: { becomes: 'flag', of: all },
  target: { becomes: 'flag', of: all },
  'all-targets': { becomes: 'switch', of: all },
  url: { becomes: 'flag', of: all, isInput: false },
  dialect: { becomes: 'flag', of: all, isInput: false },
  auth: { becomes: 'flag', of: all, isInput: false },
  only: { becomes: 'flags', of: all },
  tag: { becomes: 'flags', of: all },
  exclude: { becomes: 'flags', of: all },
  today: { becomes: 'flag', of: all, isInput: false },
  // The input is a switch; the flag is the folder that the action chooses.
  cache: { becomes: 'flag', of: comparing, obeyed: all },
  label: { becomes: 'flag', of: ['drift'], obeyed: ['validate', 'plan', 'apply'] },
  report: { becomes: 'flags', of: all },
  allow: { becomes: 'flags', of: comparing },
  'max-risk': { becomes: 'flag', of: planning },
  'no-new-access': { becomes: 'switch', of: planning },
  import: { becomes: 'flags', of: planning },
  adopt: { becomes: 'switch', of: ['drift'] },
  revert: { becomes: 'flags', of: comparing, switches: ['drift'] },
  prune: { becomes: 'either', of: planning },
  'keep-going': { becomes: 'switch', of: planning },
  base: { becomes: 'flag', of: comparing, isInput: false },
  own: { becomes: 'flag', of: comparing, isInput: false },
  origin: { becomes: 'unless', of: comparing },
  out: { becomes: 'flag', of: ['plan'], isInput: false },
  secrets: { becomes: 'flag', of: ['plan', 'drift'] },
  'config-ref': { becomes: 'flag', of: ['plan'], obeyed: writing },
  'detailed-exitcode': { becomes: 'switch', of: ['plan'], obeyed: ['drift'], isInput: false },
  'read-concurrency': { becomes: 'flag', of: comparing, isInput: false },
  concurrency: { becomes: 'flag', of: writing, isInput: false },
  'on-managed': { becomes: 'flag', of: ['apply'] },
  plan: { becomes: 'flag', of: ['apply'] },
  digest: { becomes: 'flag', of: ['apply'] },
  journal: { becomes: 'flag', of: writing },
  'lock-timeout': { becomes: 'flag', of: writing },
  since: { becomes: 'flag', of: ['drift'], isInput: false },
  expire: { becomes: 'switch', of: ['drift'] },
  commit: { becomes: 'unless', of: ['drift'], isInput: false },
  new: { becomes: 'flags', of: ['drift'], isInput: false },
};

/** The inputs that are no options of a command. */
const ownInputs = [
  'mode',
  'assignees',
  'comment',
  'environment',
  'github-token',
  'issue',
  'labels',
  'overrides',
  'sarif',
  'status',
  'working-directory',
] as const;

/** The inputs of the action. */
export const actionInputs: readonly string[] = [
  ...ownInputs,
  ...Object.entries(flagInputs).flatMap(([name, { isInput }]) => (isInput === false ? [] : [name])),
];

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
  /** The environment of the deployment; undefined for one with the name of the target. */
  readonly environment: string | undefined;
  /** The folder that the step works in, below that of the job; undefined for the same one. */
  readonly workingDirectory: string | undefined;
  /** Whether an issue reports a drift. */
  readonly issue: boolean;
  /** The labels of a new drift issue, at least one: the first one identifies it. */
  readonly labels: readonly [string, ...string[]];
  /** The assignees of a new drift issue. */
  readonly assignees: readonly string[];
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
export function readInputs(env: Readonly<Record<string, string | undefined>>): ActionInputs {
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
export function inputsOf(given: ReadonlyMap<string, string>): ActionInputs {
  const mode = actionModes.find((one) => one === given.get('mode'));
  if (mode === undefined) throw wrongInput('mode', given.get('mode') ?? '', `expected one of: ${actionModes.join(', ')}`);
  const flags: Record<string, string> = {};
  for (const [name, input] of Object.entries(flagInputs)) {
    const value = given.get(name);
    const { of, obeyed = [] } = input;
    const becomes = formOf(input, mode);
    if (value === undefined) continue;
    if (becomes === 'switch' && !truth(name, value)) continue;
    if (becomes === 'unless' && truth(name, value)) continue;
    if (becomes === 'either') truth(name, value);
    if (obeyed.includes(mode)) continue;
    if (!of.includes(mode)) throw meaningless(name, mode);
    flags[name] = value;
  }
  for (const name of ['labels', 'assignees']) if (given.has(name) && mode !== 'drift') throw meaningless(name, mode);
  if (given.has('environment') && mode !== 'apply') throw meaningless('environment', mode);
  for (const name of ['sarif', 'working-directory']) if (given.get(name) === '-') throw wrongInput(name, '-', 'expected a path');
  const label = given.get('label');
  if (label !== undefined && !isConfigLabel(label)) throw wrongInput('label', label, configLabelHint);
  if (given.has('overrides') && !planning.some((one) => one === mode)) throw meaningless('overrides', mode);
  const isTrue = (name: string, usual: string): boolean => truth(name, given.get(name) ?? usual);
  return {
    mode,
    several: flags['all-targets'] !== undefined || flags['target']?.includes(',') === true,
    selected: flags['all-targets'] === undefined ? (flags['target'] ?? '') : '',
    comment: isTrue('comment', 'true'),
    status: isTrue('status', 'false'),
    label,
    environment: given.get('environment'),
    workingDirectory: given.get('working-directory'),
    issue: isTrue('issue', 'true'),
    labels: labelsIn(given.get('labels') ?? ''),
    assignees: namesIn(given.get('assignees') ?? ''),
    detailed: flagInputs['detailed-exitcode']?.obeyed?.includes(mode) === true && isTrue('detailed-exitcode', 'false'),
    cache: isTrue('cache', 'true'),
    overrides: isTrue('overrides', 'false'),
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

function formOf({ becomes, switches = [] }: ActionInput, mode: ActionMode): FlagForm {
  return switches.includes(mode) ? 'switch' : becomes;
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
  const near = suggest(name, actionInputs);
  const hint = near === undefined ? `inputs: ${actionInputs.join(', ')}` : `did you mean "${near}"?`;
  return new UsageError(`unknown input "${name}"`, hint);
}

/** Returns the command line of the inputs; a fallback mode uses the inputs that it supports. */
export function argvOf({ flags, output }: ActionInputs, mode: ActionMode, more: readonly string[] = []): readonly string[] {
  const given = Object.entries(flagInputs).flatMap(([name, input]) => {
    const value = flags[name];
    return value === undefined || !input.of.includes(mode) ? [] : [{ name, becomes: formOf(input, mode), value }];
  });
  const options = given.flatMap(({ name, becomes, value }) => {
    if (becomes === 'words') return [];
    if (becomes === 'switch') return [`--${name}`];
    if (becomes === 'unless') return [`--no-${name}`];
    if (becomes === 'either') return [value === 'true' ? `--${name}` : `--no-${name}`];
    return (becomes === 'flags' ? linesOf(value) : [value]).map((one) => `--${name}=${one}`);
  });
  const words = given.flatMap(({ becomes, value }) => (becomes === 'words' ? linesOf(value) : []));
  return [mode, ...output, ...options, ...more, ...(words.length === 0 ? [] : ['--', ...words])];
}

/** Returns the lines of an input with several values. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
