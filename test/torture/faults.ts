import { setTimeout as sleep } from 'node:timers/promises';
import { passOn, type Answer, type Exchange } from './fault-proxy.ts';

/** Sends a signal to the disturbed process. */
export type SendSignal = (signal: NodeJS.Signals) => void;

/** The record of the disturbed process: what else can happen to it. */
export type RecordSite = {
  /** Leaves the lock file of a git that was killed beside the ref. */
  readonly lock: () => void;
  /** Runs another apply of the same commit when every lease has ended. */
  readonly takeOver: () => Promise<void>;
};

/** A way to disturb one request. */
export type Fault = {
  /** Whether it needs a process that can receive a signal. */
  readonly signals?: true;
  /** Whether all later requests are disturbed in the same way. */
  readonly lasting?: true;
  readonly disturb: (exchange: Exchange, signal: SendSignal) => Promise<void>;
};

/** A way to disturb the record of an apply while one of its requests waits. */
export type RecordFault = (exchange: Exchange, signal: SendSignal, site: RecordSite) => Promise<void>;

function answer(status: number, body: unknown, headers: Answer['headers'] = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(text) };
}

const message = { message: 'the fault of a test' };

/** Disturbs a request in a way that needs no signal. */
function by(disturb: (exchange: Exchange) => Promise<void> | void): Fault {
  return { disturb: async (exchange) => disturb(exchange) };
}

/** Answers without the gateway. */
function instead(given: Answer): Fault {
  return by((exchange) => exchange.send(given));
}

/** Changes the response of the gateway. */
function after(change: (answer: Answer) => Answer): Fault {
  return by(async (exchange) => exchange.send(change(await exchange.forward())));
}

/** Sends signals, then forwards the request. */
function signaled(...signals: readonly NodeJS.Signals[]): Fault {
  return {
    signals: true,
    async disturb(exchange, signal) {
      for (const one of signals) {
        signal(one);
        await sleep(20);
      }
      await passOn(exchange);
    },
  };
}

const other = { id: '00000000-0000-4000-8000-000000000001', name: 'another-object', connection_ids: [], reviewers: [] };

/** The ways in which a process, a network and a gateway fail at one request. */
export const faults: Readonly<Record<string, Fault>> = {
  'kill -9 before the request': {
    signals: true,
    disturb(exchange, signal) {
      signal('SIGKILL');
      exchange.reset();
      return Promise.resolve();
    },
  },
  'kill -9 after the request': {
    signals: true,
    async disturb(exchange, signal) {
      await exchange.forward();
      signal('SIGKILL');
      exchange.reset();
    },
  },
  'kill -9 during the response': {
    signals: true,
    async disturb(exchange, signal) {
      exchange.reset(await exchange.forward());
      signal('SIGKILL');
    },
  },
  SIGINT: signaled('SIGINT'),
  SIGTERM: signaled('SIGTERM'),
  'SIGINT twice': signaled('SIGINT', 'SIGINT'),
  'connection reset before the request': by((exchange) => exchange.reset()),
  'connection reset after the request': by(async (exchange) => {
    await exchange.forward();
    exchange.reset();
  }),
  'gateway gone from the request on': { ...by((exchange) => exchange.reset()), lasting: true },
  'cut body': by(async (exchange) => exchange.reset(await exchange.forward())),
  'silence, then a reset': by(async (exchange) => {
    await exchange.forward();
    await sleep(300);
    exchange.reset();
  }),
  'slow body': by(async (exchange) => exchange.trickle(await exchange.forward())),
  'duplicate delivery': by(async (exchange) => {
    await exchange.forward();
    await passOn(exchange);
  }),
  '500 before the request': instead(answer(500, message)),
  '500 after the request': after(() => answer(500, message)),
  '502 with Retry-After': instead(answer(502, 'bad gateway', { 'content-type': 'text/html', 'retry-after': '1' })),
  '503 after the request, with Retry-After': after(() => answer(503, message, { 'retry-after': '1' })),
  '504 after the request': after(() => answer(504, '<html>timeout</html>', { 'content-type': 'text/html' })),
  '429 with Retry-After': instead(answer(429, message, { 'retry-after': '1' })),
  '401 once': instead(answer(401, message)),
  '403 from the request on': { ...instead(answer(403, message)), lasting: true },
  '404': instead(answer(404, message)),
  '409': instead(answer(409, message)),
  '412': instead(answer(412, message)),
  'garbage instead of JSON': after(({ status }) => answer(status, '{"id": \u0000]')),
  'a page to log in': instead(answer(200, '<html>log in</html>', { 'content-type': 'text/html' })),
  'another object': after((given) => (given.body[0] === '['.charCodeAt(0) ? answer(200, other) : answer(given.status, other))),
  'an empty response': after(({ status }) => ({ status, headers: {}, body: Buffer.alloc(0) })),
};

/** The ways in which the record of an apply is lost to it. Each needs a process of its own: a lease ends with its process. */
export const recordFaults: Readonly<Record<string, RecordFault>> = {
  async 'a record that cannot be written'(exchange, _, { lock }) {
    lock();
    await passOn(exchange);
  },
  async 'a lease that another apply takes over'(exchange, signal, { takeOver }) {
    signal('SIGSTOP');
    await takeOver();
    signal('SIGCONT');
    await passOn(exchange);
  },
};
