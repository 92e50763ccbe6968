import { expect, test } from 'vitest';
import { schemaFiles } from '../../../src/project/templates/schema-files.ts';
import { exampleKinds } from '../../../src/project/templates/example-documents.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { connection, useProjects } from '../project.ts';

const makeProject = useProjects();

async function printed(line: string, cwd: string): Promise<string> {
  const { code, stdout, stderr } = await ostiaryInProcess(line.split(' '), { cwd });
  expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
  return stdout;
}

test('schema prints an example of every kind that has a schema, and together they are valid', async () => {
  const cwd = makeProject({});
  expect(new Set(exampleKinds)).toEqual(new Set(schemaFiles().map(([, text]) => String(JSON.parse(text).title))));
  const files: Record<string, string> = {
    'access/orders.yaml': connection('orders-db', { connection_tags: { env: 'prod' }, reviewers: ['dba-team'] }),
  };
  for (const kind of exampleKinds) {
    const path = kind === 'Config' ? 'ostiary.yaml' : kind === 'Defaults' ? 'access/_defaults.yaml' : `access/${kind}.yaml`;
    files[path] = await printed(`schema ${kind}`, cwd);
  }
  const project = makeProject(files);
  const { code, stdout } = await ostiaryInProcess(['validate'], { cwd: project });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Valid. 8 resources. 2 notices.\n' });
});
