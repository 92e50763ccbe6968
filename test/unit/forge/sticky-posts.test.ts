import { expect, test } from 'vitest';
import { findApprovedPlan, withPlanMarks } from '../../../src/forge/approved-plan.ts';
import { keepComments, type StickyComment } from '../../../src/forge/sticky-posts.ts';
import { writeStickyBody } from '../../../src/forge/sticky-body.ts';
import { memoryForge, type MemoryForge } from '../../support/memory-forge.ts';

const bot = 'ostiary-acme[bot]';

function write(forge: MemoryForge, text: string, more: Partial<StickyComment> = {}): Promise<void> {
  return keepComments(forge, 7, [{ key: ['plan'], bodyWithin: () => `## ${text}\n\nA report`, ...more }]);
}

/** Returns the visible lines of each comment. */
function linesOf({ bodies }: MemoryForge): readonly (readonly string[])[] {
  return bodies().map((body) => body.split('\n').filter((line) => line !== '' && !line.startsWith('<!--')));
}

test('a step writes its comment again, and leaves those of other steps and of people alone', async () => {
  const forge = memoryForge(bot);
  await write(forge, 'First');
  await write(forge, 'Of another step', { key: ['apply'] });
  await write(forge, 'Second');
  expect(linesOf(forge)).toEqual([
    ['## Second', 'A report'],
    ['## Of another step', 'A report'],
  ]);
});

test('a comment that would only be new, or only be updated, is not written otherwise', async () => {
  const forge = memoryForge(bot);
  await write(forge, 'No changes', { only: 'existing' });
  expect(forge.bodies()).toEqual([]);
  await write(forge, 'An older commit', { only: 'new' });
  await write(forge, 'Another older commit', { only: 'new' });
  expect(linesOf(forge)).toEqual([['## An older commit', 'A report']]);
  await write(forge, 'No changes', { only: 'existing' });
  expect(linesOf(forge)).toEqual([['## No changes', 'A report']]);
  await write(forge, 'Applied', { only: 'unsuccessful', isSuccess: true });
  await write(forge, 'Nothing to do', { only: 'unsuccessful', isSuccess: true });
  expect(linesOf(forge)).toEqual([['## Applied', 'A report']]);
});

test('of the comments that two runs created at once, the first one remains', async () => {
  const forge = memoryForge(bot);
  await write(forge, 'First');
  await forge.createComment(7, forge.bodies()[0] ?? '');
  await write(forge, 'Second');
  expect(linesOf(forge)).toEqual([['## Second', 'A report']]);
});

const quoteOf = (body: string): string =>
  body
    .replaceAll(/^<!--.*\n?/gm, '')
    .trimEnd()
    .replaceAll(/^/gm, '> ');
const withLineEnds = (body: string): string => body.replaceAll('\n', '\r\n');

const withoutMark = (body: string): string => body.replace(/^<!-- ostiary [0-9a-f]{32} -->\n/m, '');
const markOf = (step: string): string => /^<!-- ostiary .*$/m.exec(writeStickyBody([step], undefined, ''))?.[0] ?? '';

test.each<readonly [string, (body: string) => string, readonly string[]]>([
  ['above it', (body) => `Look!\n\n${body}`, ['Look!', '## Second', 'A report']],
  ['on the line above it', (body) => `Look!\n${body}`, ['Look!', '## Second', 'A report']],
  ['a heading above it', (body) => `# Look!\n\n${body}`, ['# Look!', '## Second', 'A report']],
  ['below it', (body) => `${body}\n\nDone.`, ['## Second', 'A report', 'Done.']],
  ['around it, in a browser', (body) => withLineEnds(`Look!\n\n${body}\n\nDone.`), ['Look!', '## Second', 'A report', 'Done.']],
  ['in the middle of it', (body) => body.replace('A report', 'A report\n\nWhy?'), ['## Second', 'A report']],
  ['in place of its heading', (body) => body.replace('## First\n', 'Look!\n\n'), ['Look!', '## Second', 'A report']],
  ['above it, and removes its end', (body) => `Look!\n\n${body.replace(/\n[^\n]*$/, '')}`, ['Look!', '## Second', 'A report']],
  ['above it, and removes its first hidden line', (body) => `Look!\n\n${withoutMark(body)}`, ['Look!', '## Second', 'A report']],
  ['above it, and pastes the mark of another', (body) => `Look!\n\n${markOf('apply')}\n${body}`, ['Look!', '## Second', 'A report']],
  ['a mark of another into it', (body) => body.replace('A report', markOf('apply')), ['## Second', 'A report']],
  ['above it, with a quote of it', (body) => `${quoteOf(body)}\n\n${body}`, ['> ## First', '> ', '> A report', '## Second', 'A report']],
])('a person who writes %s causes no second comment', async (_, edited, lines) => {
  const forge = memoryForge(bot);
  await write(forge, 'First');
  forge.edit(1, 'ada', edited(forge.bodies()[0] ?? ''));
  await write(forge, 'Second');
  await write(forge, 'Second');
  expect(linesOf(forge)).toEqual([lines]);
});

test('a person who pastes the comment of another step above it leaves both steps their own comments', async () => {
  const forge = memoryForge(bot);
  const apply = { key: ['apply'] };
  await write(forge, 'First');
  await write(forge, 'Applied', apply);
  forge.edit(1, 'ada', forge.bodies().toReversed().join('\n\n'));
  await write(forge, 'Applied again', apply);
  await write(forge, 'Second');
  await write(forge, 'Applied at last', apply);
  expect(linesOf(forge)).toEqual([
    ['## Applied', 'A report', '## Second', 'A report'],
    ['## Applied at last', 'A report'],
  ]);
});

test('a copy of the comment by a person or another bot is theirs', async () => {
  const forge = memoryForge(bot);
  await write(forge, 'First');
  for (const name of ['ada', 'github-actions[bot]', 'ostiary-other[bot]']) forge.say(name, forge.bodies()[0] ?? '');
  await write(forge, 'Second');
  expect(linesOf(forge)).toEqual([['## Second', 'A report'], ...Array.from({ length: 3 }, () => ['## First', 'A report'])]);
});

// security: approval
test('a person who edits the comment causes no second one and keeps the text, but approves nothing until it is written again', async () => {
  const forge = memoryForge(bot);
  const [name, head] = [['staging'], 'a'.repeat(40)];
  const report = (digest: string): string => withPlanMarks('## Plan\n\nA report', [{ name, digest, head }]);
  const approved = (): ReturnType<typeof findApprovedPlan> =>
    findApprovedPlan(forge, name, [{ number: 7, head }], { request: 'pull request' });
  const [ours, theirs] = ['1'.repeat(64), '2'.repeat(64)];
  await write(forge, '', { bodyWithin: () => report(ours) });
  expect(await approved()).toEqual({ digest: ours });

  const [body = ''] = forge.bodies();
  const forged = report(theirs).split('\n')[1] ?? '';
  const other = writeStickyBody(['apply'], undefined, report(theirs));
  forge.edit(
    1,
    'ada',
    `${other}\n${forged}\n${body.replace(ours, theirs).replace('## Plan', 'Please look!\n\n## Plan')}\nI did.\n${forged}`,
  );
  expect(await approved()).toEqual({ reason: 'the comment on pull request 7 was edited by ada' });
  await write(forge, '', { bodyWithin: () => report(ours) });
  expect(linesOf(forge)).toEqual([['## Plan', 'A report', 'Please look!', '## Plan', 'A report', 'I did.']]);
  expect(await approved()).toEqual({ digest: ours });
});
