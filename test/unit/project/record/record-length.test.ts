import { expect, test } from 'vitest';
import { setAppliedRef, writeRecordCommit } from '../../../../src/git/applied-refs.ts';
import type { AppliedRecord } from '../../../../src/model/applied-record.ts';
import type { EdgeEnds } from '../../../../src/model/resource.ts';
import { checkRecordLength, readAppliedRecord, recordMessage, recordText } from '../../../../src/project/record/applied-record.ts';
import { resolveProject } from '../../../../src/project/project.ts';
import { gitEnv, useRepositories } from '../../../support/repository.ts';

const { make } = useRepositories();

function recordOf(edges: readonly EdgeEnds[]): AppliedRecord {
  return { orphans: [], pending: [{ objects: [], edges }] };
}

const three = recordOf([
  { rule: 'GuardrailRule/a', connection: 'Connection/x' },
  { rule: 'GuardrailRule/b', connection: 'Connection/x' },
  { rule: 'GuardrailRule/a', connection: 'Connection/y' },
]);

async function readBack(text: string): Promise<AppliedRecord> {
  const config =
    'apiVersion: ostiary/v1\nkind: Config\nmanifests: [a]\ntargets: { prod: { url: "http://127.0.0.1:1", token: { env: T } } }\n';
  const made = make({ 'ostiary.yaml': config });
  made.commit();
  const repository = await made.open();
  const project = resolveProject({}, { cwd: made.folder, env: gitEnv });
  const commit = await writeRecordCommit(repository, { message: `Record\n\n${text}\n`, parents: [], at: new Date(0) });
  await setAppliedRef(repository, 'prod', commit.id);
  return (await readAppliedRecord({ ...project, repository }, false)).read.record;
}

test('a record names a rule once for all its connections, and is read as it was written', async () => {
  expect(JSON.parse(recordText(three))).toMatchObject({
    version: 1,
    pending: [
      {
        edges: [
          ['GuardrailRule/a', 'Connection/x', 'Connection/y'],
          ['GuardrailRule/b', 'Connection/x'],
        ],
      },
    ],
  });
  const [pending] = (await readBack(recordText(three))).pending;
  expect(pending?.edges).toHaveLength(3);
  expect(pending?.edges).toEqual(expect.arrayContaining([...(three.pending[0]?.edges ?? [])]));
});

test('a record of another version is refused with both versions', async () => {
  const message = expect.stringContaining('it has version 2, but this Ostiary reads version 1');
  await expect(readBack('{"version":2,"orphans":[],"pending":[]}')).rejects.toMatchObject({
    diagnostics: [{ code: 'git/record-unreadable', message }],
  });
});

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}

test('900 × 110 attachments are far from the longest record, and a longer one is not written', () => {
  const edges = range(110).flatMap((rule) =>
    range(900).map((index): EdgeEnds => ({ rule: `GuardrailRule/a-rule-with-a-long-name-${rule}`, connection: `Connection/db-${index}` })),
  );
  const message = recordMessage('prod', recordOf(edges));
  expect(message.length).toBeLessThan(3_000_000);
  expect(() => checkRecordLength(message)).not.toThrow();
  expect(() => checkRecordLength('x'.repeat(17_000_000))).toThrow('17000000 characters');
});
