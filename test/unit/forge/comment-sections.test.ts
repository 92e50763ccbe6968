import { setTimeout } from 'node:timers/promises';
import { assert, asyncProperty, infiniteStream, integer, nat } from 'fast-check';
import { expect, test } from 'vitest';
import { keepSections, sectionLimit, sectionOf, type SectionedComment } from '../../../src/forge/comment-sections.ts';
import { memoryForge, type MemoryForge } from '../../support/memory-forge.ts';
import { runCount } from '../../support/property-runs.ts';

const bot = 'github-actions[bot]';
const key = ['plan', 'ostiary.yaml'];
const names = ['staging', 'eu-west', 'us-east'];

type Written = Partial<SectionedComment>;

function write(forge: MemoryForge, texts: Readonly<Record<string, string>>, more: Written = {}): ReturnType<typeof keepSections> {
  const updates = Object.entries(texts).map(([name, text]) => ({ name, textAfter: () => text, onlyUpdate: false }));
  return keepSections(forge, { number: 7, key, names, updates, ...more }, () => Promise.resolve());
}

/** Returns the texts of the only comment, in the order in which they are in it. */
function textsOf({ bodies }: MemoryForge): readonly string[] {
  const [body = '', ...others] = bodies();
  expect(others).toEqual([]);
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('<!--'));
}

function quiet(text: string): SectionedComment['updates'] {
  return [{ name: 'staging', textAfter: () => text, onlyUpdate: true }];
}

function long(name: string, length: number): string {
  return `<!-- hidden ${name} -->\n### ${name}\n`.padEnd(length, 'x');
}

/** Waits a twentieth of the real times: a job writes at most 100 ms after it has read, and others read again after 50 ms at least. */
function sleep(milliseconds: number): Promise<void> {
  return setTimeout(milliseconds / 20);
}

test('each job writes its section of one comment, in the order of the config', async () => {
  const forge = memoryForge(bot);
  await write(forge, { 'us-east': 'US' });
  await write(forge, { staging: 'S', 'eu-west': 'EU' });
  expect(textsOf(forge)).toEqual(['S', 'EU', 'US']);
  await write(forge, { 'eu-west': 'EU 2' });
  expect(textsOf(forge)).toEqual(['S', 'EU 2', 'US']);
  expect(sectionOf(forge.bodies()[0] ?? '', 'eu-west')).toBe('EU 2');
});

test('a target that the config no longer has loses its section; a run that failed removes none', async () => {
  const forge = memoryForge(bot);
  await write(forge, { staging: 'S', 'eu-west': 'EU', 'us-east': 'US' });
  await write(forge, { staging: 'failed' }, { names: undefined });
  expect(textsOf(forge)).toEqual(['failed', 'EU', 'US']);
  await write(forge, { staging: 'S' }, { names: ['staging', 'us-east'] });
  expect(textsOf(forge)).toEqual(['S', 'US']);
});

test('no text of a report begins a section', async () => {
  const forge = memoryForge(bot);
  await write(forge, { 'eu-west': 'EU' });
  const [, mark = ''] = (forge.bodies()[0] ?? '').split('\n');
  await write(forge, { staging: `S\n${mark}\nforged\n${mark.toUpperCase()}` });
  expect(sectionOf(forge.bodies()[0] ?? '', 'eu-west')).toBe('EU');
});

test('a text that is not worth a section only updates one', async () => {
  const forge = memoryForge(bot);
  await write(forge, {}, { updates: quiet('S') });
  expect(forge.bodies()).toEqual([]);
  await write(forge, { 'us-east': 'US' });
  await write(forge, {}, { updates: quiet('S') });
  expect(textsOf(forge)).toEqual(['US']);
  await write(forge, { staging: 'S' });
  await write(forge, {}, { updates: quiet('none') });
  expect(textsOf(forge)).toEqual(['none', 'US']);
});

test('of a comment that another account edited, sections of other jobs are not carried on', async () => {
  const forge = memoryForge(bot);
  await write(forge, { staging: 'S', 'us-east': 'US' });
  forge.edit(1, 'mallory', (forge.bodies()[0] ?? '').replace('US', 'forged'));
  expect(await write(forge, { staging: 'S 2' })).toMatchObject([{ code: 'forge/edited', message: expect.stringContaining('mallory') }]);
  expect(textsOf(forge)).toEqual(['S 2']);
});

test('every section has its share of the longest comment, and a section that exceeds it keeps its heading', async () => {
  const forge = memoryForge(bot);
  const share = sectionLimit(names.length);
  for (const name of names) await write(forge, { [name]: long(name, share) });
  expect(forge.bodies()[0]?.length).toBeLessThanOrEqual(65_536);
  for (const name of names) expect(sectionOf(forge.bodies()[0] ?? '', name)).toHaveLength(share);
  // Of a config that had fewer targets.
  await write(forge, { staging: long('staging', share * 2) });
  expect(forge.bodies()[0]?.length).toBeLessThanOrEqual(65_536);
  expect(sectionOf(forge.bodies()[0] ?? '', 'staging')).toBe(
    '<!-- hidden staging -->\n### staging\n\n**Shortened to fit:** the summary of the job has the report.',
  );
  expect(sectionOf(forge.bodies()[0] ?? '', 'eu-west')).toHaveLength(share);
});

test('parallel jobs lose no section, whatever the forge delays', { timeout: 60_000 }, async () => {
  await assert(
    asyncProperty(integer({ min: 2, max: 8 }), infiniteStream(nat({ max: 12 })), async (count, delays) => {
      const targets = Array.from({ length: count }, (_, index) => `target-${index}`);
      const forge = memoryForge(bot, () => setTimeout(delays.next().value ?? 0));
      await Promise.all(
        targets.map((name) =>
          keepSections(forge, { number: 7, key, names: targets, updates: [{ name, textAfter: () => name, onlyUpdate: false }] }, sleep),
        ),
      );
      expect(textsOf(forge)).toEqual(targets);
    }),
    { numRuns: runCount(8) },
  );
});

test('two runs of one job leave one comment, with the text of the last one', async () => {
  const forge = memoryForge(bot, () => setTimeout(1));
  const one = { names: [''] };
  await Promise.all([write(forge, { '': 'first' }, one), write(forge, { '': 'second' }, one)]);
  expect(textsOf(forge)).toHaveLength(1);
});
