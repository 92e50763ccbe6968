import { UsageError } from '../../model/errors.ts';
import { riskClasses } from '../../model/risk.ts';
import { closest } from '../../model/suggest.ts';

export const modes = ['validate', 'plan', 'apply'] as const;

export type Mode = (typeof modes)[number];

/** How an input becomes flags: a value, one flag a line, a flag where it is true or a `--no-` flag where it is not, or words of the command line. */
type Input = { readonly becomes: 'flag' | 'flags' | 'switch' | 'unless' | 'words'; readonly of: readonly Mode[] };

const all = modes;
const planning = ['plan', 'apply'] as const;

/** The inputs that stand for the command line's flags, named like them; the paths are its arguments. */
export const flagInputs: Readonly<Record<string, Input>> = {
  paths: { becomes: 'words', of: all },
  config: { becomes: 'flag', of: all },
  target: { becomes: 'flag', of: all },
  url: { becomes: 'flag', of: all },
  dialect: { becomes: 'flag', of: all },
  auth: { becomes: 'flag', of: all },
  only: { becomes: 'flags', of: all },
  today: { becomes: 'flag', of: all },
  cache: { becomes: 'flag', of: planning },
  report: { becomes: 'flags', of: planning },
  allow: { becomes: 'flags', of: planning },
  'max-risk': { becomes: 'flag', of: planning },
  adopt: { becomes: 'flags', of: planning },
  revert: { becomes: 'flags', of: planning },
  prune: { becomes: 'switch', of: planning },
  base: { becomes: 'flag', of: planning },
  own: { becomes: 'flag', of: planning },
  origin: { becomes: 'unless', of: planning },
  out: { becomes: 'flag', of: ['plan'] },
  secrets: { becomes: 'flag', of: ['plan'] },
  'config-ref': { becomes: 'flag', of: ['plan'] },
  'detailed-exitcode': { becomes: 'switch', of: ['plan'] },
  concurrency: { becomes: 'flag', of: ['apply'] },
  'on-managed': { becomes: 'flag', of: ['apply'] },
  plan: { becomes: 'flag', of: ['apply'] },
  digest: { becomes: 'flag', of: ['apply'] },
  journal: { becomes: 'flag', of: ['apply'] },
};

/** The inputs that only the action has. */
export const ownInputs = ['mode', 'comment', 'fail-on', 'github-token', 'sarif'] as const;

/** What the workflow asks for. */
export type Inputs = {
  readonly mode: Mode;
  /** Whether the pull request is commented on. */
  readonly comment: boolean;
  readonly token: string;
  /** The file to write findings to for code scanning. */
  readonly sarif: string | undefined;
  /** The inputs of flags that are given, by their names. */
  readonly flags: Readonly<Record<string, string>>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the inputs of a step; throws one clear error for what is no input, or has no such value. */
export function readInputs(env: Environment): Inputs {
  const names = [...ownInputs, ...Object.keys(flagInputs)];
  const given = new Map<string, string>();
  for (const [variable, text = ''] of Object.entries(env)) {
    if (!variable.startsWith('INPUT_')) continue;
    const name = variable.slice('INPUT_'.length).toLowerCase();
    if (!names.includes(name)) throw unknownInput(name, names);
    if (text.trim() !== '') given.set(name, text.trim());
  }
  const mode = modes.find((one) => one === given.get('mode'));
  if (mode === undefined) throw wrongInput('mode', given.get('mode') ?? '', `write one of ${modes.join(', ')}`);
  const flags: Record<string, string> = {};
  for (const [name, { becomes, of }] of Object.entries(flagInputs)) {
    const value = given.get(name);
    if (value === undefined) continue;
    if (becomes === 'switch' && !truth(name, value)) continue;
    if (becomes === 'unless' && truth(name, value)) continue;
    if (!of.includes(mode)) throw new UsageError(`the input "${name}" has no meaning with mode: ${mode}`, 'leave it out');
    flags[name] = value;
  }
  const most = belowClass(mode, given);
  if (most !== undefined) flags['max-risk'] = most;
  const comment = truth('comment', given.get('comment') ?? 'true');
  return { mode, comment, token: given.get('github-token') ?? '', sarif: given.get('sarif'), flags };
}

/** The highest class that does not fail the step, where the lowest that does is given. */
function belowClass(mode: Mode, given: ReadonlyMap<string, string>): string | undefined {
  const value = given.get('fail-on');
  if (value === undefined) return undefined;
  if (mode === 'validate') throw new UsageError('the input "fail-on" has no meaning with mode: validate', 'leave it out');
  if (given.has('max-risk')) throw new UsageError('the inputs "fail-on" and "max-risk" say the same', 'leave one of them out');
  const [, ...failing] = riskClasses;
  const at = failing.findIndex((one) => one === value);
  if (at === -1) throw wrongInput('fail-on', value, `write one of ${failing.join(', ')}`);
  return riskClasses[at];
}

function truth(name: string, text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw wrongInput(name, text, 'write true or false');
}

function wrongInput(name: string, text: string, hint: string): UsageError {
  return new UsageError(text === '' ? `the input "${name}" is missing` : `the input "${name}" cannot be "${text}"`, hint);
}

function unknownInput(name: string, names: readonly string[]): UsageError {
  const near = closest(name, names);
  const hint = near === undefined ? `the inputs are ${names.join(', ')}` : `did you mean "${near}"?`;
  return new UsageError(`there is no input "${name}"`, hint);
}

/** The command line that the inputs stand for; a mode that is fallen back to takes the inputs that it knows. */
export function argvOf({ flags }: Inputs, mode: Mode, more: readonly string[] = []): readonly string[] {
  const given = Object.entries(flagInputs).flatMap(([name, input]) => {
    const value = flags[name];
    return value === undefined || !input.of.includes(mode) ? [] : [{ name, becomes: input.becomes, value }];
  });
  const options = given.flatMap(({ name, becomes, value }) => {
    if (becomes === 'words') return [];
    if (becomes === 'switch') return [`--${name}`];
    if (becomes === 'unless') return [`--no-${name}`];
    return (becomes === 'flags' ? linesOf(value) : [value]).map((one) => `--${name}=${one}`);
  });
  const words = given.flatMap(({ becomes, value }) => (becomes === 'words' ? linesOf(value) : []));
  return [mode, ...options, ...more, ...(words.length === 0 ? [] : ['--', ...words])];
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
