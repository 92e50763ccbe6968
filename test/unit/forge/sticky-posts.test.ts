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

test('of the comments that two runs created at once, the second one leaves the text of a person', async () => {
  const forge = memoryForge(bot);
  await write(forge, 'First');
  await forge.createComment(7, forge.bodies()[0] ?? '');
  forge.edit(2, 'ada', `Look!\n\n${forge.bodies()[1]}\n\nDone.`);
  await write(forge, 'Second');
  await write(forge, 'Third');
  expect(linesOf(forge)).toEqual([
    ['## Third', 'A report'],
    ['Look!', 'Done.'],
  ]);
});

const quoteOf = (body: string): string =>
  body
    .replaceAll(/^<!--.*\n?/gm, '')
    .trimEnd()
    .replaceAll(/^/gm, '> ');
const withLineEnds = (body: string): string => body.replaceAll('\n', '\r\n');

const withoutMark = (body: string): string => body.replace(/^<!-- ostiary [0-9a-f]{32} .*\n/m, '');
const withoutEnd = (body: string): string => body.replace(/^<!-- ostiary end .*$/m, '');
const endOf = (body: string): string => /^<!-- ostiary end .*$/m.exec(body)?.[0] ?? '';
const markIn = (body: string): string => /^<!-- ostiary .*$/m.exec(body)?.[0] ?? '';
const markOf = (step: string): string => markIn(writeStickyBody([step], undefined, ''));

