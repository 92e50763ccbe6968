import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { watchedKinds } from '../../src/kinds/watched.ts';
import { asText, type Json, objectsIn } from '../../src/model/json.ts';
import { kindOf } from '../../src/model/resource.ts';
import { config } from '../e2e/project.ts';
import { startHoopModel, type HoopModel } from '../support/hoop/start.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { runInFolder } from '../support/run-in-process.ts';
import { everyObject } from './every-field.ts';
import { callerOf, type LiveGateway } from './live.ts';
import { isShown, shownDrift, type ShownDrift } from './shown-drift.ts';

const { OSTIARY_LIVE_URL: url, OSTIARY_LIVE_KEY: key = '' } = process.env;
const token = 'hpk_every-field';
const running: HoopModel[] = [];
const { make } = useRepositories();
afterAll(async () => {
  for (const model of running) await model.close();
});

async function startModel(): Promise<LiveGateway> {
  const keys = [{ name: 'live', token, groups: ['admin'] }];
  const model = await startHoopModel({ runbooks: 'none', agents: [{ name: 'default', online: true }], keys });
  running.push(model);
  return { url: model.url, key: token };
}

/** One of everything on a gateway, each field changed by hand, and then removed: what drift shows of it. */
async function changeEverything(
  gateway: LiveGateway,
): Promise<{ readonly changed: ShownDrift; readonly removed: ShownDrift; readonly objects: ReturnType<typeof everyObject> }> {
  const call = callerOf(gateway);
  const [agent] = objectsIn((await call('GET', '/agents')).body);
  const objects = everyObject(call, asText(agent?.['id']));
  const repository = make({ 'ostiary.yaml': config(`${gateway.url}/api`) });
  const run = async (line: string): Promise<number> => {
    const { code, stdout, stderr } = await runInFolder(repository.folder, line.split(' '), { ...gitEnv, OSTIARY_TOKEN: gateway.key });
    if (code !== 0 && code !== 2) throw new Error(`ostiary ${line} ended with ${code}: ${stdout}${stderr}`);
    return code;
  };
  const drift = async (): Promise<ShownDrift> => {
    expect(await run('drift --report json=drift.json')).toBe(2);
    const report: Json = JSON.parse(readFileSync(join(repository.folder, 'drift.json'), 'utf8'));
    return shownDrift(report);
  };
  const undo: (() => Promise<unknown>)[] = [];
  try {
    for (const one of objects) undo.push(await one.make());
    await run('pull --only */every-field-*');
    repository.commit();
    expect(await run('apply --yes')).toBe(0);
    expect(await run('drift')).toBe(0);
    for (const one of objects) await one.change();
    const changed = await drift();
    for (const one of undo.splice(0).toReversed()) await one();
    return { changed, removed: await drift(), objects };
  } finally {
    for (const one of undo.toReversed()) await one();
  }
}

const gateways: readonly (readonly [string, () => Promise<LiveGateway>])[] = [
  ['the model', startModel],
  ...(url === undefined ? [] : [['a gateway of the environment', () => Promise.resolve({ url, key })] as const]),
];

/** What is set again instead of removed. */
const settings = new Set(['FeatureFlag', 'OrganizationSetting', 'AuthSetting']);

/** How a drift says that an object is gone: an apply creates it again, or it is deleted, or has no role any more. */
const gone = ['create', 'deleted', '/roles'];

test.each(gateways)('drift shows every field of one object of every kind on %s', { timeout: 300_000 }, async (_, start) => {
  const { changed, removed, objects } = await changeEverything(await start());
  const rows = objects.flatMap(({ id, fields }) =>
    Object.entries(fields).map(([field, path]) => [kindOf(id), field, isShown(changed, id, path) ? 'shown' : 'silent'] as const),
  );
  const removals = objects
    .filter(({ id }) => !settings.has(kindOf(id)))
    .map(({ id }) => [kindOf(id), 'removed', gone.some((path) => isShown(removed, id, path)) ? 'shown' : 'silent'] as const);
  const table = [...rows, ...removals].map((row) => `| ${row.join(' | ')} |`);
  if (url !== undefined) process.stdout.write(`${table.join('\n')}\n`);
  expect(table.filter((row) => row.includes('silent'))).toEqual([]);
  const kinds = new Set(objects.map(({ id }) => kindOf(id)));
  // A rulepack is the gateway's own, and what changes in it is a digest.
  expect([...registry.keys(), ...watchedKinds.keys()].filter((kind) => !kinds.has(kind))).toEqual(['Rulepack']);
});
