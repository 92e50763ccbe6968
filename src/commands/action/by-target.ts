import { ownFile, requireOwnFiles, targetsMeant, type Aim } from '../fleet.ts';
import type { World } from '../world.ts';
import { agreedDigest } from './agreement.ts';
import { linesOf, type Inputs } from './inputs.ts';

/** The inputs for each target that the step goes to, each with files of its own; throws where no such targets can be meant. */
export function inputsByTarget(inputs: Inputs, world: World): readonly Inputs[] {
  const names = targetsMeant(aimOf(inputs), world);
  if (names === undefined) return [inputs];
  const { 'all-targets': _, ...flags } = inputs.flags;
  const written = files.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  requireOwnFiles(written.flatMap(([name, text]) => (name === 'report' ? linesOf(text).map(pathOf) : [text])));
  return names.map((target) => ({
    ...inputs,
    flags: { ...flags, ...Object.fromEntries(written.map(([name, text]) => [name, ownFile(text, target)])), target },
  }));
}

/** Inputs that name files to write. */
const files = ['report', 'out', 'journal'] as const;

function pathOf(report: string): string {
  return report.slice(report.indexOf('=') + 1);
}

function aimOf({ flags: { config, target, url, plan, digest, 'all-targets': all } }: Inputs): Aim {
  // Every target has a comment of its own, and so a digest.
  const one = digest === agreedDigest ? undefined : digest;
  const given = Object.entries({ config, target, url, plan, digest: one }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), allTargets: all !== undefined };
}