test.each<readonly [string, (body: string) => string, readonly string[]]>([
  ['above it', (body) => `Look!\n\n${body}`, ['Look!', '## Second', 'A report']],
  ['on the line above it', (body) => `Look!\n${body}`, ['Look!', '## Second', 'A report']],
  ['a heading above it', (body) => `# Look!\n\n${body}`, ['# Look!', '## Second', 'A report']],
  ['below it', (body) => `${body}\n\nDone.`, ['## Second', 'A report', 'Done.']],
  ['around it, in a browser', (body) => withLineEnds(`Look!\n\n${body}\n\nDone.`), ['Look!', '## Second', 'A report', 'Done.']],
  ['in the middle of it', (body) => body.replace('A report', 'A report\n\nWhy?'), ['## Second', 'A report']],
  ['in place of its heading', (body) => body.replace('## First\n', 'Look!\n\n'), ['Look!', '## Second', 'A report']],
  ['above it, and removes its end', (body) => `Look!\n\n${body.replace(/\n[^\n]*$/, '')}`, ['Look!', '## Second', 'A report']],
  ['below it, and removes its end', (body) => `${withoutEnd(body)}\n\nDone.`, ['## Second', 'A report', 'Done.']],
  ['above it, and removes its first hidden line', (body) => `Look!\n\n${withoutMark(body)}`, ['Look!', '## Second', 'A report']],
  [
    'a heading above it, and removes its first hidden line',
    (body) => `# Look!\n\n${withoutMark(body)}`,
    ['# Look!', '## Second', 'A report'],
  ],
  [
    'a heading in place of its own and of its first hidden line',
    (body) => withoutMark(body).replace('## First\n', '# Look!\n\n'),
    ['# Look!', 'A report', '## Second', 'A report'],
  ],
  ['below it, and pastes its end', (body) => `${body}\n\nDone.\n\n${endOf(body)}`, ['## Second', 'A report', 'Done.']],
  ['above it, and pastes its first hidden line', (body) => `${markIn(body)}\n\nLook!\n\n${body}`, ['Look!', '## Second', 'A report']],
  ['between it and a copy of it', (body) => `${body}\n\nDone.\n\n${body}`, ['## Second', 'A report', 'Done.', '## First', 'A report']],
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

test.each([['plan', 'apply'] as const, ['apply', 'plan'] as const])(
  'a person who pastes the comment of a step that has none here keeps the text, whichever runs first: %s, %s',
  async (...steps) => {
    const forge = memoryForge(bot);
    await write(forge, 'Planned');
    const pasted = writeStickyBody(['apply'], undefined, '## Applied\n\nA report');
    forge.edit(1, 'ada', `Look!\n\n${pasted}\n\nBut:\n\n${forge.bodies()[0]}\n\nDone.`);
    for (const step of [...steps, ...steps]) await write(forge, `Of ${step}`, { key: [step] });
    const [first = [], ...others] = linesOf(forge);
    expect(first.filter((line) => !line.startsWith('## ') && line !== 'A report')).toEqual(['Look!', 'But:', 'Done.']);
    expect(
      [first, ...others]
        .flat()
        .filter((line) => line.startsWith('## Of '))
        .toSorted(),
    ).toEqual(['## Of apply', '## Of plan']);
    expect(others).toHaveLength(1);
  },
);

const longReport = (limit: number): string => `## Plan\n\n${'x'.repeat(Math.max(limit, 500) - 10)}`;

test('the report shrinks to the room that a person leaves; without any it gets a comment of its own', async () => {
  const forge = memoryForge(bot);
  const sizesOf = (): readonly (readonly (readonly [string, number])[])[] =>
    linesOf(forge).map((lines) => lines.map((line) => [line.slice(0, 7), Math.round(line.length / 1000)] as const));
  const fill = (length: number): void =>
    forge.edit(1, 'ada', `Look at ${'!'.repeat(length)}\n\n${writeStickyBody(['plan'], undefined, '## Plan')}`);
  await write(forge, '', { bodyWithin: longReport });
  expect(sizesOf()).toEqual([
    [
      ['## Plan', 0],
      ['xxxxxxx', 65],
    ],
  ]);
  fill(62_000);
  await write(forge, '', { bodyWithin: longReport });
  expect(sizesOf()).toEqual([
    [
      ['Look at', 62],
      ['## Plan', 0],
      ['xxxxxxx', 3],
    ],
  ]);
  fill(64_800);
  for (const _ of ['once', 'again']) await write(forge, '', { bodyWithin: longReport });
  expect(sizesOf()).toEqual([
    [['Look at', 65]],
    [
      ['## Plan', 0],
      ['xxxxxxx', 65],
    ],
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

  for (const _ of ['once', 'again']) {
    const [written = ''] = forge.bodies();
    forge.edit(1, 'ada', `${written}\nI did.`);
    forge.edit(1, 'ada', written);
    expect(await approved()).toEqual({ reason: 'the comment on pull request 7 was edited by ada' });
    await write(forge, '', { bodyWithin: () => report(ours) });
    expect(await approved()).toEqual({ digest: ours });
  }
});

/** Edits the last of some comments as a person, runs the step again, and returns the plan that counts as approved. */
async function approvedAfter(comments: number, step: string, edited: (body: string, forged: string) => string): Promise<object> {
  const forge = memoryForge(bot);
  const [name, head] = [['staging'], 'a'.repeat(40)];
  const reportOf = (heading: string, digest: string): string => withPlanMarks(`${heading}\n\nA report`, [{ name, digest, head }]);
  const bodyWithin = (): string => reportOf('## Plan', '1'.repeat(64));
  await write(forge, '', { bodyWithin });
  const [body = ''] = forge.bodies();
  if (comments === 2) await forge.createComment(7, body);
  forge.edit(comments, 'ada', edited(body, writeStickyBody([step], undefined, reportOf('Hello', '2'.repeat(64)))));
  await write(forge, '', { bodyWithin });
  expect(linesOf(forge).flat()).toContain('Hello');
  return findApprovedPlan(forge, name, [{ number: 7, head }], { request: 'pull request' });
}

// security: approval
test('marks that a person wrote with blanks, which a forge trims, approve nothing', async () => {
  const around = await approvedAfter(
    1,
    'apply',
    (body, forged) => `${markIn(forged)}\n ${withoutEnd(forged)}\n${body}\n${endOf(forged)} \n${endOf(forged)}`,
  );
  const second = await approvedAfter(2, 'plan', (body, forged) => `${body}\n ${forged} \n${endOf(body)}`);
  expect([around, second]).toEqual(Array.from({ length: 2 }, () => ({ digest: '1'.repeat(64) })));
});
