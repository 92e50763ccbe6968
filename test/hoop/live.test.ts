import { afterAll, expect, test } from 'vitest';
import { openGateway, readableKinds } from '../../src/index.ts';
import { mayAsk, reaches, termsOf } from '../model/access-model.ts';
import { readAccessState } from '../model/access-state.ts';
import { findAccess } from '../support/access-answers.ts';
import { startHoopModel, type HoopModel } from '../support/hoop/start.ts';
import type { HoopOptions } from '../support/hoop/options.ts';
import { callerOf, checkLiveAccess, type LiveGateway, type Predict } from './live.ts';

const { OSTIARY_LIVE_URL: url, OSTIARY_LIVE_KEY: key = '', OSTIARY_LIVE_ACCESS_CONTROL: switched } = process.env;
const token = 'hpk_live-admin';
const running: HoopModel[] = [];
afterAll(async () => {
  for (const model of running) await model.close();
});

async function startModel(options: HoopOptions): Promise<LiveGateway> {
  const keys = [{ name: 'live', token, groups: ['admin'] }];
  const model = await startHoopModel({ runbooks: 'none', agents: [{ name: 'default', online: true }], keys, ...options });
  running.push(model);
  return { url: model.url, key: token };
}

/** Predicts with the independent model of access. */
function modelPredictor(gateway: LiveGateway): () => Promise<Predict> {
  const call = callerOf(gateway);
  return async () => {
    const state = await readAccessState(async (path) => {
      const { status, body } = await call('GET', path);
      return status === 404 ? undefined : body;
    });
    return (groups, connection, request) => {
      const subject = { groups };
      if (request === 'reach') return { can: reaches(state, subject, connection) };
      if (!reaches(state, subject, connection) || !mayAsk(state, subject, connection, request)) return { can: false };
      const { refused, approval } = termsOf(state, subject, connection, request);
      return refused ? { can: false } : { can: true, ...(approval === undefined ? {} : { approval }) };
    };
  };
}

/** Predicts as Ostiary does; it has no opinion about credentials for native clients. */
function ostiaryPredictor({ url: address, key: adminKey }: LiveGateway): () => Promise<Predict> {
  return async () => {
    const gateway = await openGateway({ url: `${address}/api`, token: adminKey, auth: 'auto', dialect: 'hoop', registry: readableKinds });
    const { value } = await gateway.readAll([...readableKinds.keys()]);
    await gateway.close();
    if (value?.watched === undefined) throw new Error('the gateway does not show everything');
    const find = findAccess(value);
    return (groups, connection, request) => {
      const { sees, uses, review } = find(connection, groups);
      if (request === 'reach') return { can: sees };
      if (request !== 'exec') return undefined;
      const { by } = review('command');
      if (!uses('exec') || by === 'refused') return { can: false };
      return by === undefined ? { can: true } : { can: true, approval: { reviewers: by.groups, needed: by.needed, forcing: by.force } };
    };
  };
}

const models: readonly (readonly [string, HoopOptions, boolean])[] = [
  ['with the free license', { licence: 'oss' }, false],
  ['with the enterprise license', { licence: 'enterprise' }, false],
  ['with access control', { licence: 'enterprise' }, true],
];

/** The gateway of the environment instead of the model, if there is one. */
const targets = url === undefined ? models : [['of the environment', {}, switched === 'on'] as const];

const predictors = { model: [modelPredictor, 152], ostiary: [ostiaryPredictor, 96] } as const;
const checks = targets.flatMap(([name, ...target]) => (['model', 'ostiary'] as const).map((by) => [name, by, ...target] as const));

test.each(checks)('a gateway %s answers as %s predicts', async (_, by, options, isAccessControlled) => {
  const gateway = url === undefined ? await startModel(options) : { url: url.replace(/\/$/, ''), key };
  const print = url === undefined ? () => undefined : (line: string) => void process.stdout.write(`${line}\n`);
  const [predictorOf, count] = predictors[by];
  const { compared, differences } = await checkLiveAccess({ gateway, predictor: predictorOf(gateway), isAccessControlled, print });
  expect(differences).toEqual([]);
  expect(compared).toBe(count);
  const left = running.map(({ store }) => [store.connections, store.accessRules, store.attributes].map(({ size }) => size));
  expect(left.every((sizes) => sizes.every((size) => size === 0))).toBe(true);
  expect(running.flatMap(({ store }) => store.identities.filter(({ kind }) => kind === 'user'))).toEqual([]);
});

test('a gateway on another machine is refused', () => {
  expect(() => callerOf({ url: 'https://hoop.example.com', key: 'x' })).toThrow('hoop.example.com is not this machine');
});
