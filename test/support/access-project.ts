import { expect } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { connection } from '../e2e/project.ts';
import { hoopProject, type CommandResult, type HoopProject } from './hoop-project.ts';
import { type HoopRepository, useHoopRepositories } from './hoop-repository.ts';

/** Open access modes. */
export const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** The path of a connection's manifest. */
export const file = (name: string): string => `access/${name}.yaml`;

/** A connection with groups, or without the field. */
export function grouped(name: string, groups?: Json, more = {}): string {
  return connection(name, { ...open, ...more, ...(groups === undefined ? {} : { access_groups: groups }) });
}

type Grants = Readonly<Record<string, readonly string[]>>;

/** A project in git on a model of the public gateway. */
export type AccessProject = HoopRepository & {
  /** The rows of the gateway by connection; undefined while access control is off. */
  readonly rows: () => Grants | undefined;
  /** Writes the row of a connection by hand. */
  readonly grant: (name: string, groups: readonly string[]) => Promise<void>;
};

/** Returns a function that creates projects for the tests of one file. */
export function useAccessProjects(): (files: Readonly<Record<string, string>>) => Promise<AccessProject> {
  const { create } = useHoopRepositories();
  return async (files) => withRows(create(await hoopProject(), files));
}

function withRows(one: HoopRepository): AccessProject {
  const { project } = one;
  const { store } = project.model;
  const uidOf = (name: string): string => store.connections.get(name)?.id ?? '';
  return {
    ...one,
    rows() {
      if (!store.plugins.has('access_control')) return undefined;
      return Object.fromEntries(
        store
          .pluginRows('access_control')
          .map(({ connectionId, config: groups }) => [store.connectionNames.get(connectionId) ?? '', groups ?? []]),
      );
    },
    async grant(name, groups) {
      const { status } = await project.send('PUT', `/plugins/access_control/conn/${uidOf(name)}`, { config: [...groups] });
      expect(status).toBe(200);
    },
  };
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Switches access control on by hand. */
export async function switchOn({ project }: { readonly project: HoopProject }): Promise<void> {
  expect((await project.send('POST', '/plugins', { name: 'access_control', connections: [] })).status).toBe(201);
}

/** Lists the writes of a command, without ids. */
export function writesIn({ requests }: CommandResult): readonly string[] {
  return requests.filter((one) => !one.startsWith('GET ')).map((one) => one.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'));
}

/** The write of a row. */
export const row = 'PUT /api/plugins/access_control/conn/ID';
