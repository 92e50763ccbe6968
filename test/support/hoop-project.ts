import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { config, writeFiles, type Files } from '../e2e/project.ts';
import { runInFolder } from './run-in-process.ts';
import type { HoopOptions } from './hoop/options.ts';
import { startHoopModel, type HoopModel } from './hoop/start.ts';

/** The result of one command line. */
export type CommandResult = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly requests: readonly string[];
};

/** A folder of manifests, and a model of the public gateway. */
export type HoopProject = {
  readonly model: HoopModel;
  readonly folder: string;
  /** The root of the model's API. */
  readonly url: string;
  readonly write: (files: Files) => void;
  /** Runs a command line in the folder, by default with the admin token. */
  readonly ostiary: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CommandResult>;
  /** Runs a command line in another folder. */
  readonly runIn: (folder: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CommandResult>;
  /** Sends a request of another admin. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: unknown }>;
};

export const adminToken = 'hpk_admin-canary-token';
export const auditorToken = 'hpk_auditor-canary-token';
export const standardToken = 'hpk_standard-canary-token';
export const userToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.signature-canary';
export const organisationKey = '7d0c4a0e-5a3c-4f0e-9d0a-1c0f4ad5a3c4|org-canary-key';

const agents = [{ name: 'default' }, { name: 'other' }];

/** Creates a project; stops its model and deletes its folder after the tests of the file. */
export async function hoopProject(options: HoopOptions = {}): Promise<HoopProject> {
  const model = await startHoopModel({
    licence: 'enterprise',
    runbooks: 'none',
    agents,
    apiKey: organisationKey,
    keys: [
      { name: 'admin', token: adminToken, groups: ['admin'] },
      { name: 'auditor', token: auditorToken, groups: ['auditor'] },
      { name: 'standard', token: standardToken, groups: ['dba'] },
    ],
    users: [{ email: 'ada@example.com', token: userToken, groups: ['admin'] }],
    ...options,
  });
  for (const group of ['dba', 'sre', 'security']) model.store.groups.add(group);
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-hoop-'));
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await model.close();
  });
  const url = `${model.url}/api`;
  const transportTo = (target: string): HoopModel['transport'] | undefined => (target === url ? model.transport : undefined);
  const runIn: HoopProject['runIn'] = async (place, args, env = {}) => {
    const before = model.log.requests.length;
    const ended = await runInFolder(place, args, { OSTIARY_TOKEN: adminToken, ...env }, { transportTo });
    return { ...ended, requests: model.log.requests.slice(before).map(({ method, path }) => `${method} ${path}`) };
  };
  writeFiles(folder, {
    'ostiary.yaml': config({ prod: url }),
  });
  return {
    model,
    folder,
    url,
    write: (files) => writeFiles(folder, files),
    runIn,
    ostiary: (args, env) => runIn(folder, args, env),
    send: (method, path, body) => model.send(method, path, adminToken, body),
  };
}
