import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../../../src/gateway/http/transport.ts';
import { open } from '../../../support/flaky-client.ts';

/** A gateway that refuses a request while it works at `room` others; it answers in the order of arrival. */
function busyGateway(
  room: number,
  headers: Readonly<Record<string, string>> = {},
): { readonly transport: Transport; readonly peaks: number[]; refused: number } {
  let running = 0;
  const gateway = {
    peaks: [] as number[],
    refused: 0,
    transport: {
      async exchange() {
        running += 1;
        gateway.peaks.push(running);
        const isRefused = running > room;
        if (isRefused) gateway.refused += 1;
        for (let turn = 0; turn < 3; turn += 1) await setImmediate();
        running -= 1;
        return { status: isRefused ? 429 : 200, header: (name: string) => headers[name], text: '[]', hash: '' };
      },
      close: () => Promise.resolve(),
    },
  };
  return gateway;
}

const url = 'http://gateway.test';

function readAll(send: ReturnType<typeof open>['send'], count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, index) => send({ method: 'GET', path: `/things/${index}` })));
}

describe('reads of one gateway', () => {
  it('run at most as many at once as allowed', async () => {
    const { transport, peaks } = busyGateway(64);
    await readAll(open(url, { transport, readConcurrency: 3 }).send, 40);
    expect([peaks.length, Math.max(...peaks)]).toEqual([40, 3]);
  });

  it('are 16 at once if nothing else is asked for', async () => {
    const { transport, peaks } = busyGateway(64);
    await readAll(open(url, { transport }).send, 40);
    expect(Math.max(...peaks)).toBe(16);
  });

  it('become fewer while the gateway refuses some, and more again later', async () => {
    const gateway = busyGateway(5);
    await readAll(open(url, { transport: gateway.transport, readConcurrency: 16 }).send, 400);
    const later = gateway.peaks.slice(100);
    expect(Math.max(...later)).toBeLessThanOrEqual(6);
    expect(Math.max(...later)).toBeGreaterThanOrEqual(5);
    expect(gateway.refused).toBeLessThan(60);
  });

  it('wait as long as the gateway asks', async () => {
    const { transport } = busyGateway(2, { 'retry-after': '7' });
    const { send, pauses } = open(url, { transport, readConcurrency: 4 });
    await readAll(send, 20);
    expect(pauses.every((pause) => pause >= 6000)).toBe(true);
  });

  it('do not hold back writes', async () => {
    const { transport, peaks } = busyGateway(64);
    const { send } = open(url, { transport, readConcurrency: 1 });
    await Promise.all([send({ method: 'GET', path: '/a' }), ...[1, 2, 3].map((id) => send({ method: 'DELETE', path: `/things/${id}` }))]);
    expect(Math.max(...peaks)).toBe(4);
  });
});
