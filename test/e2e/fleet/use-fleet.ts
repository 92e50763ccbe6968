import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/model/json.ts';
import { type Files, filesBelow } from '../project.ts';
import { type Gateway, useGateway } from '../use-gateway.ts';

/** The example of three gateways, with the real gateways that its targets are. */
export type Fleet = {
  readonly gateways: Readonly<Record<string, Gateway>>;
  /** Returns the files of the example, whose config has the URLs of the gateways. */
  readonly files: () => Files;
  /** Returns the variables of an environment of the forge: those of plans have every key, the others that of one gateway. */
  readonly variablesOf: (environment: string | undefined) => Readonly<Record<string, string>>;
  /** Changes a connection of one gateway outside Ostiary. */
  readonly tamper: (target: string, name: string, change: JsonObject) => Promise<void>;
};

const example = 'examples/fleet';

/** Returns the titles of the sections of a comment, in their order. */
export function titlesIn(body: string): readonly string[] {
  return [...body.matchAll(/^### ([^:\n]*)/gm)].map(([, title = '']) => title);
}

/** Starts the three gateways of the example before the first test of a file. */
export function useFleet(): Fleet {
  const gateways: Fleet['gateways'] = { staging: useGateway(), 'eu-west': useGateway(), 'us-east': useGateway() };
  return {
    gateways,
    files() {
      const paths = filesBelow(example).filter((path) => path.endsWith('.yaml'));
      const texts = paths.map((path) => [path, readFileSync(join(example, path), 'utf8')] as const);
      return Object.fromEntries(
        texts.map(([path, text]) => [
          path,
          text.replaceAll(/https:\/\/gateway\.([\w-]+)\.example\.com/g, (_, target: string) => gateways[target]?.url() ?? target),
        ]),
      );
    },
    variablesOf: (environment) =>
      Object.fromEntries(
        Object.entries(gateways).map(([target, gateway]) => [
          `${target.toUpperCase().replace('-', '_')}_TOKEN`,
          environment === 'access-plan' || environment === target ? (gateway.env()['OSTIARY_TOKEN'] ?? '') : '',
        ]),
      ),
    async tamper(target, name, change) {
      const { body } = (await gateways[target]?.call('GET', `/connections/${name}`)) ?? {};
      await gateways[target]?.call('PUT', `/connections/${name}`, { body: { ...body, ...change } });
    },
  };
}
