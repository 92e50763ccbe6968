import { createHmac, scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DigestSecret } from '../../../../src/model/desired.ts';
import { prepareSealing, sealText } from '../../../../src/reconcile/saved-plan/content-seal.ts';

function stateWith(secret: DigestSecret): Parameters<typeof prepareSealing>[0] {
  return { digestSecret: () => secret, resources: [] };
}

function hashWith(key: string | Buffer): string {
  return createHmac('sha256', key).update('text').digest('hex');
}

test('a key that manifests make is slow: 16 MiB for each guess of them, whether it is prepared or made when it is needed', async () => {
  const slow = hashWith(scryptSync('tree', 'ostiary/digest/v1', 32, { N: 16_384, r: 8, p: 1 }));
  const guessable = { text: 'tree', random: false };
  const prepared = stateWith(guessable);
  await prepareSealing(prepared);
  expect([sealText(prepared, 'text'), sealText(stateWith(guessable), 'text')]).toEqual([slow, slow]);
});

test('a random key is used as it is', async () => {
  const random = stateWith({ text: 'random', random: true });
  await prepareSealing(random);
  expect(sealText(random, 'text')).toBe(hashWith('random'));
});
