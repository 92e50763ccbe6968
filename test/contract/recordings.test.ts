import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isList, isObject, type Json } from '../support/hoop/json.ts';
import { IdMatcher } from '../support/hoop/id-matcher.ts';
import { accessSteps, startAccessGateway } from '../support/hoop/recorded-access.ts';
import { gatewaySteps, startRecordedGateway, type RecordedGateway } from '../support/hoop/recorded-gateway.ts';
import { accessOrder, callerOf, comparisonOptions, recordedOrder, rolesOrder } from '../support/hoop/recorded-order.ts';
import { rolesSteps, startRolesGateway } from '../support/hoop/recorded-roles.ts';
import { readRecording, recordingNames } from '../support/hoop/recordings.ts';

/** Exchanges that cannot be replayed, by file and index, with the reason. There is none; a new one needs a very good reason. */
const exceptions: Readonly<Record<string, string>> = {};

const gateways = [
  { name: 'first gateway', order: recordedOrder, start: startRecordedGateway, steps: gatewaySteps },
  { name: 'second gateway', order: accessOrder, start: startAccessGateway, steps: accessSteps },
  { name: 'third gateway', order: rolesOrder, start: startRolesGateway, steps: rolesSteps },
];

test('every recorded exchange is replayed', () => {
  const order = [...recordedOrder, ...accessOrder, ...rolesOrder];
  expect(order.toSorted()).toEqual(recordingNames());
  const replayed = order.reduce((sum, file) => sum + readRecording(file).exchanges.length, 0);
  expect({ replayed, exceptions }).toEqual({ replayed: 468, exceptions: {} });
});

describe.each(gateways)('$name', ({ order, start, steps }) => {
  const correspondence = new IdMatcher();
  let gateway: RecordedGateway;

  beforeAll(async () => {
    gateway = await start();
  });

  afterAll(() => gateway.model.close());

  describe.each(order)('%s', (file) => {
    const cases = readRecording(file).exchanges.map((exchange, index) => ({ index, exchange, ...exchange }));
    test.each(cases)('$index $method $path: $why', async ({ index, exchange }) => {
      await steps[`${file} ${index}`]?.(gateway);
      const answered = await gateway.send({
        method: exchange.method,
        path: correspondence.translate(exchange.path),
        sent: exchange.sent === undefined ? undefined : correspondence.translate(exchange.sent),
        token: gateway.tokens.get(exchange.as ?? callerOf(file, index)),
      });
      expect({ status: answered.status, contentType: answered.contentType }).toEqual({
        status: exchange.status,
        contentType: exchange.contentType,
      });
      const [recorded, body] = exchange.sees === undefined ? [exchange.answer, answered.body] : [exchange.sees, namesIn(answered.body)];
      expect(correspondence.compare(recorded, body, comparisonOptions(exchange.path))).toBeUndefined();
      expect(answered.headers.get('server')).toBe('hoopgateway/unknown');
    });
  });
});

function namesIn(body: Json): readonly Json[] {
  return isList(body) ? body.map((row) => (isObject(row) ? (row['name'] ?? null) : null)) : [];
}
