import { randomUUID } from 'node:crypto';
import type { JsonObject } from './hoop/json.ts';
import type { HoopModel } from './hoop/start.ts';

/** A session as a person would start it. */
export type StartedSession = {
  readonly user: string;
  readonly connection: string;
  readonly verb: 'exec' | 'connect';
  readonly script: string;
  /** Of a runbook. */
  readonly labels?: JsonObject;
  /** The guardrail that the gateway recorded. */
  readonly guardrail?: string;
};

/** Records sessions, and no others, as if people had started them, the first one first. */
export function recordSessions({ store }: Pick<HoopModel, 'store'>, all: readonly StartedSession[], daysAgo = 1): void {
  store.sessions.length = 0;
  for (const [index, { user, connection, verb, script, labels = null, guardrail }] of all.entries())
    store.sessions.push({
      id: randomUUID(),
      connection,
      verb,
      input: verb === 'connect' ? '' : script,
      userId: user,
      userEmail: user,
      userName: user,
      labels,
      guardrails: guardrail === undefined ? null : [{ rule_name: guardrail, direction: 'input', matched_words: [script] }],
      createdAt: BigInt(Date.now() - daysAgo * 86_400_000 + index) * 1_000_000n,
    });
}
