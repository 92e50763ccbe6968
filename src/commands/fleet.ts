import { UsageError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { jsonText } from '../report/documents.ts';
import { escapeTerminal } from '../report/escape.ts';
import { pad, visibleWidth } from '../report/width.ts';
import type { OutputFlags, ReportFlag, TargetFlags } from './flags.ts';
import { guarded } from './guard.ts';
import { printerFor } from './printer.ts';
import { readSetting } from './setting.ts';
import type { World } from './world.ts';

/** Flags of a command that may go to several targets in one run. */
export type FleetFlags = TargetFlags & {
  readonly allTargets?: boolean;
  readonly format?: string;
  readonly report?: readonly ReportFlag<string>[];
  readonly out?: string;
  readonly journal?: string;
  readonly plan?: string;
  readonly digest?: string;
};

/** Does the work for one target and returns its exit code. */
type Work<F> = (flags: F, world: World) => Promise<number>;

/** Which exit code stands for all: the first of these that any target ended with. */
const precedence = [1, 3, 4, 5, 6, 2] as const;

const meanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'internal error',
  2: 'there are changes',
  3: 'input invalid',
  4: 'unreachable or denied',
  5: 'finished with failures',
  6: 'refused',
};

/**
 * Does the work for every target that is meant, one after another: what fails for one does not stop the others. Texts stand
 * one after another, JSON documents become one. A file of its own for each target has `{target}` in its name.
 */
export async function forTargets<F extends FleetFlags>(flags: F, world: World, work: Work<F>): Promise<number> {
  const names = namesOf(flags, world);
  if (names === undefined) return work(flags, world);
  for (const path of pathsOf(flags)) {
    if (!path.includes(placeholder))
      throw new UsageError(`several targets would write the one file "${path}"`, `put ${placeholder} into its name`);
  }
  const { note, print } = printerFor(world, flags);
  const codes = new Map<string, number>();
  const documents: JsonObject[] = [];
  for (const [index, name] of names.entries()) {
    const isText = flags.format !== 'json';
    if (isText && index > 0) print('\n\n');
    const heard = isText ? undefined : listening(world);
    const there = heard?.world ?? world;
    const code = await guarded(() => work(forTarget(flags, name), there), { world: there, color: flags.color });
    codes.set(name, code);
    if (code === 1 || code === 3 || code === 4) note(`  target: ${escapeTerminal(name)}\n`);
    if (heard !== undefined) documents.push(...heard.documents());
  }
  if (flags.format === 'json') print(jsonText(merged(documents)));
  tellCodes(codes, flags, world);
  return precedence.find((code) => [...codes.values()].includes(code)) ?? 0;
}

const placeholder = '{target}';

/** The targets that are meant, where that may be several. */
function namesOf(flags: FleetFlags, world: World): readonly string[] | undefined {
  const { target, allTargets = false } = flags;
  if (!allTargets && target?.includes(',') !== true) return undefined;
  if (allTargets && target !== undefined) throw new UsageError('--all-targets and --target exclude each other', 'leave one out');
  if (flags.plan !== undefined || flags.digest !== undefined)
    throw new UsageError('a saved plan or a digest is of one target', 'name one target');
  if (flags.url !== undefined) throw new UsageError('--url goes with one target', 'leave it out, or name one target');
  if (target === undefined) return readSetting(flags, world).targets.map(({ name }) => name);
  const names = target.split(',').map((name) => name.trim());
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (names.includes(''))
    throw new UsageError(`--target cannot be "${target}"`, 'names with a comma between them, such as staging,production');
  if (twice !== undefined) throw new UsageError(`the target "${twice}" is named twice`, 'name it once');
  return names;
}

function pathsOf({ report = [], out, journal }: FleetFlags): readonly string[] {
  return [...report.map(({ path }) => path), ...[out, journal].filter((path) => path !== undefined)];
}

function forTarget<F extends FleetFlags>(flags: F, name: string): F {
  const { report, out, journal } = flags;
  const named = (path: string): string => path.replaceAll(placeholder, name.replaceAll(/[^\w.-]/g, '-'));
  return {
    ...flags,
    target: name,
    allTargets: false,
    ...(report === undefined ? {} : { report: report.map((one) => ({ ...one, path: named(one.path) })) }),
    ...(out === undefined ? {} : { out: named(out) }),
    ...(journal === undefined ? {} : { journal: named(journal) }),
  };
}

/** A world whose results are kept instead of printed. */
function listening(world: World): { readonly world: World; readonly documents: () => readonly JsonObject[] } {
  const parts: string[] = [];
  const stdout = { ...world.stdout, write: (text: string) => void parts.push(text) };
  return {
    world: { ...world, stdout },
    documents() {
      const text = parts.join('').trim();
      const parsed: unknown = text === '' ? undefined : JSON.parse(text);
      return isObject(parsed) ? [parsed] : [];
    },
  };
}

/** Documents of one version as one: their lists one after another. */
function merged(documents: readonly JsonObject[]): JsonObject {
  const whole: Record<string, JsonObject[string]> = { version: 1 };
  for (const document of documents) {
    for (const [key, value] of Object.entries(document)) {
      const earlier = whole[key];
      whole[key] = Array.isArray(value) ? [...(Array.isArray(earlier) ? earlier : []), ...value] : value;
    }
  }
  return whole;
}

function tellCodes(codes: ReadonlyMap<string, number>, flags: OutputFlags, world: World): void {
  const { hint } = printerFor(world, flags);
  hint(`\n${codes.size} targets:\n`);
  const names = [...codes.keys()].map(escapeTerminal);
  const widest = Math.max(...names.map(visibleWidth));
  for (const [name, code] of codes)
    hint(`  ${pad(escapeTerminal(name), widest)}  ${code === 0 ? 'done' : `exit ${code}, ${meanings[code] ?? ''}`}\n`);
}
