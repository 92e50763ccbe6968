import { expect, test } from 'vitest';
import { commitAll } from '../../support/workflow.ts';
import { useAction } from '../action/use-action.ts';
import { config, manyConnections, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

test.each([
  ['ASCII', 'x'],
  ['characters of three bytes', '語'],
])('a summary of a plan in %s fills what GitHub accepts, and keeps the verdict and the footer', async (_, letter) => {
  const files = manyConnections('big', 800, { command: ['run', letter.repeat(1000)] });
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  commitAll(cwd);
  const inputs = { mode: 'plan', comment: false, allow: 'plan/too-many-updates=A test' };
  const { summary } = await bench.step({ cwd, event: 'push', payload: {}, inputs, env: gateway.env() });
  const bytes = Buffer.byteLength(summary);
  expect(bytes).toBeLessThan(1024 * 1024);
  expect(bytes).toBeGreaterThan(900 * 1024);
  expect(summary).toMatch(/^### Plan for `production`: .*800 to create\.\n/);
  expect(summary).toMatch(/\nDigest `[0-9a-f]{64}`/);
  expect(summary).toMatch(/in \[this run\]\(.*\)\.\n$/);
  expect(summary).toMatch(/\*\*Shortened to fit:\*\*/);
});
