import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IdMatcher } from '../support/hoop/id-matcher.ts';
import { between, startRecordedGateway, type RecordedGateway } from '../support/hoop/recorded-gateway.ts';
import { callerOf, comparisonOptions, recordedOrder } from '../support/hoop/recorded-order.ts';
import { readRecording, recordingNames } from '../support/hoop/recordings.ts';

/** Exchanges that cannot be replayed, by file and index, with the reason. There is none; a new one needs a very good reason. */
const exceptions: Readonly<Record<string, string>> = {};

const correspondence = new IdMatcher();
let gateway: RecordedGateway;

beforeAll(async () => {
  gateway = await startRecordedGateway();
});

afterAll(() => gateway.model.close());

test('every recorded exchange is replayed', () => {
  expect([...recordedOrder].toSorted()).toEqual(recordingNames());
  const replayed = recordedOrder.reduce((sum, file) => sum + readRecording(file).exchanges.length, 0);
  expect({ replayed, exceptions }).toEqual({ replayed: 245, exceptions: {} });
});

describe.each(recordedOrder)('%s', (file) => {
  beforeAll(() => between[file]?.(gateway));

  const cases = readRecording(file).exchanges.map((exchange, index) => ({ index, exchange, ...exchange }));
  test.each(cases)('$index $method $path: $why', async ({ index, exchange }) => {
    const answered = await gateway.send({
      method: exchange.method,
      path: correspondence.translate(exchange.path),
      sent: exchange.sent === undefined ? undefined : correspondence.translate(exchange.sent),
      token: gateway.tokens.get(callerOf(file, index)),
    });
    expect({ status: answered.status, contentType: answered.contentType }).toEqual({
      status: exchange.status,
      contentType: exchange.contentType,
    });
    expect(correspondence.compare(exchange.answer, answered.body, comparisonOptions(exchange.path))).toBeUndefined();
    expect(answered.headers.get('server')).toBe('hoopgateway/unknown');
  });
});
