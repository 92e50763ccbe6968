import type { Client, HttpResponse } from './client.ts';

/** The answers to the reads of a part, by path. */
export type KeptAnswers = Map<string, HttpResponse>;

/** Returns a client that takes what was kept, each answer once, and `keeps` its answers for a read of more: that one repeats no read of a part. */
export function keepAnswers(client: Client, kept: KeptAnswers, keeps: boolean): Client {
  const known = new Map(kept);
  if (!keeps) kept.clear();
  return {
    ...client,
    async send(request) {
      if (request.method !== 'GET') return client.send(request);
      const answer = known.get(request.path) ?? (await client.send(request));
      known.delete(request.path);
      if (keeps) kept.set(request.path, answer);
      return answer;
    },
  };
}
