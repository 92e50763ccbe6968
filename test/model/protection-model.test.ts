import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runCount } from '../support/property-runs.ts';
import { judgePair } from './judge-pair.ts';
import { judgePairs } from './judge-pairs.ts';
import { features } from './features.ts';
import { approvalFeatures } from './judge-approval.ts';
import { inheritedFeatures } from './judge-inherited.ts';
import { mergeFeatures } from './judge-merge.ts';
import { laws } from './laws.ts';
import { pairs, type Pair } from './pairs.ts';

const least = 170;

/** Everything that a pair can exercise. */
const exercises: readonly string[] = [...features, ...mergeFeatures, ...inheritedFeatures, ...approvalFeatures];
/** How often 1,000 pairs have to exercise each of them. */
const leastOfEach = 5;
/** How often they have to exercise what a law is for, which stays far below what the generator draws. */
const leastOfLaws: Readonly<Record<string, number>> = {
  'a hidden secret that the manifests change': 20,
  'an unresolved secret that the manifests change': 20,
  'a hidden secret that is written': 30,
  'a credential that goes elsewhere, as the manifests alone show': 50,
  'a loss that the gateway already has': 12,
  'a mode that opens without review': 40,
  'an open mode that loses review': 12,
  'an inherited credential that goes elsewhere': 50,
  'an inherited credential that the token cannot see': 15,
  'reviewers and forcing groups that change together': 50,
  'a forcing group that is added': 40,
  'a forcing group that is removed': 40,
  'an approval that becomes possible': 40,
  'an approval that becomes impossible': 50,
  'approvals of which some become possible and some impossible': 20,
};

test(
  'plans agree with an independent model of protection',
  async () => {
    const count = runCount(least * 1.15);
    const found = await judgePairs({ pairs, count, round: 0, judge: judgePair, text: pairText });
    process.stdout.write(found.print(laws, exercises));
    expect(found.judged).toBeGreaterThanOrEqual(runCount(least));
    expect(found.smallest).toEqual([]);
    expect(missing(found.timesOf)).toEqual([]);
  },
  runCount(70_000) + 60_000,
);

/** Lists what pairs did not exercise often enough. */
function missing(timesOf: (feature: string) => number): readonly string[] {
  return [...new Set([...exercises, ...Object.keys(leastOfLaws)])].flatMap((name) => {
    const [times, due] = [timesOf(name), Math.floor(((leastOfLaws[name] ?? leastOfEach) * runCount(least)) / 1000)];
    return times < due ? [`${name}: ${times} of ${due}`] : [];
  });
}

/** Prints a pair with one line for each object. */
function pairText({ base, manifests, live, ...rest }: Pair): string {
  const found = Object.fromEntries(live.map(({ id, ...one }) => [id, JSON.stringify(one)]));
  return stringify({ ...rest, base: base && named(base), manifests: named(manifests), live: found }, { lineWidth: 0 });
}

function named(manifests: Pair['manifests']): Readonly<Record<string, string>> {
  return Object.fromEntries(manifests.map(({ kind, metadata, spec }) => [`${kind}/${metadata.name}`, JSON.stringify(spec)]));
}

test('the model imports nothing that it judges', () => {
  const folder = 'test/model';
  const imports = readdirSync(folder).flatMap((name) =>
    [...readFileSync(`${folder}/${name}`, 'utf8').matchAll(/from '(?:\.\.\/)+(src\/[^']*)'/g)].map((match) => `${name}: ${match[1]}`),
  );
  expect(imports.filter((line) => line.includes('src/protection'))).toEqual([]);
  expect(imports.filter((line) => /^(?:protection-model|universe)\.ts/.test(line))).toEqual([]);
});
